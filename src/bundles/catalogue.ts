import type { Clock } from '../../core/clock.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { currentEntries, type Entry, MANIFEST_FILE, type Manifest, parseManifest } from './manifest.ts';
import type { BundleStore, StoredFile } from './store.ts';
import { BUNDLE_TABLE_NAMES, type BundleTable } from './tables.ts';

/** The bundles that are served: what the manifests name and nothing else that lies in the store. */

export interface BundleCatalogue {
  /** Of all served chains. A chain or table without a manifest is left out. */
  all(): Promise<readonly CataloguedTable[]>;
  /** Null where there is no manifest. */
  of(chain: Chain, table: BundleTable): Promise<CataloguedTable | null>;
  /** Null where the file is gone. `file` is that of an entry, or the manifest. */
  open(of: CataloguedTable, file: string): Promise<StoredFile | null>;
}

export interface CataloguedTable {
  readonly chain: Chain;
  readonly table: BundleTable;
  readonly manifest: Manifest;
  /** The entry that counts for each day, newest day first. */
  readonly current: readonly Entry[];
}

/** A run of `bundle` takes minutes: a list that is a second old is current. */
const MAX_AGE_MS = 1_000;

interface Kept {
  readonly stamp: string | null;
  readonly value: CataloguedTable | null;
}

export function createBundleCatalogue({
  store,
  chains,
  clock,
}: {
  readonly store: BundleStore;
  readonly chains: readonly Chain[];
  readonly clock: Clock;
}): BundleCatalogue {
  const kept = new Map<string, { readonly atMs: number; readonly read: Promise<Kept> }>();
  const of = async (chain: Chain, table: BundleTable): Promise<CataloguedTable | null> => {
    const name = `${chain} ${table}`;
    const before = kept.get(name);
    if (before !== undefined && Math.abs(clock.nowMs() - before.atMs) < MAX_AGE_MS)
      return (await before.read).value;
    const read =
      before === undefined
        ? renew(store, { chain, table }, null)
        : before.read.then((last) => renew(store, { chain, table }, last));
    kept.set(name, { atMs: clock.nowMs(), read });
    // A read that failed is not kept: the next caller reads again.
    read.catch(() => kept.delete(name));
    return (await read).value;
  };
  return {
    of,
    async all() {
      const tables = chains.flatMap((chain) => BUNDLE_TABLE_NAMES.map((table) => of(chain, table)));
      return (await Promise.all(tables)).filter((found) => found !== null);
    },
    open: ({ chain, table }, file) => store.open({ chain, table, file }),
  };
}

/** Parses a manifest only where it changed. One that is damaged is as none: `bundle` says so to the operator. */
async function renew(
  store: BundleStore,
  of: { readonly chain: Chain; readonly table: BundleTable },
  last: Kept | null,
): Promise<Kept> {
  const name = { ...of, file: MANIFEST_FILE };
  const stamp = await store.stamp(name);
  if (last !== null && last.stamp === stamp) return last;
  const text = stamp === null ? null : await store.readText(name);
  const manifest = text === null ? null : parseManifest(text);
  const isOurs = manifest?.chain === of.chain && manifest.table === of.table;
  if (manifest === null || !isOurs) return { stamp, value: null };
  return { stamp, value: { ...of, manifest, current: currentEntries(manifest.entries).reverse() } };
}
