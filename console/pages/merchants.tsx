import type { Window } from '../../core/domain/window.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Money } from '../components/money.tsx';
import { Time } from '../components/time.tsx';
import { countText } from '../format.ts';
import { CapabilityFilter } from '../parts/capability-filter.tsx';
import { OpenInSql } from '../parts/open-in-sql.tsx';
import { CheckFilter, FilterForm, PageHead, SelectFilter, useChainOptions } from '../parts/page-head.tsx';
import {
  changeColumn,
  comparedWindow,
  orderOf,
  RankedAt,
  type RankedOrder,
  rankColumn,
  rankingSort,
  trendColumn,
  useRanking,
  VERDICT_COLUMN,
} from '../parts/ranking.tsx';
import { growthSql, walletsSql } from '../parts/ranking-sql.ts';
import { WalletLink } from '../parts/wallet-link.tsx';
import { WindowChoice } from '../parts/window-choice.tsx';
import { GROWTH_WINDOWS, WINDOW_DURING, windowOf } from '../parts/windows.ts';
import { Link } from '../router.tsx';
import { type PageProps, pick, type WalletRole } from '../routes.ts';
import { useCursorList } from '../use-list.ts';
import type { RankedRow, Wallet, Wallets } from '../wire.ts';

/** Wallets that are paid, ranked by the payments of a window. */
export function MerchantsPage({ query }: PageProps) {
  return (
    <RankedWallets party="payee" query={query}>
      Wallets that are paid over x402, by organic dollars: without payments to oneself, within rings and
      between wallets that paid each other.
    </RankedWallets>
  );
}

/** Wallets that pay, ranked by the payments of a window. */
export function PayersPage({ query }: PageProps) {
  return (
    <RankedWallets party="payer" query={query}>
      Wallets that pay over x402, by organic dollars: without payments to oneself, within rings and between
      wallets that paid each other.
    </RankedWallets>
  );
}

interface PartyFacts {
  readonly path: string;
  readonly title: string;
  readonly of: 'merchants' | 'payers';
  readonly what: string;
  /** Who the counterparties are. */
  readonly others: string;
}

const PARTIES: Readonly<Record<WalletRole, PartyFacts>> = {
  payee: { path: '/merchants', title: 'Merchants', of: 'merchants', what: 'merchants', others: 'Payers' },
  payer: { path: '/payers', title: 'Payers', of: 'payers', what: 'payers', others: 'Payees' },
};

const ORDERS = [
  'organic_usd',
  'proven_usd',
  'settlements',
  'counterparties',
  'growth',
] as const satisfies readonly RankedOrder[];
const COUNTERPARTIES = [
  { value: '', label: 'any number' },
  ...['2', '5', '10', '50', '100'].map((value) => ({ value, label: `${value} or more` })),
];

interface RankedWalletsProps {
  readonly party: WalletRole;
  readonly query: URLSearchParams;
  readonly children: string | readonly string[];
}

function RankedWallets({ party, query, children }: RankedWalletsProps) {
  const { path, title, of, what, others } = PARTIES[party];
  const by = orderOf(query, ORDERS);
  const window = windowOf(query);
  const { answer, rows, list } = useRanking({ of, path, query, by });
  const asked = { window, chain: query.get('chain') };
  const sql = by === 'growth' ? growthSql(party, asked) : walletsSql(party, asked);
  return (
    <>
      <PageHead title={title} tools={<OpenInSql {...sql} isButton />}>
        {children}
      </PageHead>
      <WalletFilters party={party} query={query} by={by} />
      <DataTable
        caption={`${title} ${WINDOW_DURING[window]}`}
        columns={columnsOf({
          party,
          others,
          window: comparedWindow(window, rows),
          by,
          meta: answer?.meta ?? null,
        })}
        rows={rows}
        keyOf={(row) => row.wallet ?? String(row.rank)}
        sort={rankingSort({ path, query, by })}
        list={{ what, ...list }}
      />
      <RankedAt answer={answer}>
        A wallet without organic payments in the window is not listed:{' '}
        <Link to={`/wallets?role=${party}`}>all wallets by address</Link>.
      </RankedAt>
    </>
  );
}

interface WalletFiltersProps {
  readonly party: WalletRole;
  readonly query: URLSearchParams;
  readonly by: RankedOrder;
}

function WalletFilters({ party, query, by }: WalletFiltersProps) {
  const { path, others } = PARTIES[party];
  const field = { path, query };
  return (
    <FilterForm label={`Filter ${PARTIES[party].what}`} query={query}>
      <WindowChoice {...field} {...(by === 'growth' ? { windows: GROWTH_WINDOWS } : {})} />
      <SelectFilter {...field} label="Chain" name="chain" options={useChainOptions()} />
      {party === 'payee' ? <CapabilityFilter {...field} /> : null}
      <SelectFilter {...field} label={others} name="min_counterparties" options={COUNTERPARTIES} />
      <CheckFilter {...field} label="With suspect wallets" name="include_flagged" />
    </FilterForm>
  );
}

