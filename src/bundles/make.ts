import type { EngineAccess, Reader } from '../../clickhouse/engine/engine.ts';
import { createReader } from '../../clickhouse/engine/http-engine.ts';
import { createExporter, type Exporter } from '../../clickhouse/guest/export.ts';
import { type PublicFacts, publicFacts } from '../../clickhouse/guest/views/facts.ts';
import type { Config } from '../../core/config/config.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { loadBundleSeeds } from '../../core/secret-file.ts';
import { UserError } from '../../core/user-error.ts';
import { exportText } from '../../sandbox/run/export-text.ts';
import {
  type ChainProgress,
  cataloguePass,
  type Fingerprints,
  finalDays,
  readFingerprints,
} from './final-days.ts';
import { type SigningKey, signingKey } from './keys.ts';
import { lockBundles } from './lock.ts';
import {
  appended,
  type BundleOf,
  type Entry,
  fileOf,
  MANIFEST_FILE,
  manifestFaults,
  manifestText,
  newestOf,
  nextRevision,
  parseManifest,
  signed,
} from './manifest.ts';
import { openParquet } from './parquet.ts';
import { rowsHash } from './rows.ts';
import type { BundleStore, Draft } from './store.ts';
import { type BundleTable, bundleColumns, daysSelect, fileType } from './tables.ts';

/**
 * Makes the missing bundles and a new revision of each day whose rows changed. A file has its name before the manifest
 * names it, and the manifest is replaced whole, so a run that is killed anywhere leaves bundles that are whole: the next one goes on.
 */

export interface MakeDeps {
  readonly config: Pick<Config, 'bundles' | 'catalogue' | 'chains' | 'dataDir'>;
  readonly access: EngineAccess;
  readonly store: BundleStore;
  readonly signal: AbortSignal;
  readProgress(reader: Reader): Promise<ReadonlyMap<Chain, ChainProgress>>;
  say(line: string): void;
  /** Of the days to be read: how many there are, and that one more is done. */
  progress(total: number): { add(more: number): void };
}

export interface Made {
  /** Entries that were added to the manifests. */
  readonly files: number;
  /** The files among them that took the place of an older revision. */
  readonly revised: number;
  /** Days that were read again and had not changed. */
  readonly unchanged: number;
}

export interface BundleOrder {
  readonly chains: readonly Chain[];
  readonly tables: readonly BundleTable[];
}

const DAY_MAX_SECONDS = 1_800;
/** The manifest is written at least so often: a killed run loses no more days. */
const DAYS_PER_MANIFEST = 32;

interface Work extends MakeDeps {
  readonly reader: Reader;
  readonly exporter: Exporter;
  readonly key: SigningKey;
  readonly cataloguePass: number;
  readonly facts: PublicFacts;
}

export async function makeBundles(deps: MakeDeps, wanted: BundleOrder): Promise<Made> {
  const unlock = lockBundles(deps.config.bundles.dir);
  const reader = createReader(deps.access);
  const exporter = createExporter(deps.access);
  try {
    const { finished, isUnderWay } = await cataloguePass(reader);
    if (isUnderWay)
      throw new UserError(
        'rows are being regraded to a newer catalogue: run bundle again when that has ended',
      );
    const [seed] = loadBundleSeeds(deps.config, { make: true });
    if (seed === undefined) throw new Error('no key was made');
    const facts = publicFacts(deps.config);
    const work: Work = { ...deps, reader, exporter, key: signingKey(seed), cataloguePass: finished, facts };
    return await makeAll(work, await planOf(work, wanted));
  } finally {
    await reader.close();
    exporter.close();
    unlock();
  }
}

/** One table of one chain, and what must be read for it. */
interface TablePlan extends BundleOf {
  readonly chain: Chain;
  readonly table: BundleTable;
  readonly finalizedBlock: number;
  readonly entries: readonly Entry[];
  readonly isNewlySigned: boolean;
  readonly known: Readonly<Record<string, string>>;
  /** Oldest first. */
  readonly days: readonly { readonly day: string; readonly fingerprint: string }[];
}

async function planOf(work: Work, { chains, tables }: BundleOrder): Promise<TablePlan[]> {
  const statuses = await work.readProgress(work.reader);
  const plans: TablePlan[] = [];
  for (const chain of chains) {
    const found = await finalDays(work.reader, chain, statuses.get(chain));
    if ('reason' in found) {
      work.say(`${chain}: no bundles, because ${found.reason}`);
      continue;
    }
    // Before any row is read: the next run sees rows that are written during this one.
    const fingerprints = await readFingerprints(work.reader, chain, work.facts);
    for (const table of tables)
      plans.push(await planTable(work, { chain, table }, { ...found, fingerprints }));
  }
  return plans;
}

async function planTable(
  { store, key }: Work,
  of: { readonly chain: Chain; readonly table: BundleTable },
  found: {
    readonly days: readonly string[];
    readonly finalizedBlock: number;
    readonly fingerprints: Fingerprints;
  },
): Promise<TablePlan> {
  await store.sweep(of);
  const { entries, signedWith } = await readEntries(store, of);
  const known = await readKnown(store, of);
  const made = new Set(entries.map(({ day }) => day));
  const days = found.days
    .map((day) => ({ day, fingerprint: found.fingerprints.of(of.table, day) }))
    .filter(({ day, fingerprint }) => !made.has(day) || known[day] !== fingerprint);
  const isNewlySigned = entries.length > 0 && signedWith !== key.publicKey.kid;
  return { ...of, finalizedBlock: found.finalizedBlock, entries, isNewlySigned, known, days };
}

