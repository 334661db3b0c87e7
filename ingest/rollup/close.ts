import type { Writer } from '../../clickhouse/engine/engine.ts';
import { isOfScope } from '../../clickhouse/engine/guard.ts';
import { dateTime, sql, trustedText, uint8, uint64 } from '../../clickhouse/engine/sql.ts';
import { RELAYER_TOTAL_PASSES, RELAYER_TOTALS } from '../../clickhouse/tables/generations.ts';
import {
  IS_OPEN,
  ROLLUP_FIGURES,
  ROLLUP_STATE,
  rollupBasis,
  sliceStart,
} from '../../clickhouse/tables/rollups.ts';
import type { Log } from '../../core/log.ts';
import { type DerivedTable, deriveIfChanged } from '../passes/derived-table.ts';
import { VERSION_STEP, type Versions } from '../write/versions.ts';
import { inSlice, rollupScope, rollupStatements, type Slice, sliceColumns, sliceName } from './statements.ts';

/** A million rows take about two seconds; a machine under load may need a multiple of it. */
const COMPUTE_MAX_SECONDS = 300;
const LOOK_MAX_SECONDS = 30;
const MEBIBYTE = 1024 * 1024;

/**
 * One thread and little memory, so that point reads keep their latency. Groups beyond the second bound go to
 * disk. A slice is one block, and so one part: readers see all of its new rows or none.
 */
export const COMPUTE_SETTINGS = {
  max_threads: 1,
  max_insert_threads: 1,
  max_memory_usage: 1024 * MEBIBYTE,
  max_bytes_before_external_group_by: 256 * MEBIBYTE,
  do_not_merge_across_partitions_select_final: 1,
} as const;

/** A record of zero writes leaves the slice dirty. */
const REOPENED = { ver: 0n, writes: 0n } as const;

/** `busy`: another worker computes this day. `overtaken`: another one has recorded a higher `gen`; the slice is reopened. */
export type CloseOutcome = 'closed' | 'busy' | 'overtaken';

/**
 * Computes a slice and records the state that it was computed from. Can be interrupted anywhere and repeated: until the record is
 * written the slice stays dirty and is read live, and a repeat writes the same keys with a higher `gen`.
 *
 * The order makes it correct while inserts and other workers run. The number of writes is read before the data, so a write that the
 * data may lack leaves the slice dirty, regardless of its `ver`. `gen` is assigned between the two and is above every recorded one: of
 * two computations the one with the higher `gen` has read data at least as new as its record says, and its rows and record win
 * together.
 */
export async function closeSlice(
  deps: {
    readonly writer: Writer;
    readonly versions: Versions;
    readonly log: Log;
    /** Ends it between two statements. */
    readonly signal?: AbortSignal;
  },
  slice: Slice,
): Promise<CloseOutcome> {
  const { writer, versions, log, signal } = deps;
  const began = performance.now();
  if (await isBeingComputed(writer, slice)) return 'busy';
  const { changes, lastGen } = await readBasis(writer, slice);
  const fresh = versions.next();
  // Another worker's clock may be ahead of ours.
  const gen = fresh > lastGen ? fresh : lastGen + 1n;
  for (const statement of rollupStatements(slice, gen)) {
    signal?.throwIfAborted();
    await writer.run({ ...statement, maxSeconds: COMPUTE_MAX_SECONDS, settings: COMPUTE_SETTINGS });
  }
  await record(writer, slice, changes, gen);
  const { lastGen: newestGen } = await readBasis(writer, slice);
  const isOvertaken = newestGen > gen;
  // The other computation may lack a key that only ours has written: a facilitator regraded in between.
  if (isOvertaken) await record(writer, slice, REOPENED, newestGen + 1n);
  const outcome = isOvertaken ? 'overtaken' : 'closed';
  log.debug({ slice: sliceName(slice), outcome, tookMs: Math.round(performance.now() - began) }, 'rolled up');
  return outcome;
}

/**
 * Whether a rollup statement runs for the day, of another worker or left behind by a killed one. It may have read older data than we
 * would: its rows lose to ours, but a key that only it has would stay.
 */
async function isBeingComputed(writer: Writer, slice: Slice): Promise<boolean> {
  const { rows } = await writer.rows({
    name: 'rollup-running',
    sql: sql`SELECT count() FROM system.processes
             WHERE query_kind = 'Insert' AND current_database = currentDatabase()
               AND ${isOfScope(rollupScope(slice))}`,
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: 1,
  });
  return Number(rows[0]?.[0]) > 0;
}

interface Changes {
  /** The newest; 0: no rows. */
  readonly ver: bigint;
  /** How many there ever were (hour_ver). */
  readonly writes: bigint;
}

