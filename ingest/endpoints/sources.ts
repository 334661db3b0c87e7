import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql, uint32 } from '../../clickhouse/engine/sql.ts';
import type { FacilitatorConfig } from '../../core/config/catalogue.ts';
import { providerName } from '../../core/log.ts';
import { type DocumentFetcher, fieldOf, isObject, parseJson } from '../fetch/document.ts';
import { BAZAAR_LIMITS, type BazaarLimits, readBazaar } from './bazaar.ts';
import { type ListingOutcome, partly, type TakeItems, WHOLE } from './list.ts';
import { ORIGIN } from './offers.ts';
import type { EndpointSource } from './sync.ts';

/** The endpoint settings of the configuration and the catalogue file, as of their last successful reading. */
export interface Listings {
  readonly facilitators: readonly Pick<FacilitatorConfig, 'id' | 'url'>[];
  /** Origins whose /.well-known/x402 is read. */
  readonly wellKnown: readonly string[];
  /** Items of the catalogue file: the same array until it is read again; null without a file. */
  readonly endpoints: readonly unknown[] | null;
}

interface SourceTools {
  readonly fetcher: DocumentFetcher;
  readonly bazaarLimits?: Partial<BazaarLimits>;
  /** Current contested origins; the files of unconfigured ones are read too. */
  readonly contested: () => readonly ContestedOrigin[];
}

/**
 * Every source of endpoints, configured ones first; null until the configuration could be read. Of two facilitators with one id the
 * later one wins: the configuration comes after the file.
 */
export function configuredSources(
  listings: () => Listings | null,
  { fetcher, contested, ...tools }: SourceTools,
): () => EndpointSource[] | null {
  const limits = { ...BAZAAR_LIMITS, ...tools.bazaarLimits };
  const fileSource = createFileSource();
  return () => {
    const listed = listings();
    if (listed === null) return null;
    const sources = [
      ...listed.facilitators.flatMap(({ id, url }) =>
        url === undefined ? [] : bazaarSource(id, url, limits),
      ),
      ...listed.wellKnown.map((origin) => wellKnownSource(origin, fetcher)),
      ...(listed.endpoints === null ? [] : [fileSource(listed.endpoints)]),
    ];
    const byId = new Map(sources.map((source) => [source.id, source]));
    const open = contested().map((each) => contestedSource(each, fetcher));
    return [...byId.values(), ...open.filter(({ id }) => !byId.has(id))];
  };
}

function bazaarSource(id: string, url: string, limits: BazaarLimits): EndpointSource {
  return {
    id: `bazaar:${id}`,
    kind: 'bazaar',
    host: providerName(url),
    mark: url,
    read: (take, signal) => readBazaar(url, take, { limits, signal }),
  };
}

function wellKnownSource(origin: string, fetcher: DocumentFetcher): EndpointSource {
  return {
    id: `well_known:${origin}`,
    kind: 'well_known',
    host: providerName(origin),
    mark: origin,
    origin,
    read: (take, signal) => readWellKnown(origin, take, { fetcher, signal }),
  };
}

function contestedSource({ origin, resources }: ContestedOrigin, fetcher: DocumentFetcher): EndpointSource {
  return { ...wellKnownSource(origin, fetcher), kind: 'contested', resources };
}

function createFileSource(): (items: readonly unknown[]) => EndpointSource {
  let last: readonly unknown[] | null = null;
  let edition = 0;
  return (items) => {
    if (items !== last) edition++;
    last = items;
    return {
      id: 'file',
      kind: 'file',
      host: '',
      mark: String(edition),
      read: async (take) => {
        await take(items);
        return WHOLE;
      },
    };
  };
}

/** A seller's own listing at `/.well-known/x402`; one file, fetched like any untrusted document. */

/** A seller lists its own resources: hundreds, not hundreds of thousands. */
const FILE_MAX_BYTES = 4_000_000;
const ITEMS_MAX = 5_000;
/** No specification names the field of the list; these are in use. */
const LISTS = ['items', 'resources', 'endpoints', 'services', 'accepts'] as const;

export async function readWellKnown(
  origin: string,
  take: TakeItems,
  { fetcher, signal }: { readonly fetcher: DocumentFetcher; readonly signal: AbortSignal },
): Promise<ListingOutcome> {
  const file = await fetcher.fetch(`${origin}/.well-known/x402`, { maxBytes: FILE_MAX_BYTES, signal });
  if (!file.ok) return partly(file.problem);
  const body = parseJson(new TextDecoder().decode(file.bytes));
  if (body === undefined) return partly('not_json');
  const items = itemsOf(body);
  if (items === null) return partly('not_a_list');
  await take(items.slice(0, ITEMS_MAX));
  return items.length > ITEMS_MAX ? partly('too_many_items') : WHOLE;
}

/** Entries that are requirements themselves (`accepts` of a version 1 answer name their resource) become items of one offer. */
function itemsOf(body: unknown): readonly unknown[] | null {
  const list = Array.isArray(body) ? body : LISTS.map((name) => fieldOf(body, name)).find(Array.isArray);
  if (!Array.isArray(list)) return null;
  return list.map((item: unknown) =>
    isObject(item) && item['accepts'] === undefined && item['payTo'] !== undefined
      ? { ...item, accepts: [item] }
      : item,
  );
}

/**
 * Origins of resources that listings disagree about: their own /.well-known/x402 decides, so it is fetched. Any source can start a
 * contest by listing a URL, so these origins are untrusted and their number is bounded.
 */

/** Each is fetched at most once an hour. Four at a time with a timeout of ten seconds, all of them take at most a quarter of an hour. */
const ORIGINS_MAX = 300;
/** Contested resources of one origin; its file is read only for these. */
const RESOURCES_MAX = 1_000;
const MAX_SECONDS = 30;

export interface ContestedOrigin {
  readonly origin: string;
  readonly resources: ReadonlySet<string>;
}

/** Contested, or settled by what the domain publishes: without its file the resource would be contested again. */
const IS_OPEN = sql`(contested = 1 OR (JSONLength(claimants) > 1 AND NOT JSONExtractBool(claimants, 1, 'is_unpublished')))`;

/** Origins that have answered come first, so that new contests do not displace them; then those paid most. */
export async function loadContestedOrigins(writer: Writer): Promise<ContestedOrigin[]> {
  const { rows } = await writer.rows({
    name: 'endpoint-list-contested-origins',
    sql: sql`SELECT ${ORIGIN} AS origin, arraySort(groupUniqArray(${uint32(RESOURCES_MAX)})(resource))
      FROM endpoint_list FINAL WHERE del = 0 AND ${IS_OPEN} AND origin != ''
      GROUP BY origin ORDER BY max(is_published) DESC, max(settlement_count) DESC, origin LIMIT ${uint32(ORIGINS_MAX)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: ORIGINS_MAX,
  });
  return rows.map(([origin, resources]) => ({
    origin: String(origin),
    resources: new Set(Array.isArray(resources) ? resources.map(String) : []),
  }));
}
