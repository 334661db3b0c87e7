import { type Static, Type } from '@sinclair/typebox';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, commaList, type Sql, sql, text, uint32 } from '../../../clickhouse/engine/sql.ts';
import { openRows, type RollupCoverage } from '../../../clickhouse/tables/coverage.ts';
import type { Address } from '../../../core/domain/account.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { ask } from '../ask.ts';
import { beforeParam, chainParam, finalityParam, limitParam, roleParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import {
  type FinalBlock,
  finalCoverage,
  finalOnly,
  onChain,
  onFinalChain,
  onlyFinal,
} from '../index-state/finality.ts';
import { ListMetaShape, listMeta, META_WITHOUT_SNAPSHOT_EXAMPLE } from '../meta.ts';
import type { WalletName } from '../names.ts';
import { PRICES } from '../prices.ts';
import { NAMED_SETTLEMENT_EXAMPLE } from '../settlements/shape.ts';
import {
  AddressShape,
  CountShape,
  NameSourceShape,
  NextBeforeShape,
  oneOf,
  orNull,
  TimeShape,
  timeText,
} from '../shapes.ts';
import { nextBefore, readBefore, WALLET_CURSOR } from '../walk.ts';
import { WALLETS_RESOURCE } from './scope.ts';
import { type ListedWallet, type WalletRange, type WalletRole, walletFigures } from './slice.ts';

/**
 * One page of all wallets, highest address first. The tables are ordered by wallet, so a page is a range of addresses: first
 * it is found how far down some rows of each source reach, then the figures of that range are merged. What a wallet did in
 * closed slices costs a row per slice and not one per settlement, so a hot wallet on the page costs no more than its days.
 */

interface WalletListQuery {
  /** Wallets wanted, 1 to 100. */
  readonly limit: number;
  /** Only wallets whose address is below. */
  readonly before: Address | undefined;
  readonly role: WalletRole | 'any';
  readonly chain: Chain | undefined;
  /** Only rows at or below these blocks; undefined: all. */
  readonly final: readonly FinalBlock[] | undefined;
}

interface WalletListPage {
  readonly rows: readonly ListedWallet[];
  /** Where the next page starts; undefined at the end of the list. */
  readonly nextBefore: Address | undefined;
}

const MAX_SECONDS = 10;
/** Slices of a wallet are few for most; a range that holds fewer wallets than the page wants is followed by a longer one. */
const ROWS_PER_WALLET = 16;
const RANGE_ROWS_GROWTH = 4;
const RANGE_ROWS_MAX = 200_000;
/** Reached where long runs of wallets lost all they had: the page then ends early, with a cursor to go on from. */
const RANGES_MAX = 8;

export async function readWalletList(
  deps: { readonly reader: Reader; readonly coverage: RollupCoverage },
  query: WalletListQuery,
): Promise<WalletListPage> {
  const { reader } = deps;
  const { final, limit } = query;
  const coverage = final === undefined ? deps.coverage : await finalCoverage(reader, deps.coverage, final);
  const rows: ListedWallet[] = [];
  let below = query.before;
  let rangeRows = (limit + 1) * ROWS_PER_WALLET;
  for (let ranges = 0; ranges < RANGES_MAX; ranges++) {
    const from = await rangeStart(reader, { query, coverage, below, rows: rangeRows });
    const range = { from, below };
    rows.push(...(await readFigures(reader, query, { coverage, range, limit: limit + 1 - rows.length })));
    if (rows.length > limit) {
      const page = rows.slice(0, limit);
      return { rows: page, nextBefore: page.at(-1)?.wallet };
    }
    if (from === undefined) return { rows, nextBefore: undefined };
    below = from;
    rangeRows = Math.min(rangeRows * RANGE_ROWS_GROWTH, RANGE_ROWS_MAX);
  }
  return { rows, nextBefore: below };
}

interface Reach {
  readonly query: WalletListQuery;
  readonly coverage: RollupCoverage;
  readonly below: Address | undefined;
  /** Rows of each source that the range may hold. */
  readonly rows: number;
}

/**
 * The lowest wallet of a range that starts at `below` and holds about so many rows of each source; undefined where all that is
 * left is no more. The rollups first: where few rows are open, looking for so many of them would read the whole log.
 */
async function rangeStart(reader: Reader, reach: Reach): Promise<Address | undefined> {
  const { role, chain, final } = reach.query;
  const onChains = [...onChain(chain), ...onFinalChain(final)];
  const closed = await lowestReached(reader, reach, [
    ...(role === 'payee' ? [] : [{ table: sql`payer_day`, wallet: sql`payer`, conditions: onChains }]),
    ...(role === 'payer' ? [] : [{ table: sql`payee_day`, wallet: sql`payee`, conditions: onChains }]),
  ]);
  const conditions = [
    ...(closed === undefined ? [] : [sql`wallet >= ${text(closed)}`]),
    ...logConditions(reach.query, reach.coverage),
  ];
  const open = await lowestReached(reader, reach, [
    { table: sql`wallet_rows`, wallet: sql`wallet`, conditions },
  ]);
  return open ?? closed;
}

/** Which rows of `wallet_rows` are read live. All of it is in the sort key: it may be applied before versions are merged. */
function logConditions({ role, chain, final }: WalletListQuery, coverage: RollupCoverage): Sql[] {
  return [
    ...(role === 'any' ? [] : [sql`role = ${text(role)}`]),
    ...onChain(chain),
    ...onlyFinal(final),
    openRows(coverage),
  ];
}

interface Source {
  readonly table: Sql;
  /** Its first key column. */
  readonly wallet: Sql;
  readonly conditions: readonly Sql[];
}

/**
 * Reads each source in key order and gives the wallet of its last row; the highest of them, because below it one of the
 * sources is not known. LIMIT over plain rows: over distinct ones the engine reads to the end of the table (measured).
 */
async function lowestReached(
  reader: Reader,
  { below, rows }: Reach,
  sources: readonly Source[],
): Promise<Address | undefined> {
  const subqueries = sources.map(({ table, wallet, conditions }) => {
    const all = [...(below === undefined ? [] : [sql`${wallet} < ${text(below)}`]), ...conditions];
    return sql`(SELECT ${wallet} FROM ${table} WHERE ${allOf(all)} ORDER BY ${wallet} DESC LIMIT 1 OFFSET ${uint32(rows - 1)})`;
  });
  const { rows: found } = await ask(reader, WALLETS_RESOURCE, {
    name: 'wallets-reach',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    settings: { read_in_order_use_virtual_row: 1 },
    sql: sql`SELECT [${commaList(subqueries)}]`,
  });
  const reached = found[0]?.[0];
  if (!Array.isArray(reached)) throw new TypeError('wallets-reach: not a list');
  // ASCII, and sorted by bytes as the engine sorts them.
  return reached
    .filter((wallet): wallet is Address => wallet !== null)
    .sort()
    .at(-1);
}

async function readFigures(
  reader: Reader,
  query: WalletListQuery,
  read: { readonly coverage: RollupCoverage; readonly range: WalletRange; readonly limit: number },
): Promise<ListedWallet[]> {
  const { coverage, range, limit } = read;
  const { role, chain, final } = query;
  const { rows } = await ask(reader, WALLETS_RESOURCE, {
    name: 'wallets-figures',
    maxSeconds: MAX_SECONDS,
    maxRows: limit,
    sql: sql`SELECT wallet, max(paid), max(received), sum(settlements), toUnixTimestamp(min(first_time)), toUnixTimestamp(max(last_time))
      FROM (${walletFigures({
        role,
        range,
        coverage,
        closedConditions: [...onChain(chain), ...onFinalChain(final)],
        openConditions: logConditions(query, coverage),
      })}) GROUP BY wallet ORDER BY wallet DESC LIMIT ${uint32(limit)}`,
  });
  return rows.map(decodeWallet);
}

function decodeWallet(row: readonly unknown[]): ListedWallet {
  return {
    wallet: textField(row[0]) as Address, // written by the engine from the bytes of an account
    isPayer: integerField(row[1]) !== 0,
    isPayee: integerField(row[2]) !== 0,
    settlementCount: integerField(row[3]),
    firstSeen: integerField(row[4]),
    lastSeen: integerField(row[5]),
  };
}

const SCOPE = 'listWallets';

const WALLET_ROLES = ['payer', 'payee'] as const;

const WalletShape = Type.Object(
  {
    wallet: AddressShape,
    name: orNull(Type.String({ description: 'Null when unknown.' })),
    name_source: NameSourceShape,
    roles: Type.Array(oneOf(WALLET_ROLES)),
    settlement_count: { ...CountShape, description: 'A payment of the wallet to itself counts once.' },
    first_seen: TimeShape,
    last_seen: TimeShape,
  },
  { title: 'Wallet' },
);

const EXAMPLE: Static<typeof WalletShape> = {
  wallet: NAMED_SETTLEMENT_EXAMPLE.payee,
  name: NAMED_SETTLEMENT_EXAMPLE.payee_name,
  name_source: NAMED_SETTLEMENT_EXAMPLE.payee_name_source,
  roles: ['payee'],
  settlement_count: 18_204,
  first_seen: '2026-03-02T17:40:11Z',
  last_seen: NAMED_SETTLEMENT_EXAMPLE.block_time,
};

export const listWallets = defineOperation({
  id: SCOPE,
  wire: {
    path: '/wallets',
    params: {
      limit: limitParam,
      before: beforeParam,
      role: roleParam,
      chain: chainParam,
      finality: finalityParam,
    },
    output: Type.Object({
      wallets: Type.Array(WalletShape),
      next_before: NextBeforeShape,
      meta: ListMetaShape,
    }),
    paging: 'before',
    caching: 'revalidate',
  },
  words: {
    summary: 'All wallets that paid or were paid, by address',
    description:
      'Wallets that paid or were paid, highest address first; send `next_before` back as `before` for the next ones. The order does not change while the index grows: a walk meets every wallet that was there all the time exactly once, and one that appears meanwhile if its address is still to come. `role`, `chain` and `finality` select settlements: a row is about those alone, and a wallet without any is not listed.',
    tool: 'All wallets that paid or were paid, by address. get_leaderboard ranks them.',
    example: {
      wallets: [EXAMPLE],
      next_before: null,
      meta: META_WITHOUT_SNAPSHOT_EXAMPLE,
    },
  },
  money: { price: PRICES.keyed, load: 'summary' },
  check: (input, { cursorKeys }) => ({
    ...input,
    before: readBefore(WALLET_CURSOR, { keys: cursorKeys, scope: SCOPE }, input.before),
  }),
  run: async ({ limit, before, role, chain, finality }, deps) => {
    const {
      reader,
      clock,
      cursorKeys,
      deployment: { chains },
      index: { dataset, names, freshness, rollups },
    } = deps;
    const nowMs = clock.nowMs();
    const [statuses, coverage] = await Promise.all([freshness.statuses(), rollups.coverage()]);
    const final = finalOnly(finality, statuses);
    const page = await readWalletList({ reader, coverage }, { limit, before, role, chain, final });
    const directory = await names.of(page.rows.map((row) => row.wallet));
    const named = chain === undefined ? chains : [chain];
    return {
      wallets: page.rows.map((row) => walletAnswer(row, directory.walletName(row.wallet, named))),
      next_before: nextBefore(WALLET_CURSOR, { keys: cursorKeys, scope: SCOPE }, page.nextBefore),
      meta: await listMeta({ chain, chains, statuses, nowMs, finality }, page.rows, dataset.settlements),
    };
  },
});

function walletAnswer(row: ListedWallet, named: WalletName | null): Static<typeof WalletShape> {
  return {
    wallet: row.wallet,
    name: named?.name ?? null,
    name_source: named?.source ?? null,
    roles: WALLET_ROLES.filter((role) => (role === 'payer' ? row.isPayer : row.isPayee)),
    settlement_count: row.settlementCount,
    first_seen: timeText(row.firstSeen),
    last_seen: timeText(row.lastSeen),
  };
}
