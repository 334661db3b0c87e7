import { accountText, NO_ACCOUNT } from '../../clickhouse/engine/account.ts';
import { IS_COUNTED, IS_DUST } from '../../clickhouse/engine/counted-rows.ts';
import {
  commaList,
  dateTime,
  type Sql,
  sql,
  trustedText,
  uint8,
  uint32,
  uint64,
} from '../../clickhouse/engine/sql.ts';
import { CHAIN_HOUR, PAIR_DAY, PAYEE_DAY, PAYER_DAY, RELAYER_DAY } from '../../clickhouse/tables/rollups.ts';
import { EVIDENCE_LADDER, type EvidenceTier, methodsOfTier } from '../../core/domain/evidence.ts';

/** A slice of time that is rolled up in one piece: a UTC day, or an hour of a day with very many rows. */
export interface Slice {
  /** Unix seconds of the UTC midnight that the day begins with. */
  readonly dayStart: number;
  /** 0 to 23, or null for the whole day. */
  readonly hour: number | null;
}

/** A slice whose rows changed after it was rolled up, or that never was. */
export interface DirtySlice extends Slice {
  /** The newest change. */
  readonly ver: bigint;
}

/** Unix seconds, half-open. */
export interface SliceRange {
  readonly from: number;
  readonly to: number;
}

export const DAY_SECONDS = 86_400;
export const HOUR_SECONDS = 3_600;

export function rangeOf({ dayStart, hour }: Slice): SliceRange {
  if (hour === null) return { from: dayStart, to: dayStart + DAY_SECONDS };
  const from = dayStart + hour * HOUR_SECONDS;
  return { from, to: from + HOUR_SECONDS };
}

/** `2026-11-20`: what the slices of one day have in common. */
export function dayName({ dayStart }: Pick<Slice, 'dayStart'>): string {
  return new Date(dayStart * 1_000).toISOString().slice(0, 10);
}

/** `2026-11`, of a moment in Unix seconds. */
export function monthName(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(0, 7);
}

/** `2026-11-20`, or `2026-11-20T05` for an hour. */
export function sliceName(slice: Slice): string {
  return slice.hour === null ? dayName(slice) : `${dayName(slice)}T${String(slice.hour).padStart(2, '0')}`;
}

/** What statements that compute a slice of the day belong to. */
export function rollupScope(slice: Pick<Slice, 'dayStart'>): string {
  return `rollup:${dayName(slice)}`;
}

/** A column of a statement that writes rows of a slice. */
export interface Column {
  readonly name: string;
  readonly value: Sql;
}

/** The columns `day` and `hour`, as every table of slices holds them. */
export function sliceColumns({ dayStart, hour }: Slice): readonly [Column, Column] {
  return [
    { name: 'day', value: sql`toDate(${dateTime(dayStart)})` },
    { name: 'hour', value: hour === null ? sql`toInt8(-1)` : sql`toInt8(${uint8(hour)})` },
  ];
}

/** Condition that a column holds a time of the slice. */
export function inSlice(time: Sql, slice: Slice): Sql {
  const { from, to } = rangeOf(slice);
  return sql`${time} >= ${dateTime(from)} AND ${time} < ${dateTime(to)}`;
}

/**
 * The statements that recompute one slice. Each writes every key that the slice has or ever had: a key without live rows becomes a row
 * of zeros, which replaces the row of an earlier computation (docs/design/storage.md).
 */
export interface RollupStatement {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly sql: Sql;
}

const countOf = (condition: Sql): Sql => sql`countIf(live AND ${condition})`;
/** Widened before it is summed, as the columns are: the sum of a day must fit whatever the amounts. */
const usdOf = (condition: Sql): Sql => sql`sumIf(toDecimal128(amount_usd, 6), live AND ${condition})`;
const ALL = sql`1`;
/** Seconds since midnight. */
const SECOND = sql`toUInt32(block_time) % ${uint32(DAY_SECONDS)}`;

