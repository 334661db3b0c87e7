import type { Writer } from '../../clickhouse/engine/engine.ts';
import type { Config } from '../../core/config/config.ts';
import type { Log } from '../../core/log.ts';
import { countActivity } from '../../ingest/endpoints/activity.ts';
import { offerTokens, readItem } from '../../ingest/endpoints/item.ts';
import { deriveList } from '../../ingest/endpoints/list.ts';
import { type OfferRow, offerRow, saveOffers } from '../../ingest/endpoints/offers.ts';
import { configuredSources } from '../../ingest/endpoints/sources.ts';
import type { EndpointSource } from '../../ingest/endpoints/sync.ts';
import { createSafeFetcher } from '../../ingest/fetch/safe-fetch.ts';
import { createCatalogueSources } from '../../ingest/grading/sources.ts';
import type { Versions } from '../../ingest/write/versions.ts';

interface ListingDeps {
  readonly config: Config;
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** The sources of endpoints in the configuration of the demo. */
export function listingSources({ config, log }: Pick<ListingDeps, 'config' | 'log'>): EndpointSource[] {
  const catalogue = createCatalogueSources(config, log);
  catalogue.read([]);
  const fetcher = createSafeFetcher({ settings: config.identities, log });
  const sources = configuredSources(catalogue.listings, { fetcher, contested: () => [] })();
  if (sources === null) throw new Error('the catalogue of the demo cannot be read');
  return sources;
}

/**
 * Backdates the present listings to `since` (Unix seconds), as an index that ran then would have stored them: otherwise
 * no payment of the sample history could belong to an offer. Ingest must have read the sources before; it keeps the older time.
 */
export async function listSince(deps: ListingDeps, since: number): Promise<void> {
  const { config, writer, versions } = deps;
  for (const source of listingSources(deps)) {
    const rows = await offersOf(source, deps);
    const seen = rows.map((row) => ({ row, firstSeen: since, termsSince: since }));
    await saveOffers(writer, seen, versions.next());
  }
  const chains = config.chains.map(({ chain }) => chain);
  await countActivity(writer, { chains, nowMs: Date.now(), ver: versions.next() });
  await deriveList(writer, () => versions.next());
}

/** An offer that is listed twice counts as it stands first. */
async function offersOf(source: EndpointSource, { config, signal }: ListingDeps): Promise<OfferRow[]> {
  const facts = {
    tokens: offerTokens(config),
    nowSeconds: Math.floor(Date.now() / 1_000),
    ...(source.origin === undefined ? {} : { origin: source.origin }),
  };
  const rows = new Map<string, OfferRow>();
  const { problem } = await source.read(async (items) => {
    for (const item of items)
      for (const offer of readItem(item, facts)) {
        const row = offerRow(source.id, offer);
        if (!rows.has(row.offerId)) rows.set(row.offerId, row);
      }
  }, signal);
  if (problem !== null) throw new Error(`${source.id} cannot be read: ${problem}`);
  return [...rows.values()];
}
