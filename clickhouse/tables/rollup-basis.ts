import { type Sql, sql } from '../engine/sql.ts';

/**
 * A text that changes with every write to the slices before `until` (a DateTime) and with every computation of one of them.
 * While it stays the same and none of them is dirty, what was merged from their rollups is what they still say. The worker that
 * merges and the API that reads both ask with this, so that there is one definition of it.
 */
export function rollupBasis(until: Sql): Sql {
  return sql`concat(
    toString((SELECT sum(writes) FROM hour_ver WHERE hour < ${until})), '/',
    toString((SELECT groupBitXor(cityHash64(day, hour, gen)) FROM rollup_state FINAL WHERE ${sliceStart} < ${until})))`;
}

/** When the slice of a row with the columns `day` and `hour` begins. */
export const sliceStart: Sql = sql`(toDateTime(day, 'UTC') + if(hour < 0, 0, hour) * 3600)`;