interface Basis {
  readonly changes: Changes;
  /** Of the newest record of the slice; 0: none. */
  readonly lastGen: bigint;
}

async function readBasis(writer: Writer, slice: Slice): Promise<Basis> {
  const [day, hour] = sliceColumns(slice);
  const { rows } = await writer.rows({
    name: `rollup-basis ${sliceName(slice)}`,
    sql: sql`SELECT max(ver), sum(writes),
               (SELECT max(gen) FROM rollup_state WHERE day = ${day.value} AND hour = ${hour.value})
             FROM hour_ver WHERE ${inSlice(sql`hour`, slice)}`,
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: 1,
  });
  const [ver = 0n, writes = 0n, lastGen = 0n] = (rows[0] ?? []).map((field) => BigInt(String(field ?? 0)));
  return { changes: { ver, writes }, lastGen };
}

/** Only after every table has acknowledged. */
async function record(writer: Writer, slice: Slice, { ver, writes }: Changes, gen: bigint): Promise<void> {
  const [day, hour] = sliceColumns(slice);
  await writer.run({
    name: `rollup-record ${sliceName(slice)}`,
    scopes: [rollupScope(slice)],
    sql: sql`INSERT INTO ${trustedText(ROLLUP_STATE.name)} (day, hour, ver, writes, gen, figures)
             SELECT ${day.value}, ${hour.value}, ${uint64(ver)}, ${uint64(writes)}, ${uint64(gen)}, ${uint8(ROLLUP_FIGURES)}`,
    maxSeconds: LOOK_MAX_SECONDS,
  });
}

/** Some 180,000 rows of relayer_day at 10 M settlements take two seconds; a machine under load may need a multiple of it. */
const MERGE_MAX_SECONDS = 300;
const TOTALS: DerivedTable = {
  name: 'relayer-totals',
  rows: [RELAYER_TOTALS],
  passes: RELAYER_TOTAL_PASSES,
  // Readers hold on to a pass for some ten seconds.
  generationsKept: 3,
};

/** `open`: a slice was written to during the pass, or nothing is closed yet. */
export type TotalsOutcome = 'merged' | 'current' | 'open';

/**
 * Merges relayer_day up to the first open slice and publishes the result, unless it is published already. Can be interrupted anywhere
 * and repeated, by any number of workers: rows become visible once their pass is published, and a pass is used only while the basis
 * that it was merged from is the current one.
 *
 * Reads the basis first, then checks that nothing before `until` is dirty, then reads the rollups. So a write in the basis is in the
 * rollups; any other write, or a slice recomputed in between, changes the basis and invalidates the pass.
 */
export async function mergeRelayerTotals({
  writer,
  versions,
}: {
  readonly writer: Writer;
  readonly versions: Versions;
}): Promise<TotalsOutcome> {
  const until = await firstOpen(writer);
  const outcome = await deriveIfChanged(writer, TOTALS, {
    fresh: versions.next(),
    spread: Number(VERSION_STEP),
    basis: {
      of: rollupBasis(sql`${dateTime(until)}`),
      until,
      isReady: async () => until > 0 && (await firstOpen(writer)) >= until,
    },
    async write(gen) {
      await writer.run({
        name: 'relayer-totals-merge',
        maxSeconds: MERGE_MAX_SECONDS,
        settings: COMPUTE_SETTINGS,
        sql: sql`INSERT INTO relayer_totals (chain, relayer, settlement_count, settled_usd, payers, payees, first_time, last_time, gen)
          SELECT chain, relayer, sum(settlement_count), sum(settled_usd), uniqCombined64MergeState(14)(payers),
            uniqCombined64MergeState(14)(payees), min(first_time), max(last_time), ${uint64(gen)}
          FROM (SELECT * FROM relayer_day FINAL WHERE ${sliceStart} < ${dateTime(until)}
            AND (hour >= 0) = (day IN (SELECT day FROM rollup_state WHERE hour >= 0)))
          WHERE settlement_count > 0 GROUP BY chain, relayer`,
      });
      return {};
    },
  });
  if (outcome === 'waiting') return 'open';
  return outcome === 'current' ? 'current' : 'merged';
}

/** Unix seconds at which the first dirty slice begins, or the end of all that is rolled up; 0 without settlements. */
async function firstOpen(writer: Writer): Promise<number> {
  const { rows } = await writer.rows({
    name: 'relayer-totals-until',
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: 1,
    sql: sql`WITH (SELECT toUnixTimestamp(max(hour)) + 3600 FROM hour_ver) AS end
      SELECT multiIf(count() = 0, 0, countIf(${IS_OPEN}) = 0, end, minIf(toUnixTimestamp(${sliceStart}), ${IS_OPEN}))
      FROM rollup_slices`,
  });
  return Number(rows[0]?.[0]);
}
