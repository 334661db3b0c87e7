import { readdir, stat } from 'node:fs/promises';
import { basename, join, resolve, sep } from 'node:path';
import type { BlockRange } from '../write/checkpoints.ts';
import { COLUMNS, type FileKind, type FoundColumns, findColumns, kindOfColumns } from './columns.ts';
import { readParquetFooter } from './footer.ts';
import { importProblems } from './problem.ts';

/** A Parquet file with the facts known without reading its rows. */
export interface ImportFile {
  readonly path: string;
  readonly kind: FileKind;
  readonly bytes: number;
  readonly rows: number;
  readonly columns: FoundColumns;
  /** The block range of its rows, from its statistics, else from its name; null if neither has it. */
  readonly blocks: BlockRange | null;
  /** The range that the name promises (cryo: `chain__logs__A_to_B.parquet`); null without one. */
  readonly named: BlockRange | null;
}

/** What the user named: files to be sorted out by their columns, and files said to be of one kind. */
export interface NamedFiles {
  readonly parquet: readonly string[];
  readonly logs: readonly string[];
  readonly transactions: readonly string[];
  readonly blocks: readonly string[];
}

/** Footers read at once. */
const PARALLEL_FOOTERS = 16;
/** `network__dataset__[label__]first_to_last[__suffix].parquet`, both ends inside (cryo: NumberChunk, FileOutput). */
const RANGE_IN_NAME = /__(\d{1,15})_to_(\d{1,15})(?:__|\.parquet$)/;
const PROBLEMS_SHOWN_MAX = 20;

/** Finds, opens and classifies the files. Throws `UserError` with all their problems. */
export async function readImportFiles(named: NamedFiles, chainId: number): Promise<ImportFile[]> {
  const problems: string[] = [];
  const wanted: { path: string; kind: FileKind | null }[] = [];
  const collect = async (patterns: readonly string[], kind: FileKind | null): Promise<void> => {
    for (const pattern of patterns) {
      const paths = await findFiles([pattern]);
      if (paths.length === 0) problems.push(`no file matches ${pattern}`);
      for (const path of paths) wanted.push({ path, kind });
    }
  };
  await collect(named.logs, 'logs');
  await collect(named.transactions, 'transactions');
  await collect(named.blocks, 'blocks');
  await collect(named.parquet, null);
  const unique = [...new Map(wanted.toReversed().map((entry) => [entry.path, entry])).values()].toReversed();
  const files: ImportFile[] = [];
  for (let at = 0; at < unique.length; at += PARALLEL_FOOTERS) {
    const read = await Promise.all(
      unique.slice(at, at + PARALLEL_FOOTERS).map((entry) => readFile(entry, chainId)),
    );
    for (const result of read) {
      if ('problems' in result) problems.push(...result.problems);
      else files.push(result);
    }
  }
  if (problems.length > 0) throw importProblems(shortened(problems));
  return files;
}

async function readFile(
  { path, kind: asked }: { readonly path: string; readonly kind: FileKind | null },
  chainId: number,
): Promise<ImportFile | { readonly problems: string[] }> {
  const footer = await readParquetFooter(path);
  const kind = asked ?? kindOfColumns(footer.columns);
  if (kind === null)
    return { problems: [`${path} has the columns of neither logs, transactions nor blocks`] };
  const { found, problems } = findColumns(kind, footer.columns);
  const ids = footer.ranges.get(found['chainId']?.name ?? '');
  const isOther = ids !== undefined && footer.rows > 0 && (ids.min !== chainId || ids.max !== chainId);
  if (isOther)
    problems.push(`is of chain ${ids.min === chainId ? ids.max : ids.min}, not of chain ${chainId}`);
  if (problems.length > 0) return { problems: problems.map((problem) => `${path} (${kind}) ${problem}`) };
  const name = rangeInName(path);
  const range = footer.ranges.get(found['blockNumber']?.name ?? '');
  const { size } = await stat(path);
  return {
    path,
    kind,
    bytes: size,
    rows: footer.rows,
    columns: found,
    blocks: range ? { from: range.min, to: range.max } : name,
    named: name,
  };
}

/** Null when the name has no range, or one that is none. */
export function rangeInName(path: string): BlockRange | null {
  const match = path.endsWith('.parquet') ? RANGE_IN_NAME.exec(basename(path)) : null;
  if (!match) return null;
  const [from, to] = [Number(match[1]), Number(match[2])];
  return from <= to ? { from, to } : null;
}

