import type { ComponentChildren } from 'preact';
import type { Window } from '../../core/domain/window.ts';
import { facilitatorColour } from '../chart/palette.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Money } from '../components/money.tsx';
import { Time } from '../components/time.tsx';
import { settlementKey } from '../flow/live-copy.ts';
import { useLiveFlow } from '../flow/use-live-flow.ts';
import { chainText, countText } from '../format.ts';
import { nameSourceText } from '../name-source.ts';
import { FacilitatorSwatch } from '../parts/facilitator-swatch.tsx';
import { FreshnessStrip } from '../parts/health.tsx';
import { LiveSign } from '../parts/live-sign.tsx';
import { OpenInSql } from '../parts/open-in-sql.tsx';
import { FilterForm, PageHead, SelectFilter, useChainOptions } from '../parts/page-head.tsx';
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
import { WindowChoice } from '../parts/window-choice.tsx';
import { GROWTH_WINDOWS, WINDOW_BEFORE, WINDOW_DURING, windowOf } from '../parts/windows.ts';
import { Link } from '../router.tsx';
import { facilitatorPath, hostOf, type PageProps, withQuery } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import type { RankedRow, Rankings, Settlement } from '../wire.ts';

const PATH = '/';
const DEFAULT_WINDOW: Window = '7d';
const ROWS = 8;

/**
 * What moves: short rankings of a window, and the newest payments. Every figure belongs to one wallet, facilitator or listing; the API
 * has no totals over all of them, and neither has this page.
 */
export function HomePage({ query }: PageProps) {
  const window = homeWindow(query);
  const chain = query.get('chain');
  const asked = { window, chain };
  const field = { path: PATH, query };
  return (
    <>
      <PageHead title="What moves">
        Who is paid, who pays and who gained {WINDOW_DURING[window]}, each figure of one wallet, facilitator
        or listing. Every list opens as a query.
      </PageHead>
      <FreshnessStrip />
      <FilterForm label="Window and chain of the rankings" query={query}>
        <WindowChoice {...field} windows={GROWTH_WINDOWS} fallback={DEFAULT_WINDOW} />
        <SelectFilter {...field} label="Chain" name="chain" options={useChainOptions()} />
      </FilterForm>
      <div class="moves">
        <Move
          {...asked}
          of="merchants"
          by="organic_usd"
          title="Merchants"
          to="/merchants"
          sql={walletsSql('payee', asked)}
        />
        <Move
          {...asked}
          of="merchants"
          by="growth"
          title="Merchants that gained most"
          to="/merchants?by=growth"
          sql={growthSql('payee', asked)}
        />
        <NewestPayments />
        <Move
          {...asked}
          of="payers"
          by="organic_usd"
          title="Payers"
          to="/payers"
          sql={walletsSql('payer', asked)}
        />
        <Move
          {...asked}
          of="facilitators"
          by="settlements"
          title="Facilitators"
          to="/facilitators"
          sql={facilitatorsSql(asked)}
        />
        <Move
          chain={chain}
          window="30d"
          of="endpoints"
          by="settlements"
          title="Endpoints, 30 days"
          to="/endpoints"
          sql={endpointsSql()}
        />
      </div>
    </>
  );
}

/** Growth is among the lists, so all of time is no window of this page. */
function homeWindow(query: URLSearchParams): Window {
  const window = windowOf(query, DEFAULT_WINDOW);
  return window === 'all' ? DEFAULT_WINDOW : window;
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
}

/** The first rows of a ranking. */
function Move({ title, of, by, window, chain, to, sql }: MoveProps) {
  const { answer, problem, reload } = useAnswer<Rankings>('/leaderboard', {
    query: { of, by, window, chain, limit: ROWS },
  });
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

function NothingMoved({ answer, window }: { readonly answer: Rankings | null; readonly window: Window }) {
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
  readonly meta: Rankings['meta'] | null;
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

const PAYMENTS_SHOWN = 8;

function NewestPayments() {
  const flow = useLiveFlow({ most: PAYMENTS_SHOWN });
  const { rows, meta, problem, reload, isNew } = flow;
  return (
    <MoveCard
      id="newest-payments"
      title="Newest payments"
      links={
        <>
          <LiveSign isAsking={flow.isAsking} hasProblem={problem !== null} />
          <Link to="/flow">
            All<span class="visually-hidden">: newest payments</span>
          </Link>
        </>
      }
    >
      <DataTable
        caption="Newest payments"
        class="compact move"
        columns={PAYMENT_COLUMNS}
        rows={rows}
        keyOf={settlementKey}
        rowClass={(row) => (isNew(settlementKey(row)) ? 'is-new' : undefined)}
        skeletonRows={PAYMENTS_SHOWN}
        list={{ what: 'payments', meta, problem, reload }}
      />
    </MoveCard>
  );
}

const PAYMENT_COLUMNS: readonly Column<Settlement>[] = [
  {
    name: 'Time',
    class: 'muted',
    cell: ({ block_time: at, chain }) => (
      <span title={chainText(chain)}>
        <Time at={at} ago />
      </span>
    ),
  },
  {
    name: 'Payee',
    class: 'move-subject',
    isRowHeader: true,
    cell: ({ payee, payee_name: name, payee_name_source: source }) => (
      <WalletLink wallet={payee} party="payee" name={name} source={source} />
    ),
  },
  {
    name: 'Via',
    cell: ({ facilitator: id, facilitator_name: name }) => (
      <span class="facilitator" title={id === null ? 'No named facilitator' : (name ?? id)}>
        <FacilitatorSwatch id={id} />
        <span class="visually-hidden">{name ?? id ?? 'not named'}</span>
      </span>
    ),
  },
  { name: 'Amount', isFigure: true, cell: ({ amount_usd: usd }) => <Money usd={usd} /> },
];
