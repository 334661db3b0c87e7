import { type Static, Type } from '@sinclair/typebox';
import { accountText, addressBytes } from '../../../clickhouse/engine/account.ts';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { addressField, bigintField, integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { type Sql, sql, text, uint32 } from '../../../clickhouse/engine/sql.ts';
import type { RollupCoverage, TimeRange } from '../../../clickhouse/tables/coverage.ts';
import type { Address } from '../../../core/domain/account.ts';
import { microsFromDecimal, usdNumber } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { RankedPosition } from '../../../core/domain/cursor.ts';
import { printSnapshot, type Snapshot } from '../../../core/domain/snapshot.ts';
import type { Window } from '../../../core/domain/window.ts';
import { finalOf, NO_NAMES, preflightAsOf, stateFor } from '../as-of.ts';
import {
  asOfParam,
  beforeParam,
  chainParam,
  finalityParam,
  limitParam,
  roleParam,
  walletParam,
} from '../common-params.ts';
import { defineOperation } from '../define.ts';
import { type FinalBlock, finalOnly } from '../index-state/finality.ts';
import { ListMetaShape, listMeta, META_FIELDS_EXAMPLE } from '../meta.ts';
import type { WalletName } from '../names.ts';
import { type Param, readChoice } from '../params.ts';
import { PRICES } from '../prices.ts';
import {
  AddressShape,
  CountShape,
  NameSourceShape,
  NextBeforeShape,
  oneOf,
  orNull,
  TimeShape,
  timeText,
  UsdShape,
} from '../shapes.ts';
import { nextBefore, RANKED_CURSOR, readBefore } from '../walk.ts';
import { askPayments } from './payments.ts';
import { PROFILE_EXAMPLE } from './profile-shape.ts';
import type { WalletRole } from './slice.ts';
import { coverageFor, spanOf, WindowShape, windowAnswer, windowEnd, windowParam } from './window.ts';

/** Whom a wallet was paid by and whom it paid, added up from the payments of pairs. The wallet itself is no counterparty. */

const ORDERS = ['usd', 'count', 'last'] as const;
type Order = (typeof ORDERS)[number];

const VALUE_OF: Readonly<Record<Order, Sql>> = {
  // As whole millionths: a cursor holds them exactly.
  usd: sql`toInt256(toDecimal256(in_usd + out_usd, 6) * 1000000)`,
  count: sql`toInt256(in_n + out_n)`,
  last: sql`toInt256(toUnixTimestamp(last))`,
};

interface CounterpartyQuery {
  readonly wallet: Address;
  readonly role: WalletRole | 'any';
  readonly order: Order;
  readonly span: TimeRange;
  readonly chain: Chain | undefined;
  readonly final: readonly FinalBlock[] | undefined;
  readonly asOf: Snapshot | undefined;
  readonly coverage: RollupCoverage;
  /** Only counterparties below. */
  readonly before: RankedPosition | undefined;
  readonly limit: number;
}

/** Sums in both directions; inbound: paid to the wallet. */
interface Flows {
  readonly inCount: number;
  readonly inUsdMicros: bigint;
  readonly outCount: number;
  readonly outUsdMicros: bigint;
}

interface Counterparty extends Flows {
  readonly wallet: Address;
  readonly provenUsdMicros: bigint;
  readonly days: number;
  readonly firstSeen: number;
  readonly lastSeen: number;
  /** The column that it is ordered by. */
  readonly value: bigint;
}

interface CounterpartyPage {
  readonly rows: readonly Counterparty[];
  readonly isLast: boolean;
  /** Over all counterparties of the window, whatever the page. */
  readonly count: number;
  readonly totals: Flows;
}

const NO_FLOWS: Flows = { inCount: 0, inUsdMicros: 0n, outCount: 0, outUsdMicros: 0n };

async function readCounterparties(reader: Reader, query: CounterpartyQuery): Promise<CounterpartyPage> {
  const { wallet, role, span, chain, final, asOf, coverage, limit } = query;
  const scope = { wallet, role: role === 'any' ? undefined : role, span, chain, final, asOf };
  const rows = await askPayments({ reader, coverage }, [scope], () => ({
    name: 'wallet-counterparties',
    // The totals are a row of their own: a page past the last counterparty has them, too.
    maxRows: limit + 2,
    sql: (payments) => counterpartiesSql(query, payments),
  }));
  const isTotal = (row: readonly unknown[]): boolean => integerField(row[10]) === 0;
  const totals = rows.find(isTotal);
  const found = rows.filter((row) => !isTotal(row)).map(decodeCounterparty);
  return {
    rows: found.slice(0, limit),
    isLast: found.length <= limit,
    count: totals === undefined ? 0 : integerField(totals[11]),
    totals: totals === undefined ? NO_FLOWS : flowsOf(totals),
  };
}

/** One row for each counterparty (`is_one`), and one over all of them. */
function counterpartiesSql({ wallet, order, before, limit }: CounterpartyQuery, payments: Sql): Sql {
  const isBelow =
    before === undefined
      ? sql`1`
      : sql`is_one = 0 OR (value, other) < (toInt256(${text(String(before.value))}), ${addressBytes(before.wallet)})`;
  return sql`SELECT ${accountText('other')}, in_n, toString(in_usd), out_n, toString(out_usd), toString(proven_usd), days,
      toUnixTimestamp(first), toUnixTimestamp(last), toString(${VALUE_OF[order]} AS value), is_one, others
    FROM (
      SELECT is_one, other, sumIf(n, inbound = 1) AS in_n, sumIf(usd, inbound = 1) AS in_usd, sumIf(n, inbound = 0) AS out_n,
        sumIf(usd, inbound = 0) AS out_usd, sum(proven) AS proven_usd, uniqExact(day) AS days, min(first_time) AS first,
        max(last_time) AS last, uniqExact(other) AS others
      FROM (SELECT *, 1 AS is_one FROM ${payments} WHERE other != ${addressBytes(wallet)}) GROUP BY GROUPING SETS ((is_one, other), ()))
    WHERE ${isBelow} ORDER BY is_one, value DESC, other DESC LIMIT ${uint32(limit + 2)}`;
}

function flowsOf(row: readonly unknown[]): Flows {
  return {
    inCount: integerField(row[1]),
    inUsdMicros: microsFromDecimal(textField(row[2])),
    outCount: integerField(row[3]),
    outUsdMicros: microsFromDecimal(textField(row[4])),
  };
}

function decodeCounterparty(row: readonly unknown[]): Counterparty {
  return {
    wallet: addressField(row[0]),
    ...flowsOf(row),
    provenUsdMicros: microsFromDecimal(textField(row[5])),
    days: integerField(row[6]),
    firstSeen: integerField(row[7]),
    lastSeen: integerField(row[8]),
    value: bigintField(row[9]),
  };
}

const FLOWS_SHAPE = {
  inbound_usd: { ...UsdShape, description: 'Dollars that the wallet of the path was paid.' },
  inbound_count: CountShape,
  outbound_usd: { ...UsdShape, description: 'Dollars that it paid.' },
  outbound_count: CountShape,
};

const CounterpartyShape = Type.Object(
  {
    wallet: AddressShape,
    name: orNull(Type.String({ description: 'Null when unknown.' })),
    name_source: NameSourceShape,
    ...FLOWS_SHAPE,
    proven_usd: { ...UsdShape, description: 'Of both, dollars with evidence tier proven.' },
    days_active: { ...CountShape, description: 'UTC days with settlements between the two.' },
    first_seen: TimeShape,
    last_seen: TimeShape,
  },
  { title: 'Counterparty' },
);

const orderParam: Param<Order> = {
  in: 'query',
  description:
    '`usd` (default): most dollars exchanged first. `count`: most settlements first. `last`: the most recent first.',
  toolText: 'Default usd.',
  required: false,
  schema: Type.Union(
    ORDERS.map((order) => Type.Literal(order)),
    { default: 'usd' },
  ),
  read: (raw, name) => (raw === undefined ? 'usd' : readChoice(raw, name, ORDERS)),
};

const WINDOW_DEFAULT: Window = '30d';

const EXAMPLE: Static<typeof CounterpartyShape> = {
  wallet: '0x4020615294c913f045dc10f0a5cdebd86c280001',
  name: null,
  name_source: null,
  inbound_usd: 1.2,
  inbound_count: 120,
  outbound_usd: 0,
  outbound_count: 0,
  proven_usd: 1.2,
  days_active: 9,
  first_seen: '2026-11-11T10:02:41Z',
  last_seen: '2026-11-20T09:15:01Z',
};

/** A cursor is valid for the list that it was made for: with other values of these its position means something else. */
interface Scoped {
  readonly wallet: Address;
  readonly role: string;
  readonly order: Order;
  readonly window: Window;
  readonly chain: Chain | undefined;
  readonly as_of: Snapshot | undefined;
}

const ID = 'listCounterparties';
const LEFT_OUT = ['counterparties.name', 'counterparties.name_source'];

function scopeOf({ wallet, role, order, window, chain, as_of: asOf }: Scoped): string {
  const snapshot = asOf === undefined ? [] : [printSnapshot(asOf)];
  return [ID, wallet, role, order, window, chain ?? 'all', ...snapshot].join(' ');
}

export const listCounterparties = defineOperation({
  id: ID,
  wire: {
    path: '/entities/{wallet}/counterparties',
    params: {
      wallet: walletParam,
      limit: limitParam,
      before: beforeParam,
      window: windowParam(WINDOW_DEFAULT),
      role: roleParam,
      order: orderParam,
      chain: chainParam,
      finality: finalityParam,
      as_of: asOfParam,
    },
    output: Type.Object({
      wallet: AddressShape,
      role: oneOf(['payer', 'payee', 'any']),
      window: WindowShape,
      counterparty_count: CountShape,
      totals: Type.Object(FLOWS_SHAPE, { title: 'CounterpartyTotals' }),
      counterparties: Type.Array(CounterpartyShape),
      next_before: NextBeforeShape,
      meta: ListMetaShape,
    }),
    fails: ['invalid_parameter', 'snapshot_gone', 'upstream_unavailable'],
    paging: 'before',
  },
  words: {
    summary: 'Who paid a wallet and whom it paid, with sums',
    description:
      'One row for each other wallet, with exact sums in both directions, days with settlements, first and last. `role` is the role of the wallet in the path: `payee` lists its payers, `payer` lists those it paid. Channel deposits and payments to itself do not count. `counterparty_count` and `totals` are about all counterparties of the window. A walk along `next_before` stays with the window of its first page; a cursor is refused with another `role`, `order`, `window`, `chain` or `as_of` than that of its page. Over every indexed chain unless `chain` names one.',
    tool: 'Who paid one wallet and whom it paid, with sums and days.',
    example: {
      wallet: PROFILE_EXAMPLE.wallet,
      role: 'any',
      window: { since: '2026-10-21T09:15:05Z', until: '2026-11-20T09:15:05Z' },
      counterparty_count: 1,
      totals: { inbound_usd: 1.2, inbound_count: 120, outbound_usd: 0, outbound_count: 0 },
      counterparties: [EXAMPLE],
      next_before: null,
      meta: META_FIELDS_EXAMPLE,
    },
  },
  money: { price: PRICES.keyed, load: 'summary' },
  check: (input, { cursorKeys }) => ({
    ...input,
    before: readBefore(RANKED_CURSOR, { keys: cursorKeys, scope: scopeOf(input) }, input.before),
  }),
  preflight: (input, deps) => preflightAsOf(input, deps),
  read: async (input, deps) => {
    const { wallet, limit, before, window, role, order, chain, finality } = input;
    const {
      reader,
      clock,
      cursorKeys,
      deployment: { chains },
      index: { dataset, names, freshness },
    } = deps;
    const nowMs = clock.nowMs();
    const statuses = await freshness.statuses();
    const { asOf, meta, nowMs: endMs } = await stateFor(deps, input.as_of, { chain, leftOut: LEFT_OUT });
    const final = asOf === undefined ? finalOnly(finality, statuses) : finalOf(asOf);
    const coverage = await coverageFor(deps, { chain, final });
    const until = before?.until ?? windowEnd(endMs);
    const span = spanOf(window, until);
    const query = { wallet, role, order, span, chain, final, asOf, coverage, before, limit };
    const page = await readCounterparties(reader, query);
    const directory = asOf === undefined ? await names.of(page.rows.map((row) => row.wallet)) : NO_NAMES;
    const named = chain === undefined ? chains : [chain];
    const last = page.isLast ? undefined : page.rows.at(-1);
    const next = last === undefined ? undefined : { until, value: last.value, wallet: last.wallet };
    return {
      wallet,
      role,
      window: windowAnswer(window, until),
      counterparty_count: page.count,
      totals: flowsAnswer(page.totals),
      counterparties: page.rows.map((row) =>
        counterpartyAnswer(row, directory.walletName(row.wallet, named)),
      ),
      next_before: nextBefore(RANKED_CURSOR, { keys: cursorKeys, scope: scopeOf(input) }, next),
      meta: await listMeta(
        { chain, chains, statuses, nowMs, finality, ...meta },
        page.rows,
        dataset.settlements,
      ),
    };
  },
});

function flowsAnswer({ inCount, inUsdMicros, outCount, outUsdMicros }: Flows) {
  return {
    inbound_usd: usdNumber(inUsdMicros),
    inbound_count: inCount,
    outbound_usd: usdNumber(outUsdMicros),
    outbound_count: outCount,
  };
}

function counterpartyAnswer(row: Counterparty, named: WalletName | null): Static<typeof CounterpartyShape> {
  return {
    wallet: row.wallet,
    name: named?.name ?? null,
    name_source: named?.source ?? null,
    ...flowsAnswer(row),
    proven_usd: usdNumber(row.provenUsdMicros),
    days_active: row.days,
    first_seen: timeText(row.firstSeen),
    last_seen: timeText(row.lastSeen),
  };
}
