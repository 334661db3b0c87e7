import type { Window } from '../../core/domain/window.ts';
import { facilitatorColour } from '../chart/palette.ts';
import { Chip } from '../components/chip.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Money } from '../components/money.tsx';
import { Stat, Stats } from '../components/stat.tsx';
import { EmptyState, ProblemState } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { countText, microsOf } from '../format.ts';
import { catalogueSourceText } from '../name-source.ts';
import { FacilitatorSwatch } from '../parts/facilitator-swatch.tsx';
import { OpenInSql } from '../parts/open-in-sql.tsx';
import { FilterForm, SelectFilter, useChainOptions } from '../parts/page-head.tsx';
import { RankMove, RowChange, Trend } from '../parts/ranking.tsx';
import { facilitatorDaysSql, facilitatorMerchantsSql } from '../parts/ranking-sql.ts';
import { relayerKey, SIGNER_COLUMNS } from '../parts/relayers.tsx';
import { SettlementTable } from '../parts/settlement-table.tsx';
import { WalletLink } from '../parts/wallet-link.tsx';
import { WindowChoice } from '../parts/window-choice.tsx';
import { WINDOW_DURING, windowOf } from '../parts/windows.ts';
import { Link, useTitle } from '../router.tsx';
import { facilitatorPath, type PageProps } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import { useCursorList } from '../use-list.ts';
import type { Facilitators, Flows, Rankings, Relayer, Settlement } from '../wire.ts';

/** A facilitator: what it relayed, the addresses that it signs with, whom it relayed for lately. */
export function FacilitatorPage({ params, query }: PageProps) {
  const id = params['id'] ?? '';
  const chain = query.get('chain');
  const signers = useAnswer<Facilitators>('/facilitators', {
    query: { facilitator: id, chain, limit: SIGNERS_MAX },
  });
  const relayers = signers.answer?.facilitators ?? null;
  const name = relayers?.find((relayer) => relayer.facilitator_name !== undefined)?.facilitator_name ?? id;
  const path = facilitatorPath(id);
  useTitle(name);
  return (
    <>
      <FacilitatorHead id={id} name={name} relayers={relayers} />
      <FilterForm label="Window and chain of the figures" query={query}>
        <WindowChoice path={path} query={query} />
        <SelectFilter path={path} query={query} label="Chain" name="chain" options={useChainOptions()} />
      </FilterForm>
      {signers.problem === null ? null : <ProblemState problem={signers.problem} onRetry={signers.reload} />}
      {relayers?.length === 0 ? (
        <EmptyState
          title="The index has no settlement of this facilitator"
          actions={<Link to="/facilitators">All facilitators</Link>}
        >
          <p>
            No address of a facilitator with the id <code>{id}</code> has sent a settlement on the indexed
            chains.
          </p>
        </EmptyState>
      ) : (
        <>
          <RankedFigures id={id} chain={chain} window={windowOf(query)} />
          <Signers relayers={relayers} reload={signers.reload} />
          <Payments key={`${id} ${chain}`} id={id} chain={chain} />
        </>
      )}
    </>
  );
}

/** More than any facilitator signs with. */
const SIGNERS_MAX = 100;

interface HeadProps {
  readonly id: string;
  readonly name: string;
  readonly relayers: readonly Relayer[] | null;
}

function FacilitatorHead({ id, name, relayers }: HeadProps) {
  const sources = [...new Set((relayers ?? []).flatMap(({ facilitator_source: source }) => source ?? []))];
  return (
    <header class="facilitator-head">
      <div class="facilitator-title">
        <h1>
          <FacilitatorSwatch id={id} />
          {name}
        </h1>
        <p class="muted">
          Facilitator <code>{id}</code> <CopyButton text={id} what="id" />{' '}
          {sources.map((source) => (
            <Chip key={source} title="Where the name and the addresses are from">
              {`source: ${catalogueSourceText(source)}`}
            </Chip>
          ))}
        </p>
      </div>
      <OpenInSql {...facilitatorDaysSql(id)} isButton about="its days" />
    </header>
  );
}

/** There are fewer named facilitators than a page holds. */
const RANKED_MAX = 100;

interface RankedFiguresProps {
  readonly id: string;
  /** Null for all chains. */
  readonly chain: string | null;
  readonly window: Window;
}

/** Its row of the ranking. */
function RankedFigures({ id, chain, window }: RankedFiguresProps) {
  const { answer, problem, reload } = useAnswer<Rankings>('/leaderboard', {
    query: { of: 'facilitators', by: 'settlements', window, chain, limit: RANKED_MAX },
  });
  if (problem !== null) return <ProblemState problem={problem} onRetry={reload} />;
  const row = answer?.leaderboard.find(({ facilitator }) => facilitator === id);
  if (answer !== null && row === undefined)
    return (
      <EmptyState title={`It relayed nothing ${WINDOW_DURING[window]}`}>
        <p>Choose a longer window to see its figures.</p>
      </EmptyState>
    );
  const isLoading = row === undefined;
  return (
    <Stats>
      <Stat name={`Settlements ${WINDOW_DURING[window]}`} isLoading={isLoading}>
        {row === undefined ? null : (
          <>
            {countText(row.figures.settlement_count)} <RowChange row={row} window={window} />
          </>
        )}
      </Stat>
      <Stat name="Settled" isLoading={isLoading}>
        {row === undefined ? null : <Money usd={row.figures.settled_usd} />}
      </Stat>
      <Stat name="Proven" isLoading={isLoading}>
        {row === undefined ? null : <Money usd={row.figures.proven_usd ?? 0} />}
      </Stat>
      <Stat name="Rank by settlements" isLoading={isLoading}>
        {row === undefined ? null : (
          <>
            {countText(row.rank)} <RankMove row={row} window={window} />
          </>
        )}
      </Stat>
      <Stat name="Trend" isLoading={isLoading}>
        {row === undefined ? null : (
          <Trend
            row={row}
            meta={answer?.meta ?? null}
            colour={facilitatorColour(id)}
            width={TREND.width}
            height={TREND.height}
          />
        )}
      </Stat>
    </Stats>
  );
}

