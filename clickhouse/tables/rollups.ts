import { type Sql, sql, trustedText } from '../engine/sql.ts';
import { dayOf, type Placement, type Table } from './table.ts';

/** What each slice of the settlements adds up to: a UTC day, or an hour of a busy one. The engine computes all of it. */

const sliceOf = (column: string): Placement =>
  dayOf(column, 'computed on the shard of its slice, from the rows there');

const sliceTable = <Name extends string>(name: Name, column = 'day') =>
  ({ name, columns: {}, placement: sliceOf(column), versions: ['gen'] }) as const satisfies Table;

export const PAYEE_DAY = sliceTable('payee_day');
export const PAYER_DAY = sliceTable('payer_day');
export const RELAYER_DAY = sliceTable('relayer_day');
export const CHAIN_HOUR = sliceTable('chain_hour', 'hour');

/** What each payer paid each payee, sorted by day. Read through `pairsBetween` (src/operations/index-state/pairs.ts). */
export const PAIR_DAY = sliceTable('pair_day');
/** The same rows sorted by payee, for one of them. A view fills it from `pair_day`. */
export const PAIR_DAY_BY_PAYEE = sliceTable('pair_day_by_payee');

/**
 * Which tables and columns a computation fills, recorded with it: a slice that was computed by an older release counts as open until it
 * is computed again. View `rollup_slices` has the same number; raise both when a table or column is added here.
 */
export const ROLLUP_FIGURES = 2;

/** What each slice was computed from. */
export const ROLLUP_STATE = {
  name: 'rollup_state',
  columns: {},
  placement: sliceOf('day'),
  versions: ['gen', 'ver'],
  backup: 'done',
} as const satisfies Table;

/** A view: every slice that has rows, with the version that it was computed from. */
export const ROLLUP_SLICES = {
  name: 'rollup_slices',
  columns: {},
  placement: { key: null, why: 'a view: every shard judges the slices whose rows it holds' },
} as const satisfies Table;

/**
 * Which slices of the rollups are open, over the columns of view `rollup_slices`: `day`, `hour` (-1 for the whole day), `ver` and
 * `rolled_ver`. An open slice has changes that are not rolled up, and is read from the rows; every other one is closed. As texts
 * too, because the statements that make views are texts.
 */
export const IS_OPEN_TEXT = 'ver > rolled_ver';
export const IS_OPEN: Sql = trustedText(IS_OPEN_TEXT);
export const IS_CLOSED_TEXT = 'ver <= rolled_ver';

/** When the slice of a row with the columns `day` and `hour` begins. */
export const SLICE_START_TEXT = "(toDateTime(day, 'UTC') + if(hour < 0, 0, hour) * 3600)";
export const sliceStart: Sql = trustedText(SLICE_START_TEXT);
export const SLICE_SECONDS_TEXT = 'if(hour < 0, 86400, 3600)';

/**
 * A text that changes with every write to the slices before `until`, from `from` on (DateTimes), and with every computation of one of them.
 * While it stays the same and none of them is dirty, what was merged from their rollups is what they still say. The worker that
 * merges and the API that reads both ask with this, so that there is one definition of it.
 */
export function rollupBasis(until: Sql, from: Sql = sql`toDateTime(0, 'UTC')`): Sql {
  return sql`concat(
    toString((SELECT sum(writes) FROM hour_ver WHERE hour >= ${from} AND hour < ${until})), '/',
    toString((SELECT groupBitXor(cityHash64(day, hour, gen)) FROM rollup_state FINAL WHERE ${sliceStart} >= ${from} AND ${sliceStart} < ${until})))`;
}
