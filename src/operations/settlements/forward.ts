import { Type } from '@sinclair/typebox';
import type { Reader, Row, Statement } from '../../../clickhouse/engine/engine.ts';
import { integerField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, dateTime, type Sql, sql, text, uint32, uint64 } from '../../../clickhouse/engine/sql.ts';
import { decodeSettlement, type ListedSettlement } from '../../../clickhouse/tables/settlements.ts';
import { TRANSACTION_PATTERN } from '../../../core/domain/account.ts';
import {
  type ChangesPosition,
  type ChangesWindow,
  type CursorKeys,
  mintChangesCursor,
  readChangesCursor,
} from '../../../core/domain/cursor.ts';
import type { Position } from '../../../core/domain/settlement.ts';
import { fail } from '../../../core/errors.ts';
import { ask } from '../ask.ts';
import type { FinalityFilter } from '../index-state/finality.ts';
import { invalid } from '../params.ts';
import { ChainShape, orNull } from '../shapes.ts';
import {
  type ChangesOf,
  type GoneEvent,
  type Horizon,
  ROOM,
  readGone,
  readHorizon,
  type TouchedHour,
  touchedHours,
  windowEnd,
} from './changes.ts';
import { type FeedFilters, gradeFilters } from './filters.ts';
import { floorOfSecond } from './slice-walk.ts';

/**
 * What changed since a cursor: rows as they are now, and events that are gone. The order is that of writing, so a late block or a
 * regrade of old rows comes like everything else; rows of one window come in order of block time.
 */

const RESOURCE = 'settlements';
const GONE_MAX = 500;
/** Of rows; a page that needs more ends early. */
const STATEMENTS_MAX = 8;
const WINDOWS_MAX = 8;

/** Where the rows of a list are read. */
export interface ForwardSource {
  readonly of: ChangesOf;
  /** Entries of a window. */
  readonly entries: number;
  /** A statement reads hours of this span, and so many at most. */
  readonly spanSeconds: number;
  readonly hours: number;
  /** Rows that fulfil the conditions on any of their columns, `ver` included, oldest first, each with these further fields. */
  statement(rows: {
    readonly range: readonly Sql[];
    readonly conditions: readonly Sql[];
    readonly fields: Sql;
    readonly limit: number;
  }): Statement;
}

interface ForwardQuery extends FeedFilters {
  readonly limit: number;
  readonly after: ChangesPosition;
  /** Filters of a page after it was read. */
  readonly isWanted?: (row: ListedSettlement) => boolean;
}

export interface ForwardPage {
  readonly rows: readonly ListedSettlement[];
  readonly retracted: readonly GoneEvent[];
  readonly next: ChangesPosition;
  readonly hasMore: boolean;
}

export async function readForward(
  reader: Reader,
  source: ForwardSource,
  query: ForwardQuery,
): Promise<ForwardPage> {
  const horizon = await readHorizon(reader);
  requireKept(query.after, horizon);
  const rows: ListedSettlement[] = [];
  const retracted: GoneEvent[] = [];
  const page = { rows, retracted, taken: 0, statements: 0 };
  let position = query.after;
  for (let windows = 0; windows < WINDOWS_MAX; windows++) {
    const { from } = position;
    if (position.window === undefined && horizon.complete <= from)
      return { rows, retracted, next: position, hasMore: false };
    const window = position.window ?? (await nextWindow(reader, source, { from, to: horizon.complete }));
    const left = await giveWindow(reader, source, query, { from, window }, page);
    if (left !== undefined) return { rows, retracted, next: { from, window: left }, hasMore: true };
    position = { from: window.to, window: undefined };
  }
  return { rows, retracted, next: position, hasMore: horizon.complete > position.from };
}

/** A cursor from the future was given out by another clock: what was written under that one cannot be found. */
function requireKept({ from }: ChangesPosition, { oldest, now }: Horizon): void {
  if (from >= oldest && from <= now) return;
  throw fail('cursor_expired', {
    parameter: 'after',
    detail: 'The changes after this cursor are not kept any more: they are kept for 29 days.',
  });
}

async function nextWindow(
  reader: Reader,
  { of, entries }: ForwardSource,
  upTo: { readonly from: number; readonly to: number },
): Promise<ChangesWindow> {
  return { to: await windowEnd(reader, of, upTo, entries), gone: 0, row: undefined };
}

