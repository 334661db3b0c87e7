import { readdir, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';

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
  const matches = patternOf(segment);
  for (const { name } of entries)
    if (matches.test(name) && !name.startsWith('.')) found.push(...(await expand(join(base, name), rest)));
  return found;
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false, // not there: the caller says that a pattern matched nothing
  );
}

function patternOf(segment: string): RegExp {
  const escaped = segment.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`);
}