const TREND = { width: 260, height: 40 };

interface SignersProps {
  readonly relayers: readonly Relayer[] | null;
  reload(): void;
}

function Signers({ relayers, reload }: SignersProps) {
  return (
    <section aria-labelledby="signers-title">
      <h2 id="signers-title">Signers</h2>
      <DataTable
        caption="Addresses that it sends settlements with, since the index begins"
        columns={SIGNER_COLUMNS}
        rows={relayers}
        keyOf={relayerKey}
        list={{ what: 'signers', meta: null, problem: null, reload }}
        skeletonRows={3}
      />
    </section>
  );
}

const PAYMENTS_PAGE_ROWS = 50;

function Payments({ id, chain }: { readonly id: string; readonly chain: string | null }) {
  const { rows, ...list } = useCursorList<Flows, Settlement>(
    '/flows',
    { facilitator: id, chain, limit: PAYMENTS_PAGE_ROWS },
    ({ flows }) => flows,
  );
  return (
    <>
      <RecentMerchants id={id} rows={rows} />
      <section aria-labelledby="payments-title">
        <h2 id="payments-title">Newest settlements</h2>
        <SettlementTable
          caption="Settlements that it relayed, newest first"
          rows={rows}
          list={{ what: 'settlements', ...list }}
        />
      </section>
    </>
  );
}

interface PaidMerchant {
  readonly wallet: string;
  readonly name: string | null;
  readonly source: string | null;
  readonly count: number;
  readonly usdMicros: bigint;
  readonly payers: number;
  readonly lastAt: string;
}

/** The API has no list of a facilitator's merchants, so these are of the settlements below; SQL has all of them. */
function RecentMerchants({ id, rows }: { readonly id: string; readonly rows: readonly Settlement[] | null }) {
  const merchants = rows === null ? null : merchantsOf(rows);
  return (
    <section aria-labelledby="merchants-title">
      <div class="section-head">
        <h2 id="merchants-title">Merchants</h2>
        <span class="muted small">
          {rows === null ? null : `in the ${countText(rows.length)} newest settlements below`}
        </span>
        <OpenInSql {...facilitatorMerchantsSql(id)} about="its merchants in the last 30 days" />
      </div>
      <DataTable
        caption="Merchants of its newest settlements, by dollars"
        columns={MERCHANT_COLUMNS}
        rows={merchants?.slice(0, MERCHANTS_SHOWN) ?? null}
        keyOf={({ wallet }) => wallet}
        skeletonRows={5}
        empty={<EmptyState title="No settlements" />}
      />
    </section>
  );
}

const MERCHANTS_SHOWN = 10;

/** The payees of the rows, by dollars. */
function merchantsOf(rows: readonly Settlement[]): PaidMerchant[] {
  const groups = new Map<string, Settlement[]>();
  for (const row of rows) groups.set(row.payee, [...(groups.get(row.payee) ?? []), row]);
  const merchants = [...groups].map(([wallet, paid]) => ({
    wallet,
    name: paid[0]?.payee_name ?? null,
    source: paid[0]?.payee_name_source ?? null,
    count: paid.length,
    usdMicros: paid.reduce((sum, row) => sum + microsOf(row.amount_usd), 0n),
    payers: new Set(paid.map(({ payer }) => payer)).size,
    lastAt: paid[0]?.block_time ?? '',
  }));
  return merchants.sort((a, b) => Number(b.usdMicros - a.usdMicros));
}

const MERCHANT_COLUMNS: readonly Column<PaidMerchant>[] = [
  {
    name: 'Merchant',
    isRowHeader: true,
    cell: ({ wallet, name, source }) => (
      <WalletLink wallet={wallet} party="payee" name={name} source={source} />
    ),
  },
  {
    name: 'Dollars',
    isFigure: true,
    compare: (a, b) => Number(a.usdMicros - b.usdMicros),
    cell: ({ usdMicros }) => <Money usd={usdMicros} />,
  },
  {
    name: 'Settlements',
    isFigure: true,
    compare: (a, b) => a.count - b.count,
    cell: ({ count }) => countText(count),
  },
  {
    name: 'Payers',
    isFigure: true,
    compare: (a, b) => a.payers - b.payers,
    cell: ({ payers }) => countText(payers),
  },
  { name: 'Last paid', cell: ({ lastAt }) => <Time at={lastAt} ago /> },
];
