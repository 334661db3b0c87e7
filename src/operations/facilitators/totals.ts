import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { bigintField, integerField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, dateTime, type Sql, sql, uint64 } from '../../../clickhouse/engine/sql.ts';
import { rollupBasis, sliceStart } from '../../../clickhouse/tables/rollups.ts';
import type { Resource } from '../../../core/domain/resources.ts';
import { ask } from '../ask.ts';
import { closedSlices, type RollupCoverage } from '../index-state/rollups.ts';

/**
 * What relayers did in closed slices: one merged row of each up to a moment, where the worker has merged them and nothing before
 * that moment has changed since; rows of every slice otherwise.
 */
export interface RelayerTotals {
  readonly gen: bigint;
  /** Unix seconds: all slices that begin before it are in the totals. */
  readonly until: number;
}

const MAX_SECONDS = 5;

/**
 * The published totals, null when there are none that hold. Asked after `coverage` was read: totals that hold now and end where
 * it knows of nothing open are exact for every slice before their end.
 */
export async function readRelayerTotals(
  reader: Reader,
  resource: Resource,
  coverage: RollupCoverage,
): Promise<RelayerTotals | null> {
  const { rows } = await ask(reader, resource, {
    name: 'relayer-totals',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`WITH (SELECT argMax((gen, until, basis), gen) FROM relayer_total_passes) AS newest, newest.2 AS covered
      SELECT toString(newest.1), toUnixTimestamp(covered), newest.3 = ${rollupBasis(sql`covered`)}`,
  });
  const [gen, until, holds] = rows[0] ?? [];
  const totals = { gen: bigintField(gen), until: integerField(until) };
  const [firstOpen] = coverage.open;
  if (totals.gen === 0n || integerField(holds) !== 1 || firstOpen === undefined) return null;
  return totals.until <= firstOpen.from ? totals : null;
}

/** The parts whose union is what the closed slices hold of relayers. `conditions`: on the columns chain and relayer. */
export function closedRelayers(
  columns: Sql,
  conditions: readonly Sql[],
  { coverage, totals }: { readonly coverage: RollupCoverage; readonly totals: RelayerTotals | null },
): Sql[] {
  // A key whose settlements all vanished stays in the rollup with a count of zero.
  const slices = (when: readonly Sql[]): Sql => sql`SELECT ${columns} FROM (SELECT * FROM relayer_day FINAL
    WHERE ${allOf([...conditions, closedSlices(coverage), ...when])}) WHERE settlement_count > 0`;
  if (totals === null) return [slices([])];
  const { gen, until } = totals;
  const merged = sql`SELECT ${columns} FROM relayer_totals WHERE ${allOf([sql`gen = ${uint64(gen)}`, ...conditions])}`;
  const isAllOpenAfter = coverage.open.length === 1 && coverage.open[0]?.from === until;
  return isAllOpenAfter ? [merged] : [merged, slices([sql`${sliceStart} >= ${dateTime(until)}`])];
}
