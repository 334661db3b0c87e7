import { readFile } from 'node:fs/promises';
import { UserError } from '../../../core/user-error.ts';
import { type PublicKey, readKeySet } from '../keys.ts';
import type { Entry } from '../manifest.ts';
import type { ParquetRows } from '../parquet.ts';
import type { RowValues } from '../rows.ts';
import { dayAfter, isBundleTable } from '../tables.ts';
import { type Api, openApi, PAGE_ROWS } from './api.ts';
import { type Difference, firstDifference } from './compare.ts';
import {
  type Days,
  fileProblem,
  findBundles,
  type LocalBundle,
  manifestProblems,
  openEntry,
  wantedEntries,
} from './local.ts';

/** `settlement-index verify`: everything that is wrong with bundles, and the first row that an API has otherwise in each span of days. */

export interface VerifyDeps {
  readonly signal: AbortSignal;
  say(line: string): void;
  /** Of the days to be checked. */
  progress(total: number): { add(more: number): void };
}

export interface VerifyOrder extends Days {
  readonly path: string;
  /** Null: nothing is compared. */
  readonly url: string | null;
  readonly key: string | null;
  /** A file with the keys that the service published; null: the keys of `url`, or none. */
  readonly keysFile: string | null;
}

export interface Problem {
  readonly chain: string;
  readonly table: string;
  /** Null for a fault of the manifest. */
  readonly day: string | null;
  readonly detail: string;
  /** Present where the API has the day otherwise. */
  readonly difference?: Difference;
}

export interface Verified {
  readonly manifests: number;
  readonly days: number;
  readonly rows: number;
  /** Whether the signatures are by keys that the service publishes; null where those are not known. */
  readonly isKeyKnown: boolean | null;
  readonly signedBy: readonly string[];
  readonly problems: readonly Problem[];
}

/** Throws `UserError` for what must be corrected to check at all. */
export async function verifyBundles(deps: VerifyDeps, order: VerifyOrder): Promise<Verified> {
  const bundles = await findBundles(order.path);
  const { signal, say } = deps;
  const api = order.url === null ? null : openApi({ url: order.url, key: order.key, signal, say });
  try {
    const trusted = await trustedKeys(order, api);
    return await verifyAll(deps, { bundles, api, trusted, days: order });
  } finally {
    await api?.close();
  }
}

async function trustedKeys(
  { keysFile, url }: VerifyOrder,
  api: Api | null,
): Promise<readonly PublicKey[] | null> {
  if (keysFile !== null) {
    const keys = readKeySet(parsed(await readFile(keysFile, 'utf8').catch(() => '')));
    if (keys === null) throw new UserError(`${keysFile} is no JSON Web Key set of Ed25519 keys`);
    return keys;
  }
  if (api === null) return null;
  const keys = await api.keys();
  if (keys === null) throw new UserError(`${url ?? ''} publishes no keys of bundles`);
  return keys;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function verifyAll(
  deps: VerifyDeps,
  {
    bundles,
    api,
    trusted,
    days,
  }: {
    readonly bundles: readonly LocalBundle[];
    readonly api: Api | null;
    readonly trusted: readonly PublicKey[] | null;
    readonly days: Days;
  },
): Promise<Verified> {
  const problems: Problem[] = [];
  const work = bundles.map((bundle) => ({ bundle, entries: wantedEntries(bundle, days) }));
  const progress = deps.progress(
    work.reduce((sum, { entries }) => sum + entries.length, 0) * (api === null ? 1 : 2),
  );
  const found = (bundle: LocalBundle, day: string | null, detail: string, difference?: Difference): void => {
    const { chain, table } = bundle.manifest;
    problems.push({ chain, table, day, detail, ...(difference === undefined ? {} : { difference }) });
  };
  let rows = 0;
  for (const { bundle, entries } of work) {
    for (const detail of manifestProblems(bundle, trusted)) found(bundle, null, detail);
    const good: Entry[] = [];
    for (const entry of entries) {
      deps.signal.throwIfAborted();
      const detail = await fileProblem(bundle, entry);
      if (detail === null) good.push(entry);
      else found(bundle, entry.day, detail);
      rows += entry.rows;
      progress.add(1);
    }
    if (api === null) continue;
    for (const span of spansOf(good)) {
      deps.signal.throwIfAborted();
      const difference = await compareSpan(bundle, span, api);
      if (difference !== null) found(bundle, difference.day, spellDifference(difference), difference);
      progress.add(span.length);
    }
  }
  return {
    manifests: bundles.length,
    days: work.reduce((sum, { entries }) => sum + entries.length, 0),
    rows,
    isKeyKnown:
      trusted === null ? null : !problems.some(({ detail }) => detail.startsWith('the signature is by')),
    signedBy: [...new Set(bundles.map(({ manifest }) => manifest.signature.key))],
    problems,
  };
}

/** Days in a row that one query can answer together: an API limits queries a minute, and each costs a unit. */
function spansOf(entries: readonly Entry[]): Entry[][] {
  const spans: Entry[][] = [];
  let rows = 0;
  for (const entry of entries) {
    const last = spans.at(-1);
    const isNext = last !== undefined && dayAfter(last.at(-1)?.day ?? '') === entry.day;
    rows = isNext ? rows + entry.rows : entry.rows;
    if (isNext && rows < PAGE_ROWS) last.push(entry);
    else {
      spans.push([entry]);
      rows = entry.rows;
    }
  }
  return spans;
}

/** The first row of the days that differs. Files of one span may have been made when the table had fewer columns: each by itself then. */
async function compareSpan(
  bundle: LocalBundle,
  span: readonly Entry[],
  api: Api,
): Promise<Difference | null> {
  const { chain, table } = bundle.manifest;
  const [first] = span;
  if (first === undefined || !isBundleTable(table)) return null; // of an unknown table no file was good
  const opened = await Promise.all(span.map((entry) => openEntry(bundle, entry)));
  const names = new Set(opened.map(({ columns }) => columns.map(({ name }) => name).join()));
  if (names.size > 1) {
    for (const entry of span) {
      const difference = await compareSpan(bundle, [entry], api);
      if (difference !== null) return difference;
    }
    return null;
  }
  const columns = opened[0]?.columns ?? [];
  const of = { table, chain, since: first.day, until: span.at(-1)?.day ?? first.day };
  return firstDifference({ table, columns, bundle: inTurn(opened), api: api.rows(of, columns) });
}

async function* inTurn(files: readonly ParquetRows[]): AsyncGenerator<RowValues> {
  for (const { rows } of files) yield* rows();
}

function spellDifference({ row, column, bundle, api }: Difference): string {
  const named = row.map(([name, value]) => `${name} ${value}`).join(', ');
  if (bundle === null) return `the row ${named} is at the API and not in the bundle`;
  if (api === null) return `the row ${named} is in the bundle and not at the API`;
  return `the row ${named} differs in ${column ?? ''}: ${bundle} in the bundle, ${api} at the API`;
}