interface ColumnFacts {
  readonly party: WalletRole;
  readonly others: string;
  readonly window: Window;
  readonly by: RankedOrder;
  readonly meta: Parameters<typeof trendColumn>[0];
}

function columnsOf({ party, others, window, by, meta }: ColumnFacts): readonly Column<RankedRow>[] {
  return [
    rankColumn(window),
    {
      name: 'Wallet',
      isRowHeader: true,
      cell: ({ wallet = '', name, name_source: source }) => (
        <WalletLink wallet={wallet} party={party} name={name} source={source} />
      ),
    },
    {
      name: 'Organic',
      isFigure: true,
      sortKey: 'organic_usd',
      help: 'Dollars without payments to oneself, within rings and between wallets that paid each other',
      cell: ({ figures }) => <Dollars usd={figures.organic_usd} />,
    },
    trendColumn(meta),
    changeColumn(window, by),
    {
      name: 'Proven',
      isFigure: true,
      sortKey: 'proven_usd',
      priority: 2,
      help: 'The part of the organic dollars that a named facilitator relayed',
      cell: ({ figures }) => <Dollars usd={figures.proven_usd} />,
    },
    {
      name: 'Settlements',
      isFigure: true,
      sortKey: 'settlements',
      help: 'Organic settlements; the title has all of them',
      cell: ({ figures: { organic_settlement_count: organic, settlement_count: all } }) => (
        <span title={`${countText(all)} with self-payments, rings and reciprocal payments`}>
          {countText(organic ?? all)}
        </span>
      ),
    },
    {
      name: others,
      isFigure: true,
      sortKey: 'counterparties',
      priority: 2,
      help: 'Other wallets in organic payments',
      cell: ({ figures: { distinct_counterparties: count } }) => (count === null ? '–' : countText(count)),
    },
    {
      name: 'All dollars',
      isFigure: true,
      priority: 3,
      help: 'With payments that are not organic',
      cell: ({ figures }) => <Money usd={figures.settled_usd} />,
    },
    VERDICT_COLUMN,
  ];
}

function Dollars({ usd }: { readonly usd: number | null }) {
  return usd === null ? <span class="muted">–</span> : <Money usd={usd} />;
}

const WALLETS_PATH = '/wallets';
const WALLETS_PAGE_ROWS = 50;
const ROLES = [
  { value: '', label: 'paid or were paid' },
  { value: 'payee', label: 'were paid' },
  { value: 'payer', label: 'paid' },
];

/** Every wallet with a settlement, by address, ranked or not. */
export function WalletsPage({ query }: PageProps) {
  const { role = 'any', chain } = pick(query, ['role', 'chain']);
  const { rows, ...list } = useCursorList<Wallets, Wallet>(
    WALLETS_PATH,
    { role, chain, limit: WALLETS_PAGE_ROWS },
    ({ wallets }) => wallets,
  );
  const field = { path: WALLETS_PATH, query };
  return (
    <>
      <PageHead title="Wallets by address">
        Every wallet with a settlement, ranked or not. Ranked: <Link to="/merchants">merchants</Link>,{' '}
        <Link to="/payers">payers</Link>.
      </PageHead>
      <FilterForm label="Filter wallets" query={query}>
        <SelectFilter {...field} label="Wallets that" name="role" options={ROLES} />
        <SelectFilter {...field} label="Chain" name="chain" options={useChainOptions()} />
      </FilterForm>
      <DataTable
        caption="Wallets, by address"
        columns={WALLET_COLUMNS}
        rows={rows}
        keyOf={({ wallet }) => wallet}
        list={{ what: 'wallets', isFiltered: role !== 'any' || chain !== undefined, ...list }}
      />
    </>
  );
}

const WALLET_COLUMNS: readonly Column<Wallet>[] = [
  {
    name: 'Wallet',
    isRowHeader: true,
    cell: ({ wallet, name, name_source: source, roles }) => (
      <WalletLink
        wallet={wallet}
        party={roles.includes('payee') ? 'payee' : 'payer'}
        name={name}
        source={source}
      />
    ),
  },
  { name: 'Roles', cell: ({ roles }) => roles.join(', ') },
  { name: 'Settlements', isFigure: true, cell: ({ settlement_count: count }) => countText(count) },
  { name: 'First seen', priority: 2, cell: ({ first_seen: at }) => <Time at={at} /> },
  { name: 'Last seen', cell: ({ last_seen: at }) => <Time at={at} ago /> },
];
