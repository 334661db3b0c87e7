import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findPatterns, productSources } from '../../scripts/patterns/find.ts';
import { canJudge, slowPatterns } from '../../scripts/patterns/judge.ts';
import { JUDGED_FILE } from '../../scripts/patterns/judged.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Judging all of them takes a minute: `npm run gen:check` judges those that are not in the list, `npm run test:nightly` all. */
test('every regular expression of the product was judged, and none is put together while the program runs', () => {
  const { places, refused } = findPatterns(productSources(ROOT));
  const judged = new Set(readFileSync(`${ROOT}${JUDGED_FILE}`, 'utf8').split('\n'));
  expect(places.size).toBeGreaterThan(500);
  expect([...places].filter(([literal]) => !judged.has(literal))).toEqual([]);
  expect(refused).toEqual([]);
});

test.skipIf(!canJudge())(
  'a pattern that is exponential or quadratic for some text is found, with that text',
  async () => {
    const slow = [
      String.raw`/^(?:\s|--[^\n]*(?:\n|$)|#[ !][^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*(\w+)/`,
      String.raw`/^(?:\s|\(|--[^\n]*\n|\/\*[\s\S]*?\*\/)*(\w+)/`,
      String.raw`/(?:\s+|--[^\n]*|#[^\n]*|\/\*[\s\S]*?\*\/)+/y`,
      String.raw`/\/+$/`,
    ];
    const found = await slowPatterns([...slow, String.raw`/(?<!\/)\/+$/`, '/^[0-9a-f]{64}$/d']);
    expect([...found.keys()].sort()).toEqual(slow.sort());
    for (const fault of found.values())
      expect(fault).toMatch(/^(?:exponential|2nd degree polynomial).*repeat\(/);
  },
);

test('literals and patterns of schemas are found, and one that is put together is refused', () => {
  const text = `const a = /a+/g;
    const b = Type.String({ pattern: '^b+$' });
    const c = new RegExp(name);
    const d = RegExp('^' + name);
    const e = Type.String({ pattern: '^' + name });
    const f = { pattern: shape.source };`;
  const { places, refused } = findPatterns([{ file: 'core/a.ts', text }]);
  expect([...places]).toEqual([
    ['/a+/g', ['core/a.ts:1']],
    ['/^b+$/u', ['core/a.ts:2']],
  ]);
  expect(refused.map((sentence) => sentence.split(' ')[0])).toEqual([
    'core/a.ts:3:',
    'core/a.ts:4:',
    'core/a.ts:5:',
  ]);
});
