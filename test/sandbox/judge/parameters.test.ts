import { expect, test } from 'vitest';
import { checkValues, parametersOf, valuesAsRead } from '../../../sandbox/judge/literals/parameters.ts';
import type { Token } from '../../../sandbox/judge/parser.ts';
import { Refused } from '../../../sandbox/judge/refusal.ts';

const KINDS: Readonly<Record<string, string>> = {
  '{': 'OpeningCurlyBrace',
  '}': 'ClosingCurlyBrace',
  ':': 'Colon',
};

/** As the engine gives them for these words. */
const tokens = (...words: readonly string[]): Token[] =>
  words.map((text, at) => ({ kind: KINDS[text] ?? 'BareWord', text, at }));
const placeholder = (name: string, type = 'UInt8') => ['{', name, ':', type, '}'];

test('a placeholder counts once, however often it is written', () => {
  const written = [...placeholder('b', 'String'), ...Array.from({ length: 20_000 }, () => placeholder('a'))];
  expect(parametersOf(tokens(...written.flat()))).toEqual([
    { name: 'b', type: 'String' },
    { name: 'a', type: 'UInt8' },
  ]);
});

test.each([
  ['more than a hundred placeholders', Array.from({ length: 101 }, (_, at) => placeholder(`a${at}`)).flat()],
  ['a type of more than a thousand characters', placeholder('a', 'U'.repeat(1_001))],
  ['a placeholder that is never closed', ['{', 'a', ':', ...Array.from({ length: 5_000 }, () => '{')]],
])('%s is refused', (_what, words) => {
  expect(() => parametersOf(tokens(...words))).toThrow(Refused);
});

test('a value of a ClickHouse client is read by the type of its placeholder', () => {
  const declared = [
    { name: 'text', type: 'String' },
    { name: 'list', type: 'Array(String)' },
    { name: 'none', type: 'Nullable(String)' },
  ];
  const sent = { text: 'a\\tb\\\\n', list: "['a\\tb']", none: '\\N', other: '\\t' };
  expect(valuesAsRead(declared, sent)).toEqual({
    text: 'a\tb\\n',
    list: "['a\\tb']",
    none: '\\N',
    other: '\t',
  });
});

test.each([
  ['Nullable(DateTime64(3))', '2026-11-20 12:00:00', '2026-13-20 12:00:00'],
  ["LowCardinality(Nullable(DateTime('UTC')))", '2026-11-20', '1969-12-31'],
  ['Nullable(UInt8)', '255', '256'],
])('a value of %s is checked by the type in the wrappers', (type, kept, misread) => {
  checkValues([{ name: 'a', type }], { a: kept });
  expect(() => checkValues([{ name: 'a', type }], { a: misread })).toThrow(Refused);
});
