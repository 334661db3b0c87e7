import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { sql, uint32 } from '../../../clickhouse/engine/sql.ts';
import type { Clock } from '../../../core/clock.ts';
import { UNREAD_CODES, type UnreadReason } from '../../../core/domain/unread-items.ts';
import { ask, cached } from '../ask.ts';
import type { OperationDeps } from '../deps.ts';

export interface EndpointDeps extends OperationDeps {
  readonly endpointSources: EndpointSources;
}

/** The last answer of each source of endpoints, and whether its list may be outdated. */
export interface EndpointSources {
  /** At most a second old, by name. */
  states(): Promise<readonly EndpointSourceState[]>;
}

export type EndpointSourceKind = 'bazaar' | 'well_known' | 'file';

/** A source that the operator configured. */
export interface ConfiguredSourceState extends EndpointSourceState {
  readonly kind: EndpointSourceKind;
}

export interface EndpointSourceState {
  readonly source: string;
  readonly kind: EndpointSourceKind | 'contested';
  /** '' for the catalogue file. */
  readonly host: string;
  /** Unix seconds. */
  readonly triedAt: number;
  /** Unix seconds of the last reading to the end; null without one. */
  readonly goodAt: number | null;
  /** '' when the last reading was good. */
  readonly problem: string;
  /** Offers that the last reading saw. */
  readonly items: number;
  /** Items that it did not read. */
  readonly unread: readonly { readonly reason: UnreadReason; readonly items: number }[];
}

/** Sources are read every hour, and a long list takes some time. */
const SOURCE_STALE_AFTER_SECONDS = 10_800;

const MAX_AGE_MS = 1_000;
const MAX_SECONDS = 5;
/** Beyond any configuration that a person writes. */
const SOURCES_MAX = 1_000;

export function createEndpointSources(deps: {
  readonly reader: Reader;
  readonly clock: Clock;
}): EndpointSources {
  return { states: cached({ clock: deps.clock, maxAgeMs: MAX_AGE_MS, load: () => readStates(deps.reader) }) };
}

async function readStates(reader: Reader): Promise<readonly EndpointSourceState[]> {
  const { rows } = await ask(reader, 'endpoints', {
    name: 'endpoint-sources',
    maxSeconds: MAX_SECONDS,
    maxRows: SOURCES_MAX,
    sql: sql`SELECT source, toString(kind), host, toUnixTimestamp(tried_at), toUnixTimestamp(good_at), problem, items, unread
      FROM endpoint_sources FINAL WHERE del = 0 ORDER BY source LIMIT ${uint32(SOURCES_MAX)}`,
  });
  return rows.map((row) => {
    const goodAt = integerField(row[4]);
    return {
      source: textField(row[0]),
      kind: textField(row[1]) as EndpointSourceState['kind'], // an Enum8 of the table
      host: textField(row[2]),
      triedAt: integerField(row[3]),
      goodAt: goodAt === 0 ? null : goodAt,
      problem: textField(row[5]),
      items: integerField(row[6]),
      unread: unreadField(textField(row[7])),
    };
  });
}

/** JSON that ingest wrote from the closed list of reasons; '' in a row of an earlier release. */
function unreadField(json: string): EndpointSourceState['unread'] {
  const counts = json === '' ? {} : (JSON.parse(json) as Partial<Record<UnreadReason, number>>);
  return UNREAD_CODES.flatMap((reason) => {
    const items = counts[reason] ?? 0;
    return items === 0 ? [] : [{ reason, items }];
  });
}

/** Without contested origins: strangers name them, and it means nothing for the directory when one of them is down. */
export function configuredOf(states: readonly EndpointSourceState[]): ConfiguredSourceState[] {
  return states.filter((state): state is ConfiguredSourceState => state.kind !== 'contested');
}

/** Whether the source is a facilitator that never published a list: it has nothing that could be outdated. */
function listsNothing({ problem, goodAt }: EndpointSourceState): boolean {
  return problem === 'no_listing' && goodAt === null;
}

export function isSourceStale(state: EndpointSourceState, nowMs: number): boolean {
  if (listsNothing(state)) return false;
  if (state.problem !== '' || state.goodAt === null) return true;
  return nowMs / 1_000 - state.goodAt > SOURCE_STALE_AFTER_SECONDS;
}

/** Also true when no source was ever read: the directory is then empty for that reason alone. */
export function isCatalogueStale(states: readonly EndpointSourceState[], nowMs: number): boolean {
  const configured = configuredOf(states);
  return configured.every(listsNothing) || configured.some((state) => isSourceStale(state, nowMs));
}