interface Page {
  readonly rows: ListedSettlement[];
  readonly retracted: GoneEvent[];
  /** Rows that were read, shown or not. */
  taken: number;
  statements: number;
}

/** Adds to the page the rows that the window still holds; answers the rest of the window, undefined when there is none. */
async function giveWindow(
  reader: Reader,
  source: ForwardSource,
  query: ForwardQuery,
  { from, window }: { readonly from: number; readonly window: ChangesWindow },
  page: Page,
): Promise<ChangesWindow | undefined> {
  const bounds = { from, to: window.to };
  let { gone } = window;
  if (window.row === undefined) {
    const room = GONE_MAX - page.retracted.length;
    const found = await readGone(reader, source.of, bounds, { skipped: gone, limit: room + 1 });
    page.retracted.push(...found.slice(0, room));
    gone += Math.min(found.length, room);
    if (found.length > room) return { ...window, gone };
  }
  const hours = await touchedHours(reader, source.of, bounds, window.row?.blockTime ?? 0);
  let { row } = window;
  for (const batch of batchesOf(hours, source)) {
    const [first] = batch;
    const start = row ?? floorOfSecond(Math.min(...batch.map(({ firstTime }) => firstTime)));
    if (first === undefined || page.statements === STATEMENTS_MAX || page.taken === query.limit)
      return { ...window, gone, row: start };
    const last = await takeRows(reader, source, query, { batch, start: row }, page);
    if (last !== undefined) return { ...window, gone, row: last };
    row = undefined;
  }
  return undefined;
}

/** Whole hours of all chains together, as the order of rows demands. */
function batchesOf(
  hours: readonly TouchedHour[],
  { spanSeconds, hours: hoursMax }: ForwardSource,
): TouchedHour[][] {
  const batches: TouchedHour[][] = [];
  for (const hour of hours) {
    const batch = batches.at(-1);
    const [first, last] = [batch?.[0], batch?.at(-1)];
    const isSameHour = last !== undefined && hourOf(last) === hourOf(hour);
    const fits =
      batch !== undefined &&
      first !== undefined &&
      batch.length < hoursMax &&
      hour.lastTime - first.firstTime <= spanSeconds;
    if (batch !== undefined && (isSameHour || fits)) batch.push(hour);
    else batches.push([hour]);
  }
  return batches;
}

const hourOf = ({ firstTime }: TouchedHour): number => Math.floor(firstTime / 3_600);

/** The last row that was read when there may be more; undefined when the batch is over. */
async function takeRows(
  reader: Reader,
  source: ForwardSource,
  query: ForwardQuery,
  { batch, start }: { readonly batch: readonly TouchedHour[]; readonly start: Position | undefined },
  page: Page,
): Promise<ListedSettlement | undefined> {
  const limit = query.limit - page.taken;
  const { rows } = await ask(reader, RESOURCE, rowsStatement(source, query, { batch, start, limit }));
  page.statements += 1;
  page.taken += rows.length;
  const read = rows.map(decodeChanged);
  for (const { row, fits, isRegraded } of read) {
    if (fits && (query.isWanted?.(row) ?? true)) page.rows.push(row);
    // It may have been listed under its former grade.
    else if (isRegraded) page.retracted.push(row);
  }
  return read.length === limit ? read.at(-1)?.row : undefined;
}

function decodeChanged(fields: Row) {
  const [fits, isRegraded] = fields.slice(-2).map(integerField);
  return { row: decodeSettlement(fields), fits: fits === 1, isRegraded: isRegraded === 1 };
}

function rowsStatement(
  { statement }: ForwardSource,
  query: ForwardQuery,
  {
    batch,
    start,
    limit,
  }: { readonly batch: readonly TouchedHour[]; readonly start: Position | undefined; readonly limit: number },
): Statement {
  const times = [
    sql`block_time >= ${dateTime(Math.min(...batch.map(({ firstTime }) => firstTime)))}`,
    sql`block_time <= ${dateTime(Math.max(...batch.map(({ lastTime }) => lastTime)))}`,
  ];
  const within = batch.map(({ isWithin }) => isWithin).reduce((all, next) => sql`${all} OR ${next}`);
  const fits = allOf(gradeFilters(query));
  return statement({
    range: [...times, ...(start === undefined ? [] : [isAbove(start)])],
    conditions: [sql`(${within})`, sql`(${fits} OR ${ROOM} > 0)`],
    fields: sql`toUInt8(${fits}), ${ROOM} > 0`,
    limit,
  });
}

