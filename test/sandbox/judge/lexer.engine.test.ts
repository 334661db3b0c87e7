import fc from 'fast-check';
import { expect } from 'vitest';
import { firstWord, skipBlanks } from '../../../sandbox/judge/lexer.ts';
import { test } from '../../kit/fixtures.ts';
import { lengthOf } from '../../kit/lengths.ts';
import type { SandboxEngine } from '../../kit/sandbox-engine.ts';

/** The lexer skips what the engine's own lexer skips, and nothing else. */

const CODE_UNITS = [...Array.from({ length: 0x3100 }, (_, unit) => unit), 0xfeff];
const TEXTS = 200;

const TEXTS_AT_ONCE = 1_000;

/** By the engine: the kinds of the tokens of each text, and where they begin in bytes. */
async function tokensOf({ guest }: SandboxEngine, texts: readonly string[]) {
  const tokens: { readonly kinds: string[]; readonly begins: number[] }[] = [];
  for (let from = 0; from < texts.length; from += TEXTS_AT_ONCE) {
    const json = Buffer.from(JSON.stringify(texts.slice(from, from + TEXTS_AT_ONCE))).toString('hex');
    const rows = await guest.explain({
      name: 'test',
      text: `SELECT arrayMap(t -> toString(t.3), tokens), arrayMap(t -> toUInt32(t.1), tokens) FROM (SELECT tokenizeQuery(arrayJoin(JSONExtract(materialize(unhex('${json}')), 'Array(String)'))) AS tokens)`,
      maxSeconds: 60,
    });
    for (const [kinds, begins] of rows) tokens.push({ kinds: kinds as string[], begins: begins as number[] }); // as the statement asks for them
  }
  return tokens;
}

test('every character is a blank that is one for the engine', async ({ sandbox }) => {
  const tokens = await tokensOf(
    sandbox,
    CODE_UNITS.map((unit) => `${String.fromCharCode(unit)}x`),
  );
  const ofEngine = CODE_UNITS.filter((_, at) => tokens[at]?.kinds[0] === 'Whitespace');
  expect(ofEngine.length).toBeGreaterThan(20);
  expect(CODE_UNITS.filter((unit) => skipBlanks(`${String.fromCharCode(unit)}x`, 0) > 0)).toEqual(ofEngine);
});

test('a text begins where it begins for the engine, behind comments of every kind', async ({ sandbox }) => {
  const parts = fc.constantFrom(
    ...[' ', '\n', '\r', '\u00a0', '--', '//', '#', '# ', '#!', '/*', '*/', '/', '*', '-', 'x', '('],
  );
  const text = fc.array(parts, { maxLength: 12 }).map((all) => `${all.join('')}`);
  const texts = fc.sample(text, { numRuns: TEXTS * lengthOf('engineProperties'), seed: 7 });
  const tokens = await tokensOf(sandbox, texts);
  for (const [at, one] of texts.entries()) {
    const { kinds = [], begins = [] } = tokens[at] ?? {};
    const first = kinds.findIndex((kind) => kind !== 'Whitespace' && kind !== 'Comment');
    const begin = first === -1 ? Buffer.byteLength(one) : begins[first];
    expect(Buffer.byteLength(one.slice(0, skipBlanks(one, 0))), JSON.stringify(one)).toBe(begin);
  }
});

test.for([
  ['/* a /* b */ c */ -- d\n // e\n # f\n#! g\nINSERT INTO x', 'INSERT'],
  ['\ufeff\u00a0drop', 'drop'],
  ['/* never closed INSERT', ''],
  ['#INSERT', ''],
])('%j begins with %j', ([text = '', word]) => {
  expect(firstWord(text)).toBe(word);
});
