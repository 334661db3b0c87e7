import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { compileTree } from '../../scripts/compile-tree.mjs';

function compiled(): { readonly at: (path: string) => string; again(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'compile-tree-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const again = (): void => compileTree(directory, ['core', 'clickhouse/migrations']);
  again();
  return { at: (path) => join(directory, path), again };
}

test('a compiled module imports the compiled ones beside it, and files that are no module lie where they do in the sources', async () => {
  const { at } = compiled();
  const { commandText } = await import(pathToFileURL(at('core/command-text.js')).href);
  expect(commandText('migrate'), 'it is known to be a checkout').toBe('npm start -- migrate');
  expect(readFileSync(at('clickhouse/migrations/0001-baseline.sql'), 'utf8')).toContain('CREATE TABLE');
  expect(existsSync(at('docs/quickstart.md'))).toBe(true);
});

test('compiled again, only what differs from its source is written, and what has none is removed', () => {
  const { at, again } = compiled();
  const [kept, changed, extra] = [at('core/text.js'), at('core/clock.js'), at('core/removed.js')];
  const { ino } = statSync(kept);
  writeFileSync(changed, 'old');
  utimesSync(changed, 1, 1);
  writeFileSync(extra, 'old');
  again();
  expect(statSync(kept).ino).toBe(ino);
  expect(readFileSync(changed, 'utf8')).toContain('systemClock');
  expect(existsSync(extra)).toBe(false);
});
