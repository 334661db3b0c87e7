import type { Writer } from '../../clickhouse/engine/engine.ts';
import type { Settlement } from '../../clickhouse/tables/settlements.ts';
import { loadConfig } from '../../core/config/load.ts';
import { address } from '../../core/domain/account.ts';
import { countActivity, recordCount } from '../../ingest/endpoints/activity.ts';
import { offerTokens } from '../../ingest/endpoints/item.ts';
import { deriveList, WHOLE } from '../../ingest/endpoints/list.ts';
import { syncSource } from '../../ingest/endpoints/sync.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { BASE_USDC } from './bazaar.ts';
import { testLog } from './engine.ts';
import { BASE, NOON, POLYGON, SOLANA, settlement } from './rows.ts';

/** The endpoint directory, filled as ingest fills it, at times that a test chooses. */
export interface Listings {
  /** Reads a source to its end, at a time in Unix seconds. An origin makes it the file of that origin. */
  list(source: string, items: readonly unknown[], at?: number): Promise<void>;
  /** Counts activity and derives the directory, as of a time in Unix seconds. */
  derive(at?: number): Promise<void>;
}

export function testListings(writer: Writer): Listings {
  const versions = createVersions(0n);
  const tokens = offerTokens(loadConfig({ env: {} }));
  const { signal } = new AbortController();
  const WELL_KNOWN = 'well_known:';
  return {
    async list(id, items, at = NOON) {
      const deps = { writer, versions, tokens, nowMs: () => at * 1_000, log: testLog, signal };
      const read = (take: (some: readonly unknown[]) => Promise<void>) => take(items).then(() => WHOLE);
      const isOwn = id.startsWith(WELL_KNOWN);
      const source = { id, kind: isOwn ? 'well_known' : 'bazaar', host: '', mark: '', read } as const;
      await syncSource(deps, isOwn ? { ...source, origin: id.slice(WELL_KNOWN.length) } : source);
    },
    async derive(at = NOON) {
      await countActivity(writer, {
        chains: [BASE, POLYGON, SOLANA],
        nowMs: at * 1_000,
        ver: versions.next(),
      });
      await deriveList(writer, () => versions.next());
      await recordCount(writer, { nowMs: at * 1_000, ver: versions.next() });
    },
  };
}

let nextBlock = 5_000;

/** A payment in Base's USDC that a named facilitator relayed, in a block of its own. */
export function payment(fields: Partial<Settlement> = {}): Settlement {
  nextBlock += 1;
  const amount = fields.amount ?? 10_000n;
  return settlement({
    blockNumber: nextBlock,
    asset: address(BASE_USDC),
    method: 'facilitator_relay',
    amountUsdMicros: amount,
    ...fields,
    amount,
  });
}
