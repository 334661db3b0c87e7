import type { Writer } from '../../clickhouse/engine/engine.ts';
import { dateTime, sql, text, uint64 } from '../../clickhouse/engine/sql.ts';
import {
  dropOldGenerations,
  ownGeneration,
  RELAYER_TOTAL_PASSES,
  RELAYER_TOTALS,
} from '../../clickhouse/tables/generations.ts';
import { IS_OPEN, rollupBasis, sliceStart } from '../../clickhouse/tables/rollups.ts';
import { VERSION_STEP, type Versions } from '../write/versions.ts';
import { COMPUTE_SETTINGS } from './close.ts';

/** Some 180,000 rows of relayer_day at 10 M settlements take two seconds; a machine under load may need a multiple of it. */
const MERGE_MAX_SECONDS = 300;
const LOOK_MAX_SECONDS = 30;
/** Two for readers that are under way, which hold on to a pass for some ten seconds. */
const GENERATIONS_KEPT = 3;

/** `open`: a slice was written to meanwhile, or nothing is closed yet. */
export type TotalsOutcome = 'merged' | 'current' | 'open';

/**
 * Merges relayer_day up to the first open slice and publishes the result, unless the published one is that already. May be cut
 * anywhere and repeated, by any number of workers: rows are seen once their pass is published, and a pass is believed only while
 * the basis it was merged from is the present one.
 *
 * The basis is read first, then that nothing before `until` is dirty, then the rollups. So a write that is in the basis is in
 * the rollups, and one that is not, or a slice computed anew in between, changes the basis and takes the pass out of use.
 */
export async function mergeRelayerTotals({
  writer,
  versions,
}: {
  readonly writer: Writer;
  readonly versions: Versions;
}): Promise<TotalsOutcome> {
  const until = await firstOpen(writer);
  const { basis, lastGen, isCurrent } = await readPasses(writer, until);
  if (isCurrent) return 'current';
  if (until === 0 || (await firstOpen(writer)) < until) return 'open';
  const gen = ownGeneration({
    fresh: versions.next(),
    newest: lastGen,
    spread: Number(VERSION_STEP),
  });
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
  await writer.run({
    name: 'relayer-totals-publish',
    maxSeconds: LOOK_MAX_SECONDS,
    sql: sql`INSERT INTO relayer_total_passes (gen, until, basis) SELECT ${uint64(gen)}, ${dateTime(until)}, ${text(basis)}`,
  });
  await dropOldGenerations(writer, { rows: RELAYER_TOTALS, passes: RELAYER_TOTAL_PASSES }, GENERATIONS_KEPT);
  return 'merged';
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

interface Passes {
  readonly basis: string;
  /** Of any pass, finished or not; 0: none. */
  readonly lastGen: bigint;
  /** Whether the published one is what would be merged now. */
  readonly isCurrent: boolean;
}

async function readPasses(writer: Writer, until: number): Promise<Passes> {
  const { rows } = await writer.rows({
    name: 'relayer-totals-basis',
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT ${rollupBasis(sql`${dateTime(until)}`)},
        greatest((SELECT max(gen) FROM relayer_total_passes), (SELECT max(gen) FROM relayer_totals)),
        (SELECT argMax((toUnixTimestamp(until), basis), gen) FROM relayer_total_passes)`,
  });
  const [basis, lastGen, newest] = rows[0] ?? [];
  const [publishedUntil, publishedBasis] = Array.isArray(newest) ? newest : [];
  return {
    basis: String(basis),
    lastGen: BigInt(String(lastGen ?? 0)),
    isCurrent: until > 0 && Number(publishedUntil) === until && publishedBasis === basis,
  };
}
