import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql } from '../../clickhouse/engine/sql.ts';
import { ENDPOINT_SOURCES, type EndpointSourceRow } from '../../clickhouse/tables/endpoints.ts';
import { insertRows, reading } from '../../clickhouse/tables/table.ts';
import type { FetchProblem } from '../fetch/document.ts';
import type { AskProblem } from '../fetch/facilitator.ts';

/** A listing as it is being read: what a source publishes, handed on piece by piece, and how the reading ended. */

/** What the reading of a list can end with, in addition to what the request can. */
export const LISTING_PROBLEMS = {
  no_listing: 'The host answers, and publishes no list.',
  not_json: 'The answer is no JSON.',
  not_a_list: 'The answer holds no list of resources.',
  ended_early: 'The list ended before the number of resources that it states.',
  repeats_itself: 'A page came a second time: the host does not turn pages.',
  too_many_items: 'The list is longer than is read.',
} as const;

/** Why a source was not read to its end; a code that may be stored, logged and shown. */
export type ListingProblem = keyof typeof LISTING_PROBLEMS | AskProblem | FetchProblem;

export interface ListingOutcome {
  /** Null for a source that answered to the end. */
  readonly problem: ListingProblem | null;
  /** Whether everything that it lists was seen: only then may anything be missed. */
  readonly isWhole: boolean;
}

/** Takes items in the order of the listing; resolves when they are safe, so that no more than a page is ever held. */
export type TakeItems = (items: readonly unknown[]) => Promise<void>;

export function partly(problem: ListingProblem): ListingOutcome {
  return { problem, isWhole: false };
}

export const WHOLE: ListingOutcome = { problem: null, isWhole: true };

/** Table `endpoint_sources`: how each source answered last. */

const MAX_SECONDS = 30;
const SOURCES_MAX = 100_000;

export type SourceKind = EndpointSourceRow['kind'];
const SOURCE_KINDS: readonly SourceKind[] = ['bazaar', 'well_known', 'file'];

export interface SourceState extends Omit<EndpointSourceRow, 'problem' | 'ver' | 'del'> {
  /** Null for a last reading that was good. */
  readonly problem: ListingProblem | null;
}

const STATE = reading(ENDPOINT_SOURCES, [
  'source',
  'kind',
  'host',
  'tried_at',
  'good_at',
  'problem',
  'items',
]);

/** Also of sources whose first reading was cut off before its state was stored: their offers must be removed like others. */
export async function loadSourceStates(writer: Writer): Promise<SourceState[]> {
  const stored = await readStates(writer);
  const { rows } = await writer.rows({
    name: 'endpoint-sources-without-state',
    sql: sql`SELECT DISTINCT source FROM endpoint_offers FINAL
      WHERE del = 0 AND source NOT IN (SELECT source FROM endpoint_sources FINAL WHERE del = 0)`,
    maxSeconds: MAX_SECONDS,
    maxRows: SOURCES_MAX,
  });
  return [...stored, ...rows.map(([source]) => neverRead(String(source)))];
}

function neverRead(source: string): SourceState {
  const kind = SOURCE_KINDS.find((known) => source === known || source.startsWith(`${known}:`)) ?? 'file';
  return { source, kind, host: '', triedAt: 0, goodAt: 0, problem: null, items: 0 };
}

async function readStates(writer: Writer): Promise<SourceState[]> {
  const { rows } = await writer.rows({
    name: 'endpoint-sources-load',
    sql: sql`SELECT ${STATE.columns} FROM endpoint_sources FINAL WHERE del = 0 ORDER BY source`,
    maxSeconds: MAX_SECONDS,
    maxRows: SOURCES_MAX,
  });
  return rows.map((row) => {
    const state = STATE.read(row);
    const problem = state.problem === '' ? null : (state.problem as ListingProblem); // decoder of our own column
    return { ...state, problem };
  });
}

export function saveSourceState(
  writer: Writer,
  state: SourceState,
  { ver, isGone }: { readonly ver: bigint; readonly isGone: boolean },
): Promise<void> {
  return insertRows(writer, {
    name: 'endpoint-sources-save',
    table: ENDPOINT_SOURCES,
    rows: [{ ...state, problem: state.problem ?? '' }],
    fixed: { ver, del: isGone ? 1 : 0 },
  });
}
