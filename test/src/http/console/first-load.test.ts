import { beforeAll, expect, it } from 'vitest';
import { buildConsole, type ConsoleBuild, compressed } from '../../../../src/http/console/assets.ts';

/** What a first visit loads before the page shows its figures, as it travels. */
const FIRST_LOAD_MAX_BYTES = 150_000;

let build: ConsoleBuild;

beforeAll(async () => {
  build = await buildConsole();
});

/** A script with everything that it imports at once; a later import is no part of the first load. */
function withImports(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  const text = Buffer.from(build.files.get(name) ?? new Uint8Array()).toString();
  for (const [, imported = ''] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g))
    withImports(imported, found);
  return found;
}

async function weigh(names: Iterable<string>): Promise<number> {
  const sizes = [...names].map(async (name) => {
    const bytes = build.files.get(name);
    if (bytes === undefined) throw new Error(`the bundle has no ${name}`);
    return (await compressed(bytes, 'br')).length;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

it('a first visit to the home page loads at most 150 KB, and neither the editor, nor the search, nor other pages', async () => {
  const page = [...build.files.keys()].find((name) => name.startsWith('home-'));
  if (page === undefined) throw new Error('the bundle has no chunk of the home page');
  const loaded = new Set([build.style, ...withImports(build.script), ...withImports(page)]);
  const bytes = await weigh(loaded);
  process.stdout.write(`console: the home page loads ${bytes} bytes in ${loaded.size} files\n`);
  expect(loaded.size).toBeGreaterThan(3);
  expect(bytes).toBeLessThan(FIRST_LOAD_MAX_BYTES);
  const scripts = [...loaded].filter((name) => name !== build.style);
  const text = scripts.map((name) => Buffer.from(build.files.get(name) ?? []).toString()).join('');
  expect(text).not.toContain('palette-list');
  expect(text).not.toContain('cm-content');
});