/** Everything that sorts above a position. */
function isAbove({ blockTime, chain, blockNumber, logIndex }: Position): Sql {
  return sql`block_time >= ${dateTime(blockTime)} AND (block_time, chain, block_number, log_index) >
    (${dateTime(blockTime)}, ${text(chain)}, ${uint64(blockNumber)}, ${uint32(logIndex)})`;
}

/** What a page says of reading forward. */
export const FORWARD_FIELDS = {
  prev_after: orNull(
    Type.String({
      description:
        'Cursor of what is written from now on, to send as `after`. While you page with `before`, keep that of the first page. Null with `finality=finalized`, `facilitator`, `tier` and `min_probability`.',
    }),
  ),
  retracted: Type.Optional(
    Type.Array(
      Type.Object(
        {
          chain: ChainShape,
          tx_hash: Type.String({ pattern: TRANSACTION_PATTERN }),
          log_index: Type.Integer({ minimum: 0 }),
        },
        { title: 'RetractedSettlement' },
      ),
      {
        description:
          'With `after`: settlements that are no longer in this list, such as those that a reorg took. Remove them before you take over the rows of the page. Some may be unknown to you.',
      },
    ),
  ),
  has_more: Type.Optional(
    Type.Boolean({
      description: 'With `after`: whether more was written already. Ask again with `prev_after` at once.',
    }),
  ),
};

/** What binds a forward cursor: the list and every filter. A copy is that of one set of filters. */
export interface ForwardBinding {
  readonly keys: CursorKeys;
  readonly scope: string;
  /** Whether a filter is about the grade of a row, which a backfill under another catalogue may change without an entry. */
  readonly byGrade: boolean;
}

const GRADE_FILTERS = ['facilitator', 'tier', 'min_probability'] as const;
const NO_FILTERS: ReadonlySet<string> = new Set(['limit', 'before', 'after', 'finality']);

export function forwardBinding(keys: CursorKeys, list: string, input: object): ForwardBinding {
  const filters = Object.entries(input)
    .filter(([name, value]) => !NO_FILTERS.has(name) && value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${String(value)}`);
  const byGrade = GRADE_FILTERS.some(
    (name) => name in input && input[name as keyof typeof input] !== undefined,
  );
  return { keys, scope: [`${list} after`, ...filters].join('\n'), byGrade };
}

/** Where a caller goes on reading forward. Throws `invalid_parameter` for a text that is not a cursor of this list and these filters. */
export function readAfter(
  binding: ForwardBinding,
  input: {
    readonly after: string | undefined;
    readonly before: string | undefined;
    readonly finality: FinalityFilter;
  },
): ChangesPosition | undefined {
  const { after, before, finality } = input;
  if (after === undefined) return undefined;
  if (before !== undefined) throw invalid('after', 'after and before exclude each other.');
  if (binding.byGrade)
    throw invalid(
      'after',
      'after goes with no facilitator, tier or min_probability: a row may leave such a list without being written. Keep a copy of all grades and filter there.',
    );
  if (finality === 'finalized')
    throw invalid(
      'after',
      'after gives what was written, and a row becomes final without being written: leave finality out, and see `finality` of each row.',
    );
  const position = readChangesCursor(binding.keys, binding.scope, after);
  if (position !== undefined) return position;
  throw invalid(
    'after',
    'after is not a prev_after of this list with these filters: it is altered, cut short, or from another list, other filters or another deployment.',
  );
}

export function forwardAnswer(binding: ForwardBinding, { retracted, next, hasMore }: ForwardPage) {
  return {
    next_before: null,
    prev_after: mintChangesCursor(binding.keys, binding.scope, next),
    retracted: retracted.map(({ chain, txHash, logIndex }) => ({
      chain,
      tx_hash: txHash,
      log_index: logIndex,
    })),
    has_more: hasMore,
  };
}

/** For a page that was read after the horizon. */
export function prevAfter(
  { keys, scope, byGrade }: ForwardBinding,
  finality: FinalityFilter,
  horizon: Pick<Horizon, 'complete'>,
): string | null {
  if (byGrade || finality === 'finalized') return null;
  return mintChangesCursor(keys, scope, { from: horizon.complete, window: undefined });
}