/** Condition on the column `code`: the method is of the tier. */
function isOf(tier: EvidenceTier): Sql {
  const codes = methodsOfTier(tier).map((method) => EVIDENCE_LADDER[method].code);
  return trustedText(`code IN (${codes.join(', ')})`);
}

/** Every figure of the tables, declared once, over the columns of `rowsAndRetracted` or `rowsAndFormerFacilitators`. */
const MEASURES = {
  settlement_count: countOf(ALL),
  settled_usd: usdOf(ALL),
  self_count: countOf(sql`is_self`),
  self_usd: usdOf(sql`is_self`),
  proven_count: countOf(isOf('proven')),
  proven_usd: usdOf(isOf('proven')),
  other_usd: usdOf(sql`NOT ${isOf('proven')}`),
  probable_count: countOf(isOf('probable')),
  probable_usd: usdOf(isOf('probable')),
  unproven_count: countOf(isOf('unproven')),
  unproven_usd: usdOf(isOf('unproven')),
  not_x402_count: countOf(isOf('not_x402')),
  not_x402_usd: usdOf(isOf('not_x402')),
  dust_count: countOf(IS_DUST),
  dust_proven_usd: usdOf(sql`${isOf('proven')} AND ${IS_DUST}`),
  dust_other_usd: usdOf(sql`NOT ${isOf('proven')} AND ${IS_DUST}`),
  first_time: sql`minIf(block_time, live)`,
  last_time: sql`maxIf(block_time, live)`,
  first_second: sql`minIf(${SECOND}, live)`,
  span: sql`maxIf(${SECOND}, live) - minIf(${SECOND}, live)`,
} as const;

const TOTALS = ['settlement_count', 'settled_usd'] as const;
const PARTS = ['self_count', 'self_usd', 'proven_count', 'proven_usd'] as const;
/** Rows in none of these tiers are not graded yet. */
const TIERS = [
  'probable_count',
  'probable_usd',
  'unproven_count',
  'unproven_usd',
  'not_x402_count',
  'not_x402_usd',
] as const;
const TIMES = ['first_time', 'last_time'] as const;

interface KeyColumn extends Column {
  /** The column to group by; `value` is a function of it. */
  readonly by: Sql;
}

interface RollupTable {
  readonly table: string;
  readonly keys: readonly KeyColumn[];
  readonly measures: readonly (keyof typeof MEASURES)[];
  /** Mergeable sets of addresses, or numbers of distinct ones. The engine takes the state of an `…If` for that of the plain function. */
  readonly states: readonly Column[];
  /** Whether the columns `day` and `hour` hold the slice; chain_hour has the hour as a key instead. */
  readonly isSliced: boolean;
  readonly source: (slice: Slice) => Sql;
}

const ASSETS: Column = { name: 'assets', value: sql`arraySort(groupUniqArrayIf(asset, live))` };
const CHAIN: KeyColumn = { name: 'chain', by: sql`chain`, value: sql`chain` };

