import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { DEPLOYMENT_OWNER } from '../../core/domain/dashboard.ts';
import type { Window } from '../../core/domain/window.ts';
import { session } from '../api.ts';
import { facilitatorColour } from '../chart/palette.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { BoardFilters, BoardGrid, useBoard } from '../dashboard/board.tsx';
import { countText } from '../format.ts';
import { nameSourceText } from '../name-source.ts';
import { FacilitatorSwatch } from '../parts/facilitator-swatch.tsx';
import { FreshnessStrip } from '../parts/health.tsx';
import { OpenInSql } from '../parts/open-in-sql.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { PageTabs } from '../parts/page-tabs.tsx';
import {
  comparedWindow,
  RankedFigure,
  type RankedOrder,
  type RankedSubject,
  RankMove,
  RowChange,
  Trend,
} from '../parts/ranking.tsx';
import { endpointsSql, facilitatorsSql, growthSql, walletsSql } from '../parts/ranking-sql.ts';
import { WalletLink } from '../parts/wallet-link.tsx';
import { WINDOW_BEFORE, WINDOW_DURING } from '../parts/windows.ts';
import { Link } from '../router.tsx';
import { facilitatorPath, hostOf, type PageProps, withQuery } from '../routes.ts';
import { useStore } from '../store.ts';
import { useAnswer } from '../use-answer.ts';
import type { RankedRow, Rankings as RankingsAnswer } from '../wire.ts';

const PATH = '/';
const ROWS = 8;

/** The first dashboard of the deployment, and below it the rankings of its period. */
export function HomePage({ query }: PageProps) {
  const state = useBoard(HOME, query);
  const { board, choice } = state;
  const field = { path: PATH, query };
  return (
    <>
      <PageHead
        title="Overview"
        tools={
          <Link class="button" to="/dashboards">
            All dashboards
          </Link>
        }
      >
        What is paid for over x402 {WINDOW_DURING[choice.period]}, and to whom. Every panel opens as a query.
      </PageHead>
      <FreshnessStrip />
      <BoardFilters board={board} choice={choice} {...field} />
      <BoardGrid state={state} />
      <Rankings {...field} asked={{ window: choice.period, chain: choice.chain }} />
    </>
  );
}

const HOME = { owner: DEPLOYMENT_OWNER, slug: 'home' };

type Asked = Pick<MoveProps, 'window' | 'chain'>;
type Ranked = Omit<MoveProps, 'window' | 'chain' | 'onClosed'> & Partial<Asked>;

/** By the value of `ranking` in the address; the first one is shown without it. */
function rankingsOf(asked: Asked): Readonly<Record<string, Ranked>> {
  return {
    gained: {
      of: 'merchants',
      by: 'growth',
      title: 'Gained most',
      to: '/merchants?by=growth',
      sql: growthSql('payee', asked),
    },
    merchants: {
      of: 'merchants',
      by: 'organic_usd',
      title: 'Merchants',
      to: '/merchants',
      sql: walletsSql('payee', asked),
    },
    payers: {
      of: 'payers',
      by: 'organic_usd',
      title: 'Payers',
      to: '/payers',
      sql: walletsSql('payer', asked),
    },
    facilitators: {
      of: 'facilitators',
      by: 'settlements',
      title: 'Facilitators',
      to: '/facilitators',
      sql: facilitatorsSql(asked),
    },
    endpoints: {
      window: '30d',
      of: 'endpoints',
      by: 'settlements',
      title: 'Endpoints, 30 days',
      to: '/endpoints',
      sql: endpointsSql(),
    },
  };
}

interface RankingsProps {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly asked: Asked;
}

/** One ranking at a time, in the words of the API. Nothing for visitors to whom it lists no rankings: the panels above are whole without. */
function Rankings({ path, query, asked }: RankingsProps) {
  const { key } = useStore(session);
  const [isClosed, setClosed] = useState(false);
  useEffect(() => setClosed(false), [key]);
  const rankings = rankingsOf(asked);
  const names = Object.keys(rankings);
  const chosen = names.find((name) => name === query.get('ranking')) ?? names[0] ?? '';
  const ranked = rankings[chosen];
  if (isClosed) return null;
  return (
    <div class="home-rankings">
      <PageTabs
        label="Rankings"
        tabs={Object.entries(rankings).map(([name, { title }]) => ({
          to: withQuery(path, query, { ranking: name === names[0] ? null : name }),
          title,
          isCurrent: name === chosen,
        }))}
      />
      {ranked === undefined ? null : (
        <Move key={chosen} {...asked} {...ranked} onClosed={() => setClosed(true)} />
      )}
    </div>
  );
}

interface MoveProps {
  readonly title: string;
  readonly of: RankedSubject;
  readonly by: RankedOrder;
  readonly window: Window;
  readonly chain: string | null;
  /** The page with the whole ranking, below /console. */
  readonly to: string;
  readonly sql: { readonly sql: string; readonly params: Readonly<Record<string, string>> };
  /** Called where the list needs a key. */
  onClosed(): void;
}

const NEEDS_KEY: ReadonlySet<string> = new Set(['payment_required', 'api_key_required']);

