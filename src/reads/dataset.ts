import { IS_COUNTED } from '../../clickhouse/counted-rows.ts';
import type { Reader } from '../../clickhouse/engine.ts';
import { sql } from '../../clickhouse/sql.ts';
import type { Clock } from '../clock.ts';
import { ask, TWO_THREADS } from './ask.ts';
import { cached } from './cached.ts';
import { integerField } from './decode.ts';
import { unionAll } from './profile-scope.ts';
import { closedRelayers, readRelayerTotals } from './relayer-totals.ts';
import { openRows, type Rollups } from './rollup-coverage.ts';

/** Facts about whole tables, for empty pages and as a hint where the feed starts. */
export interface DatasetFacts {
  /** Live settlements, channel deposits left out, exact as of at most six seconds ago. */
  rowCount(): Promise<number>;
  /** Newest block time of any row, Unix seconds; null for an empty table. Up to two seconds old. */
  newestTime(): Promise<number | null>;
  /** Agents of every chain, exact as of at most five seconds ago. */
  agentCount(): Promise<number>;
  /** Attestations of every chain, exact as of at most five seconds ago. */
  attestationCount(): Promise<number>;
}

interface DatasetDeps {
  readonly reader: Reader;
  readonly clock: Clock;
  readonly rollups: Rollups;
}

const RESOURCE = 'settlements';
/** Rows of open slices are counted one by one: all of them while the rollups are new (0.2 s at 10 M rows). */
const ROW_COUNT_MAX_AGE_MS = 5_000;
const ROW_COUNT_MAX_SECONDS = 20;
const NEWEST_MAX_AGE_MS = 2_000;
const NEWEST_MAX_SECONDS = 5;

export function createDatasetFacts(deps: DatasetDeps): DatasetFacts {
  const { reader, clock } = deps;
  return {
    rowCount: cached({ clock, maxAgeMs: ROW_COUNT_MAX_AGE_MS, load: () => countRows(deps) }),
    newestTime: cached({
      clock,
      maxAgeMs: NEWEST_MAX_AGE_MS,
      // An empty table is asked again each time: its first row must be served at once.
      keep: (newest) => newest !== null,
      load: () => readNewestTime(reader),
    }),
    agentCount: cached({ clock, maxAgeMs: ROW_COUNT_MAX_AGE_MS, load: () => countAgents(reader) }),
    attestationCount: cached({
      clock,
      maxAgeMs: ROW_COUNT_MAX_AGE_MS,
      load: () => countAttestations(reader),
    }),
  };
}

/** Every settlement has one relayer, and what relayers did in closed slices is merged already; only open slices are counted. */
async function countRows({ reader, rollups }: Pick<DatasetDeps, 'reader' | 'rollups'>): Promise<number> {
  const coverage = await rollups.coverage();
  const totals = await readRelayerTotals(reader, RESOURCE, coverage);
  const counted = unionAll([
    ...closedRelayers(sql`settlement_count AS n`, [], { coverage, totals }),
    sql`SELECT count() FROM (SELECT del, method FROM settlements FINAL WHERE ${openRows(coverage)}) WHERE ${IS_COUNTED}`,
  ]);
  const { rows } = await ask(reader, RESOURCE, {
    name: 'dataset-row-count',
    maxSeconds: ROW_COUNT_MAX_SECONDS,
    maxRows: 1,
    settings: { ...TWO_THREADS, do_not_merge_across_partitions_select_final: 1 },
    sql: sql`SELECT sum(n) FROM (${counted})`,
  });
  return integerField(rows[0]?.[0]);
}

async function countAgents(reader: Reader): Promise<number> {
  const { rows } = await ask(reader, 'agents', {
    name: 'dataset-agent-count',
    maxSeconds: ROW_COUNT_MAX_SECONDS,
    maxRows: 1,
    settings: TWO_THREADS,
    sql: sql`SELECT count() FROM (SELECT del FROM agents FINAL) WHERE del = 0`,
  });
  return integerField(rows[0]?.[0]);
}

async function countAttestations(reader: Reader): Promise<number> {
  const { rows } = await ask(reader, 'attestations', {
    name: 'dataset-attestation-count',
    maxSeconds: ROW_COUNT_MAX_SECONDS,
    maxRows: 1,
    settings: { ...TWO_THREADS, do_not_merge_across_partitions_select_final: 1 },
    sql: sql`SELECT count() FROM (SELECT del FROM attestations FINAL) WHERE del = 0`,
  });
  return integerField(rows[0]?.[0]);
}

/** `max()` without a condition is answered from part metadata. `count()` tells an empty table from one of 1970. */
async function readNewestTime(reader: Reader): Promise<number | null> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'dataset-newest-time',
    maxSeconds: NEWEST_MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT toUnixTimestamp(max(block_time)), count() FROM settlements`,
  });
  return integerField(rows[0]?.[1]) === 0 ? null : integerField(rows[0]?.[0]);
}
