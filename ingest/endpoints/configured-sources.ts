import type { FacilitatorConfig } from '../../core/config/config.ts';
import { providerName } from '../../core/log.ts';
import type { DocumentFetcher } from '../fetch/document-fetcher.ts';
import type { ContestedOrigin } from './contested-origins.ts';
import { WHOLE } from './listing.ts';
import { BAZAAR_LIMITS, type BazaarLimits, readBazaar } from './read-bazaar.ts';
import { readWellKnown } from './read-well-known.ts';
import type { EndpointSource } from './sync-source.ts';

/** What the configuration and the catalogue file say, as of their last successful reading. */
export interface Listings {
  readonly facilitators: readonly Pick<FacilitatorConfig, 'id' | 'url'>[];
  /** Origins whose /.well-known/x402 is read. */
  readonly wellKnown: readonly string[];
  /** Items of the catalogue file: the same list as long as nothing was read again; null where there is no file. */
  readonly endpoints: readonly unknown[] | null;
}

interface SourceTools {
  readonly fetcher: DocumentFetcher;
  readonly bazaarLimits?: Partial<BazaarLimits>;
  /** As they are now; the files of those that are not configured are read too. */
  readonly contested: () => readonly ContestedOrigin[];
}

/**
 * Every place to read endpoints from, configured ones first; null while nothing configured could be read. Of two facilitators with
 * one id the later one counts: the configuration stands behind the file.
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
