import type { Writer } from '../../clickhouse/engine/engine.ts';
import { RowBinary } from '../../clickhouse/engine/row-binary.ts';
import { sql } from '../../clickhouse/engine/sql.ts';
import { ENDPOINT_SOURCE_COLUMNS, TABLES } from '../../clickhouse/tables/schema.ts';
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

/** Codes of the Enum8. */
const KIND_CODES = { bazaar: 1, well_known: 2, file: 3, contested: 4 } as const;
export type SourceKind = keyof typeof KIND_CODES;
const SOURCE_KINDS: readonly SourceKind[] = ['bazaar', 'well_known', 'file'];

export interface SourceState {
  readonly source: string;
  readonly kind: SourceKind;
  readonly host: string;
  /** Unix seconds. */
  readonly triedAt: number;
  /** Unix seconds of the last reading to the end; 0 without one. */
  readonly goodAt: number;
  /** Null for a last reading that was good. */
  readonly problem: ListingProblem | null;
  /** Offers that the last reading saw. */
  readonly items: number;
}

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
    sql: sql`SELECT source, toString(kind), host, toUnixTimestamp(tried_at), toUnixTimestamp(good_at), problem, items
      FROM endpoint_sources FINAL WHERE del = 0 ORDER BY source`,
    maxSeconds: MAX_SECONDS,
    maxRows: SOURCES_MAX,
  });
  return rows.map(([source, kind, host, triedAt, goodAt, problem, items]) => ({
    source: String(source),
    kind: String(kind) as SourceKind, // decoder of our own column
    host: String(host),
    triedAt: Number(triedAt),
    goodAt: Number(goodAt),
    problem: problem === '' ? null : (String(problem) as ListingProblem), // decoder of our own column
    items: Number(items),
  }));
}

export async function saveSourceState(
  writer: Writer,
  state: SourceState,
  { ver, isGone }: { readonly ver: bigint; readonly isGone: boolean },
): Promise<void> {
  const out = new RowBinary().string(state.source).u8(KIND_CODES[state.kind]).string(state.host);
  out
    .dateTime(state.triedAt)
    .dateTime(state.goodAt)
    .string(state.problem ?? '')
    .u64(state.items);
  out.u64(ver).u8(isGone ? 1 : 0);
  await writer.insert('endpoint-sources-save', TABLES.endpointSources, ENDPOINT_SOURCE_COLUMNS, [
    out.finish(),
  ]);
}