const ROLLUP_TABLES: readonly RollupTable[] = [
  {
    table: PAYEE_DAY.name,
    keys: [{ name: 'payee', by: sql`payee`, value: accountText('payee') }, CHAIN],
    measures: [...TOTALS, ...PARTS, ...TIERS, ...TIMES],
    states: [{ name: 'payers', value: sql`uniqCombined64IfState(12)(payer, live)` }, ASSETS],
    isSliced: true,
    source: rowsAndRetracted,
  },
  {
    table: PAYER_DAY.name,
    keys: [{ name: 'payer', by: sql`payer`, value: accountText('payer') }, CHAIN],
    measures: [...TOTALS, ...PARTS, ...TIERS, ...TIMES],
    states: [{ name: 'payees', value: sql`uniqCombined64IfState(12)(payee, live)` }, ASSETS],
    isSliced: true,
    source: rowsAndRetracted,
  },
  {
    table: RELAYER_DAY.name,
    keys: [CHAIN, { name: 'relayer', by: sql`relayer`, value: sql`relayer` }],
    measures: [...TOTALS, ...TIMES],
    states: [
      { name: 'payers', value: sql`uniqCombined64IfState(14)(payer, live)` },
      { name: 'payees', value: sql`uniqCombined64IfState(14)(payee, live)` },
    ],
    isSliced: true,
    source: rowsAndRetracted,
  },
  {
    // A view copies the rows to pair_day_by_payee.
    table: PAIR_DAY.name,
    keys: [
      { name: 'payer', by: sql`payer`, value: sql`payer` },
      { name: 'payee', by: sql`payee`, value: sql`payee` },
      CHAIN,
    ],
    measures: [
      'settlement_count',
      'proven_count',
      'proven_usd',
      'other_usd',
      'dust_count',
      'dust_proven_usd',
      'dust_other_usd',
      'first_second',
      'span',
    ],
    states: [],
    isSliced: true,
    source: rowsAndRetracted,
  },
  {
    table: CHAIN_HOUR.name,
    keys: [
      CHAIN,
      { name: 'hour', by: sql`toStartOfHour(block_time)`, value: sql`toStartOfHour(block_time)` },
      { name: 'facilitator', by: sql`facilitator`, value: sql`facilitator` },
    ],
    measures: [...TOTALS, ...PARTS, ...TIERS],
    states: [],
    isSliced: false,
    source: rowsAndFormerFacilitators,
  },
];

/** In the order in which they are run; each may be repeated. `gen` must have been given before the first of them reads. */
export function rollupStatements(slice: Slice, gen: bigint): RollupStatement[] {
  return ROLLUP_TABLES.map((table) => ({
    name: `rollup-${table.table.replaceAll('_', '-')} ${sliceName(slice)}`,
    scopes: [rollupScope(slice)],
    sql: insertInto(table, slice, gen),
  }));
}

/** No aliases: one that is named like a column would replace it inside the measures: the engine resolves aliases before columns. */
function insertInto(table: RollupTable, slice: Slice, gen: bigint): Sql {
  const columns: Column[] = [
    ...table.keys,
    ...(table.isSliced ? sliceColumns(slice) : []),
    ...table.measures.map((name) => ({ name, value: MEASURES[name] })),
    ...table.states,
    { name: 'gen', value: sql`${uint64(gen)}` },
  ];
  return sql`INSERT INTO ${trustedText(table.table)} (${commaList(columns.map(({ name }) => trustedText(name)))})
    SELECT ${commaList(columns.map(({ value }) => value))}
    FROM (${table.source(slice)}) GROUP BY ${commaList(table.keys.map(({ by }) => by))}`;
}

/** The rows with their tombstones, and the keys whose tombstones were replaced by other events. */
function rowsAndRetracted(slice: Slice): Sql {
  return sql`SELECT chain, block_time, payer, payee, relayer, asset, amount_usd,
      payer = payee AS is_self, toUInt8(method) AS code, ${IS_COUNTED} AS live
    FROM settlements FINAL WHERE ${inSlice(sql`block_time`, slice)}
    UNION ALL SELECT chain, hour, payer, payee, relayer, ${NO_ACCOUNT}, toDecimal64(0, 6), 0, 0, 0
    FROM retracted_keys WHERE ${inSlice(sql`hour`, slice)}`;
}

/** The rows, and the facilitators written before: a regraded row does not keep its old facilitator. */
function rowsAndFormerFacilitators(slice: Slice): Sql {
  return sql`SELECT chain, block_time, facilitator, amount_usd,
      payer = payee AS is_self, toUInt8(method) AS code, ${IS_COUNTED} AS live
    FROM settlements FINAL WHERE ${inSlice(sql`block_time`, slice)}
    UNION ALL SELECT chain, hour, facilitator, toDecimal64(0, 6), 0, 0, 0
    FROM chain_hour WHERE ${inSlice(sql`hour`, slice)}`;
}