/** The first rows of a ranking. */
function Move({ title, of, by, window, chain, to, sql, onClosed }: MoveProps) {
  const { answer, problem, reload } = useAnswer<RankingsAnswer>('/leaderboard', {
    query: { of, by, window, chain, limit: ROWS },
  });
  const isClosed = problem !== null && NEEDS_KEY.has(problem.body.code);
  useEffect(() => {
    if (isClosed) onClosed();
  }, [isClosed]);
  const id = `move-${of}-${by}`;
  return (
    <MoveCard
      id={id}
      title={title}
      links={
        <>
          <OpenInSql {...sql} about={title} />
          <Link to={wholeList(to, { of, window, chain })}>
            All<span class="visually-hidden">: {title}</span>
          </Link>
        </>
      }
    >
      <DataTable
        caption={`${title} ${WINDOW_DURING[window]}`}
        class="compact move"
        columns={columnsOf({
          of,
          by,
          window: comparedWindow(window, answer?.leaderboard ?? null),
          meta: answer?.meta ?? null,
        })}
        rows={answer?.leaderboard ?? null}
        keyOf={({ rank }) => String(rank)}
        skeletonRows={ROWS}
        list={{ what: title.toLowerCase(), meta: answer?.meta ?? null, problem, reload }}
        empty={<NothingMoved answer={answer} window={window} />}
      />
    </MoveCard>
  );
}

function wholeList(
  to: string,
  {
    of,
    window,
    chain,
  }: { readonly of: RankedSubject; readonly window: Window; readonly chain: string | null },
): string {
  const [path = '', text = ''] = to.split('?');
  const isListed = of === 'endpoints';
  return withQuery(path, new URLSearchParams(text), {
    window: window === '30d' || isListed ? null : window,
    chain,
  });
}

function NothingMoved({
  answer,
  window,
}: {
  readonly answer: RankingsAnswer | null;
  readonly window: Window;
}) {
  const isPending = answer?.meta.warnings?.includes('rankings_not_computed') ?? false;
  return (
    <p class="muted move-empty">
      {isPending
        ? 'Payments are being added up for the first time. The list appears when that is done.'
        : `Nothing to rank ${WINDOW_DURING[window]}. Choose a longer window.`}
    </p>
  );
}

interface MoveCardProps {
  readonly id: string;
  readonly title: string;
  readonly links: ComponentChildren;
  readonly children: ComponentChildren;
}

function MoveCard({ id, title, links, children }: MoveCardProps) {
  return (
    <section class="panel move-card" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        <span class="move-links">{links}</span>
      </header>
      {children}
    </section>
  );
}

interface ColumnFacts {
  readonly of: RankedSubject;
  readonly by: RankedOrder;
  readonly window: Window;
  readonly meta: RankingsAnswer['meta'] | null;
}

function columnsOf({ of, by, window, meta }: ColumnFacts): readonly Column<RankedRow>[] {
  const subject: Column<RankedRow> = {
    name: 'Name',
    class: 'move-subject',
    isRowHeader: true,
    cell: (row) => <Subject row={row} party={of === 'payers' ? 'payer' : 'payee'} />,
  };
  const figure: Column<RankedRow> = {
    name: isMoneyName(by),
    isFigure: true,
    help: `And its change against ${WINDOW_BEFORE[window]}`,
    cell: (row) => (
      <span class="move-figure">
        <RankedFigure row={row} by={by} />
        <RowChange row={row} window={window} />
      </span>
    ),
  };
  const rank: Column<RankedRow> = {
    name: 'Rank',
    class: 'rank',
    cell: (row) => (
      <>
        <span class="rank-place">{countText(row.rank)}</span>
        <RankMove row={row} window={window} />
      </>
    ),
  };
  return [
    rank,
    subject,
    {
      name: 'Trend',
      class: 'trend',
      cell: (row) => (
        <Trend
          row={row}
          meta={meta}
          width={TREND_WIDTH}
          {...(row.facilitator === undefined ? {} : { colour: facilitatorColour(row.facilitator) })}
        />
      ),
    },
    figure,
  ];
}

const TREND_WIDTH = 72;

function isMoneyName(by: RankedOrder): string {
  if (by === 'growth') return 'Gain';
  return by === 'settlements' ? 'Settlements' : 'Organic';
}

function Subject({ row, party }: { readonly row: RankedRow; readonly party: 'payer' | 'payee' }) {
  const { wallet, facilitator, resource, name, name_source: source } = row;
  if (wallet !== undefined) return <WalletLink wallet={wallet} party={party} name={name} source={source} />;
  if (facilitator !== undefined)
    return (
      <span class="facilitator">
        <FacilitatorSwatch id={facilitator} />
        <Link to={facilitatorPath(facilitator)} title={nameSourceText(source)}>
          {name ?? facilitator}
        </Link>
      </span>
    );
  const url = resource ?? '';
  return (
    <span class="move-resource">
      <Link to={`/endpoints?q=${encodeURIComponent(url)}`} title={url}>
        {name ?? hostOf(url)}
      </Link>
      <span class="muted small cut">{url.replace(/^https?:\/\//, '')}</span>
    </span>
  );
}