/** All files of an export tend to have the same problem, so twenty lines of it are enough. */
function shortened(problems: readonly string[]): string[] {
  if (problems.length <= PROBLEMS_SHOWN_MAX) return [...problems];
  return [...problems.slice(0, PROBLEMS_SHOWN_MAX), `and ${problems.length - PROBLEMS_SHOWN_MAX} more`];
}

const ADDED_BY: Readonly<Record<string, string>> = {
  blockTime:
    'cryo: export blocks too (`cryo blocks`), or add `--include-columns timestamp block_hash` to transactions; ethereum-etl: give its blocks files',
  blockHash:
    'cryo: export blocks too (`cryo blocks`), or add `--include-columns block_hash` to logs; ethereum-etl: give its blocks files',
};

/** A settlement needs sender, recipient and calldata of its transaction, and time and hash of its block. */
export function missingFacts(files: readonly ImportFile[]): string[] {
  const of = (kind: FileKind): ImportFile[] => files.filter((file) => file.kind === kind);
  const problems: string[] = [];
  if (of('logs').length === 0) problems.push('there are no files of logs');
  if (of('transactions').length === 0)
    problems.push(
      'there are no files of transactions, which hold sender, recipient and calldata (cryo: `cryo transactions`)',
    );
  for (const [key, what] of [
    ['blockTime', 'time'],
    ['blockHash', 'hash'],
  ] as const) {
    const isThere = (['logs', 'transactions', 'blocks'] as const).some((kind) => {
      const some = of(kind);
      return some.length > 0 && some.every(({ columns }) => columns[key] !== undefined);
    });
    const names = new Set(
      (['logs', 'transactions', 'blocks'] as const).flatMap((kind) => COLUMNS[kind][key]?.names ?? []),
    );
    if (!isThere && files.length > 0)
      problems.push(
        `neither logs, transactions nor blocks have the ${what} of every block (a column ${[...names].join(', ')}). ${ADDED_BY[key]}`,
      );
  }
  return problems;
}

/** A pattern that matches more than this is a mistake. */
const FILES_MAX = 1_000_000;
const MAGIC = /[*?]/;

/**
 * The files that patterns name, each once, absolute and sorted. `*` and `?` stand for characters inside one name, `**` for any
 * directories. Patterns reach us unexpanded when they are quoted, and shells refuse to expand very many names.
 */
export async function findFiles(patterns: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const pattern of patterns) {
    const absolute = resolve(pattern);
    const [root = '', ...segments] = absolute.split(sep);
    for (const path of await expand(root === '' ? sep : `${root}${sep}`, segments)) {
      found.add(path);
      if (found.size > FILES_MAX) throw new RangeError(`more than ${FILES_MAX} files`);
    }
  }
  return [...found].sort();
}

async function expand(base: string, segments: readonly string[]): Promise<string[]> {
  const [segment, ...rest] = segments;
  if (segment === undefined) return (await isFile(base)) ? [base] : [];
  if (!MAGIC.test(segment)) return expand(join(base, segment), rest);
  const entries = await readdir(base, { withFileTypes: true }).catch(() => []); // a pattern may lead to nothing
  const found: string[] = [];
  if (segment === '**') {
    found.push(...(await expand(base, rest)));
    for (const entry of entries)
      if (entry.isDirectory()) found.push(...(await expand(join(base, entry.name), segments)));
    return found;
  }
  for (const { name } of entries)
    if (fits(segment, name) && !name.startsWith('.')) found.push(...(await expand(join(base, name), rest)));
  return found;
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false, // not there: the caller says that a pattern matched nothing
  );
}

/** `*` stands for any characters, `?` for one. Only the last star is tried again, so the work is at most the product of the lengths. */
export function fits(segment: string, name: string): boolean {
  let at = 0;
  let star = -1;
  let starTakes = 0;
  for (let i = 0; i < name.length; ) {
    const sign = segment[at];
    if (sign === '*') {
      star = at;
      starTakes = i;
      at += 1;
    } else if (sign === '?' || sign === name[i]) {
      at += 1;
      i += 1;
    } else if (star >= 0) {
      starTakes += 1;
      i = starTakes;
      at = star + 1;
    } else return false;
  }
  return /^\**$/.test(segment.slice(at));
}