/** Throws `UserError` for a manifest that was changed after it was written: an entry added to it would vouch for the change. */
async function readEntries(
  store: BundleStore,
  of: BundleOf,
): Promise<{ readonly entries: readonly Entry[]; readonly signedWith: string | null }> {
  const text = await store.readText({ ...of, file: MANIFEST_FILE });
  if (text === null) return { entries: [], signedWith: null };
  const manifest = parseManifest(text);
  const faults =
    manifest === null
      ? [`it is no manifest of this version`]
      : [...manifestFaults(manifest), ...ofAnother(manifest, of)];
  if (manifest === null || faults.length > 0)
    throw new UserError(
      `the manifest of ${of.table} of ${of.chain} is damaged: ${faults[0] ?? ''}. Put back a copy, or remove its folder to begin anew`,
    );
  return { entries: manifest.entries, signedWith: manifest.signature.key };
}

function ofAnother(manifest: BundleOf, { chain, table }: BundleOf): string[] {
  return manifest.chain === chain && manifest.table === table
    ? []
    : [`it is that of ${manifest.table} of ${manifest.chain}`];
}

/** By day, the fingerprint of the rows that the newest file was made from. Not signed and not needed: without it all days are read. */
const KNOWN_FILE = 'fingerprints.json';

async function readKnown(store: BundleStore, of: BundleOf): Promise<Record<string, string>> {
  const text = await store.readText({ ...of, file: KNOWN_FILE });
  try {
    const found: unknown = JSON.parse(text ?? '{}');
    return typeof found === 'object' && found !== null ? (found as Record<string, string>) : {}; // compared with texts only
  } catch {
    return {};
  }
}

async function makeAll(work: Work, plans: readonly TablePlan[]): Promise<Made> {
  const progress = work.progress(plans.reduce((sum, { days }) => sum + days.length, 0));
  const made = { files: 0, revised: 0, unchanged: 0 };
  for (const plan of plans) {
    const before = { ...made };
    await makeTable(work, plan, { made, progress });
    const [files, revised] = [made.files - before.files, made.revised - before.revised];
    if (files > 0)
      work.say(`${plan.chain} ${plan.table}: ${files} files made, ${revised} of them new revisions`);
  }
  return made;
}

interface Tally {
  readonly made: { files: number; revised: number; unchanged: number };
  readonly progress: { add(more: number): void };
}

async function makeTable(work: Work, plan: TablePlan, { made, progress }: Tally): Promise<void> {
  let { entries } = plan;
  const known = { ...plan.known };
  let unwritten = 0;
  const write = async (): Promise<void> => {
    await work.store.writeText(
      { ...plan, file: MANIFEST_FILE },
      manifestText(signed(plan, entries, work.key)),
    );
    await work.store.writeText({ ...plan, file: KNOWN_FILE }, `${JSON.stringify(sortedByDay(known))}\n`);
    unwritten = 0;
  };
  for (const { day, fingerprint } of plan.days) {
    work.signal.throwIfAborted();
    const added = await makeDay(work, plan, { day, entries });
    if (added === null) made.unchanged += 1;
    else {
      made.files += 1;
      made.revised += added.at(-1)?.revision === 1 ? 0 : 1;
      entries = added;
    }
    known[day] = fingerprint;
    unwritten += 1;
    progress.add(1);
    if (unwritten === DAYS_PER_MANIFEST) await write();
  }
  if (unwritten > 0 || plan.isNewlySigned) await write();
}

function sortedByDay(known: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(known).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The entries with one more; null where the newest file has the same rows. */
async function makeDay(
  { store, exporter, cataloguePass, signal }: Work,
  { chain, table, finalizedBlock }: TablePlan,
  { day, entries }: { readonly day: string; readonly entries: readonly Entry[] },
): Promise<Entry[] | null> {
  const body = await exporter.parquet(
    { name: 'bundle-day', text: dayText({ chain, table, day }), maxSeconds: DAY_MAX_SECONDS },
    signal,
  );
  const draft = await store.draft({ chain, table }, body);
  try {
    const { rows, digest } = await hashOf(draft, table);
    if (newestOf(entries, day)?.rows_sha256 === digest) {
      await draft.discard();
      return null;
    }
    const file = fileOf(day, nextRevision(entries, day));
    await draft.keep(file);
    const { bytes, sha256 } = draft;
    const snapshot = { finalized_block: finalizedBlock, catalogue_pass: cataloguePass };
    return appended({ chain, table }, entries, {
      day,
      file,
      rows,
      bytes,
      sha256,
      rows_sha256: digest,
      snapshot,
    });
  } catch (error) {
    await draft.discard();
    throw error;
  }
}

/** In the types that exports have: wide amounts as Decimal(38, 0), times as timestamps. */
export function dayText(of: {
  readonly chain: Chain;
  readonly table: BundleTable;
  readonly day: string;
}): string {
  const columns = bundleColumns(of.table);
  const text = daysSelect(
    { ...of, since: of.day, until: of.day },
    { columns: columns.map(({ name }) => name) },
  );
  const described = columns.map((column) => ({ name: column.name, type: fileType(column) }));
  return exportText(text, described, { format: 'parquet', numbers: 'native' });
}

/** Of the rows as a reader of the file finds them. */
async function hashOf(
  draft: Draft,
  table: BundleTable,
): Promise<{ readonly rows: number; readonly digest: string }> {
  const { columns, rows } = await openParquet(draft.content, table);
  const hash = rowsHash(columns.map(({ name }) => name));
  for await (const row of rows()) hash.add(row);
  return { rows: hash.rows, digest: hash.digest() };
}
