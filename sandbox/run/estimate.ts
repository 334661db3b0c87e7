import { EngineError, type Guest, type Row, type TableConstants } from '../../clickhouse/engine/engine.ts';
import { PUBLIC_TABLES, type PublicTableName } from '../../core/domain/public-tables.ts';
import { type Estimate, QueryAbandoned, type SqlSandbox } from '../sandbox.ts';
import type { Admission } from './admission.ts';
import { explainFailure } from './explain-failure.ts';
import { ATTACHED, averageRows, nodesOf, plannedWork } from './joined-rows.ts';
import {
  openPlanning,
  type PlannedQuery,
  type Planning,
  type PlanningDeps,
  type Resolve,
} from './planning.ts';
import { type Constants, needsConstants } from './table-constants.ts';
import { CallerLeft, StoppedLate } from './watchdog.ts';

/**
 * Estimates what a query would read, from the engine's index analysis. Nothing runs except scalar subqueries, which the engine
 * computes while planning. So an estimate has a time limit and a place of its own. A bare `count()` is under-estimated, because the
 * engine answers it without reading (docs/design/sandbox.md).
 */
export interface EstimateDeps extends PlanningDeps {
  /** One engine per shard, because each shard knows only its own rows; a single engine has one. */
  readonly guests: readonly Pick<Guest, 'explain'>[];
  readonly admission: Pick<Admission, 'admit' | 'punish'>;
  readonly resolve: Resolve;
  /** Absent on a cluster. */
  readonly constants?: Constants;
}

export function createEstimate(deps: EstimateDeps): SqlSandbox['estimate'] {
  return (query, signal) => {
    const wanted = { caller: query.caller, text: query.accepted.text, load: 'plan' as const };
    return deps.admission.admit(wanted, signal, async (place, { memoryBytes }) => {
      const planning = openPlanning(deps, query, signal);
      try {
        // Read meanwhile; never rejects.
        const constants = needsConstants(query) ? deps.constants?.() : undefined;
        await deps.resolve(query, planning);
        const given = { planning, shareBytes: memoryBytes, constants: (await constants) ?? null };
        return await estimateIn(deps, query, given);
      } catch (error) {
        return unknownUnless(error, query, signal);
      } finally {
        planning.leave(place);
      }
    });
  };
}

async function estimateIn(
  { guests }: Pick<EstimateDeps, 'guests'>,
  query: PlannedQuery,
  {
    planning,
    shareBytes,
    constants,
  }: {
    readonly planning: Planning;
    readonly shareBytes: number;
    readonly constants: TableConstants | null;
  },
): Promise<Estimate> {
  const known = constants === null ? {} : { constants };
  const ask = async (name: string, prefix: string): Promise<readonly Row[]> => {
    const question = (text: string): string => `${prefix} ${text}`;
    return (
      await Promise.all(guests.map((guest) => planning.ask({ guest, name, question, ...known })))
    ).flat();
  };
  const rows = await ask('sql-estimate', 'EXPLAIN ESTIMATE');
  const plans = await ask('sql-plan', 'EXPLAIN json = 1, indexes = 1, header = 1, actions = 1');
  const parsed: unknown[] = plans.map(([plan]) => JSON.parse(String(plan ?? '[]')));
  const readings = parsed.flatMap(readsOf);
  const counts = rowsByTable(rows);
  const average = averageRows(counts, readings);
  const attached = Math.max(1, ...(query.accepted.own ?? []).map((table) => table.rows));
  const rowsOf = (table: string): number => (table === ATTACHED ? attached : average(table));
  const { heldBytes, ...joined } = plannedWork(parsed.flatMap(nodesOf), { rowsOf, bytesOf });
  // The condition on the rows that no copy has is of the constants; that on the copies is the caller's alone.
  const isCopied = constants !== null && constants.copies.length > 0;
  const judged = isCopied ? readings.filter(({ table }) => table !== 'settlements') : readings;
  const read = estimateOf(counts, { readings, judged }, query.accepted.tables);
  return { ...read, ...joined, heldShares: heldBytes / shareBytes };
}

const UNKNOWN: Estimate = {
  rows: null,
  bytes: null,
  rowsJoined: 0,
  rowsJoinedMax: 0,
  rowsCrossed: 0,
  heldShares: 0,
  withoutKey: [],
  withoutTime: [],
};

/** If planning exceeds the limits of time or memory there is no estimate; an invalid query fails here. */
function unknownUnless(error: unknown, query: PlannedQuery, signal: AbortSignal): Estimate {
  if (signal.aborted || error instanceof CallerLeft) throw new QueryAbandoned(null);
  if (error instanceof StoppedLate && error.obeyed) return UNKNOWN;
  if (error instanceof StoppedLate) throw new EngineError('unreachable', 'sql-estimate', null, error);
  if (!(error instanceof EngineError)) throw error;
  if (LEFT_OPEN.has(error.problem)) return UNKNOWN;
  throw explainFailure(error, query.accepted, null);
}

const LEFT_OPEN: ReadonlySet<string> = new Set(['timeout', 'aborted', 'memory']);

/** Rows of `EXPLAIN ESTIMATE`: database, table, parts, rows, marks. Every shard reports its own. */
function rowsByTable(rows: readonly Row[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [, table, , count] of rows)
    counts.set(String(table), (counts.get(String(table)) ?? 0) + Number(count));
  return counts;
}

