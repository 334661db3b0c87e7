import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const CONSOLE = fileURLToPath(new URL('../../console', import.meta.url));

function textsOf(ending: string): { readonly file: string; readonly text: string }[] {
  return readdirSync(CONSOLE, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => ({ file, text: readFileSync(join(CONSOLE, file), 'utf8') }));
}

/** Names in `class="…"`, and in `class: '…'` of a column. */
function classesIn(text: string): string[] {
  return [...text.matchAll(/\bclass(?:="([^"]*)"|: '([^']*)')/g)].flatMap(([, attribute, field]) =>
    (attribute ?? field ?? '').split(/\s+/).filter((name) => name !== ''),
  );
}

test('every class that the console writes has a rule in its style sheets', () => {
  const styles = textsOf('.css')
    .map(({ text }) => text.replace(/\/\*[\s\S]*?\*\//g, ''))
    .join('\n');
  const known = new Set([...styles.matchAll(/\.([a-zA-Z][\w-]*)/g)].map(([, name]) => name));
  const without = textsOf('.tsx').flatMap(({ file, text }) =>
    classesIn(text)
      .filter((name) => !known.has(name))
      .map((name) => `${file}: ${name}`),
  );
  expect(known.size).toBeGreaterThan(100);
  expect(without).toEqual([]);
});