/** One read of a physical table, as the plan shows it. */
interface Reading {
  readonly table: string;
  readonly types: readonly string[];
  /** The index conditions; indexes without a condition are left out. */
  readonly conditions: readonly string[];
  /** Skip indexes in use: the plan shows one only if a condition uses it. */
  readonly skips: number;
}

/** The conditions by which views select closed slices, and hours that are not copied (clickhouse/guest/views). */
const OF_THE_VIEW =
  /\(\(day, hour\) in \d+-element set\)|\(toStartOfHour\(block_time\) in \d+-element set\)/g;
/** The rest of a condition, without the parts that the caller wrote. */
const NOTHING = /^(and|[(),\s])*$/;

function readsOf(plan: unknown): Reading[] {
  if (Array.isArray(plan)) return plan.flatMap(readsOf);
  if (typeof plan !== 'object' || plan === null) return [];
  const node = plan as Readonly<Record<string, unknown>>; // JSON that the engine wrote
  if (node['Node Type'] !== 'ReadFromMergeTree') return Object.values(node).flatMap(readsOf);
  const indexes = listOf(node['Indexes']);
  return [
    {
      table: String(node['Description']).split('.').at(-1) ?? '',
      types: listOf(node['Header']).map((column) => String(column['Type'])),
      conditions: indexes
        .filter((index) => index['Type'] !== 'Partition' && index['Keys'] !== undefined)
        .map((index) => String(index['Condition']).replaceAll(OF_THE_VIEW, ''))
        .filter((condition) => !NOTHING.test(condition)),
      skips: indexes.filter((index) => index['Type'] === 'Skip').length,
    },
  ];
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value : [];
}

/** The physical tables behind the public ones (clickhouse/guest/public-views.ts). */
const PUBLIC_NAMES: Readonly<Record<string, readonly PublicTableName[]>> = {
  settlements: ['settlements'],
  plain_settlements: ['settlements'],
  wallet_rows: ['wallet_settlements'],
  facilitator_relayers: ['facilitators'],
  payee_day: ['merchant_days', 'wallets'],
  payer_day: ['payer_days', 'wallets'],
  pair_day: ['pair_days'],
  chain_hour: ['facilitator_days'],
  wallet_rings: ['wallet_rings'],
  relayer_accounts: ['relayers'],
  proposed_relayers: ['proposed_relayers'],
};

function estimateOf(
  rows: ReadonlyMap<string, number>,
  { readings, judged }: { readonly readings: readonly Reading[]; readonly judged: readonly Reading[] },
  named: readonly string[],
): Pick<Estimate, 'rows' | 'bytes' | 'withoutKey' | 'withoutTime'> {
  // Other tables are read inside a view, where the caller cannot add a condition.
  const open = (isNarrow: (reading: Reading) => boolean): string[] =>
    named.filter((name) => {
      const its = judged.filter(({ table }) => PUBLIC_NAMES[table]?.some((known) => known === name));
      return its.length > 0 && !its.some(isNarrow);
    });
  return {
    rows: [...rows.values()].reduce((sum, count) => sum + count, 0),
    bytes: [...rows].reduce((sum, [table, count]) => sum + count * rowBytes(table, readings), 0),
    withoutKey: open(({ conditions, skips }) => conditions.length > 0 || skips > 0),
    withoutTime: open(({ conditions }) => conditions.some((condition) => TIME.test(condition))).filter(
      hasTime,
    ),
  };
}

const TIME = /\b(block_time|day)\b/;

function hasTime(name: string): boolean {
  const columns = PUBLIC_TABLES[name as PublicTableName].columns; // `named` holds public tables only
  return columns.some((column) => column.name === 'block_time' || column.name === 'day');
}

/** The widest read of the table. */
function rowBytes(table: string, readings: readonly Reading[]): number {
  const widths = readings
    .filter((reading) => reading.table === table)
    .map(({ types }) => types.reduce((sum, type) => sum + bytesOf(type), 0));
  return Math.max(0, ...widths);
}

/** Size of a hex address with its length prefix, as most texts here are. */
const TEXT_BYTES = 50;
const ENUM_BYTES = 1;
const BYTES_OF: readonly (readonly [RegExp, number])[] = [
  [/^LowCardinality/, 2],
  [/^(UInt8|Int8|Bool|Enum8)/, ENUM_BYTES],
  [/^(UInt16|Int16|Date$|Enum16)/, 2],
  [/^(UInt32|Int32|Float32|Date32|DateTime(\(|$)|IPv4)/, 4],
  [/^(UInt64|Int64|Float64|DateTime64|Decimal\(1?\d, )/, 8],
  [/^(UInt128|Int128|UUID|IPv6|Decimal\([23]\d, )/, 16],
  [/^(UInt256|Int256|Decimal)/, 32],
];

/** Approximate size of a value in memory, which `bytes_read` counts. */
function bytesOf(type: string): number {
  const plain = type.replace(/^Nullable\((.*)\)$/, '$1');
  const fixed = /^FixedString\((\d+)\)$/.exec(plain)?.[1];
  if (fixed !== undefined) return Number(fixed);
  return BYTES_OF.find(([pattern]) => pattern.test(plain))?.[1] ?? TEXT_BYTES;
}
