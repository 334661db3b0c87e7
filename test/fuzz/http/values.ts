import fc from 'fast-check';
import type { JsonObject } from '../../kit/document-schemas.ts';

/** Values for a schema: good ones, those at its edges, and those that it does not take. */

/** What the world of the fuzzer holds, for parameters whose good values no schema can tell. */
export interface KnownValues {
  /** Cursors that answers gave, newest last. */
  readonly cursors: string[];
  readonly wallets: readonly string[];
}

const LONG_CHARS = [129, 257, 600, 3_900, 4_200] as const;

/** Texts that mean something to some parser on the way. */
const ODD_TEXTS = [
  '',
  ' ',
  '0',
  '-0',
  '-1',
  '+1',
  '1.0',
  '1e3',
  '1e400',
  '0x10',
  '٣',
  '१२',
  '9007199254740993',
  '99999999999999999999999999999999999999999',
  'NaN',
  'Infinity',
  'null',
  'undefined',
  'true',
  'TRUE',
  'yes',
  '[]',
  '{}',
  '__proto__',
  'constructor',
  'toString',
  "' OR 1=1 --",
  '"; DROP TABLE settlements',
  '\u0000',
  'a\u0000b',
  '\r\nX-Injected: 1',
  '\u202e',
  '\ud83e\udd80',
  '../../etc/passwd',
  '%',
  '%00',
  '%zz',
  '{{7*7}}',
  '<script>',
  '0x',
  `0x${'0'.repeat(39)}`,
  `0X${'A'.repeat(40)}`,
  '0x52908400098527886E0F7030069857D2E4169EE8',
  'eip155:0',
  'eip155:8453 ',
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
] as const;

export const oddText = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...ODD_TEXTS) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.constantFrom(...LONG_CHARS).map((length) => 'a'.repeat(length)) },
  { weight: 1, arbitrary: fc.constantFrom(...LONG_CHARS).map((length) => '9'.repeat(length)) },
);

/** Texts of a parameter in a URL or a header. */
export function parameterText(
  {
    name,
    schema,
    example,
  }: { readonly name: string; readonly schema: JsonObject; readonly example?: unknown },
  known: KnownValues,
): fc.Arbitrary<string> {
  const good = [goodText(schema), ...(example === undefined ? [] : [fc.constant(String(example))])];
  if (name === 'before') good.push(cursorText(known));
  if (/wallet|address|counterparty|owner|client|pay_to/.test(name))
    good.push(fc.constantFrom(...known.wallets));
  return fc.oneof({ weight: 8, arbitrary: fc.oneof(...good) }, { weight: 1, arbitrary: oddText });
}

export function goodText(schema: JsonObject): fc.Arbitrary<string> {
  const {
    type,
    enum: choices,
    pattern,
    minLength,
    maxLength,
  } = schema as {
    readonly type?: string;
    readonly enum?: readonly string[];
    readonly pattern?: string;
    readonly minLength?: number;
    readonly maxLength?: number;
  }; // the keywords that parameters use
  if (choices !== undefined) return fc.constantFrom(...choices);
  if (type === 'integer') return wholeNumber(schema).map(String);
  if (type === 'number') return fc.double({ ...bounds(schema), noNaN: true }).map(String);
  if (pattern !== undefined) return matching(pattern);
  const edges = [minLength ?? 0, maxLength ?? 64].map((length) => fc.constant('x'.repeat(length)));
  return fc.oneof(
    fc.string({ minLength: minLength ?? 0, maxLength: Math.min(maxLength ?? 64, 300) }),
    ...edges,
  );
}

/** In range, at its ends, and one beyond. */
function wholeNumber(schema: JsonObject): fc.Arbitrary<number> {
  const { min = -1_000, max = 100_000 } = bounds(schema);
  return fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max, min - 1, max + 1, 0, 1));
}

function bounds({ minimum, maximum }: JsonObject): { min?: number; max?: number } {
  return {
    ...(typeof minimum === 'number' ? { min: minimum } : {}),
    ...(typeof maximum === 'number' ? { max: maximum } : {}),
  };
}

/** fast-check knows no Unicode classes. */
function matching(pattern: string): fc.Arbitrary<string> {
  return pattern.includes('\\p{')
    ? fc.string({ minLength: 1, maxLength: 64 })
    : fc.stringMatching(new RegExp(pattern));
}

/** One that an answer gave, whole or damaged. */
function cursorText({ cursors }: KnownValues): fc.Arbitrary<string> {
  return fc.tuple(fc.nat(), fc.constantFrom('whole', 'cut', 'changed', 'longer')).map(([at, damage]) => {
    const cursor = cursors[at % Math.max(1, cursors.length)] ?? 'AAAA';
    switch (damage) {
      case 'cut':
        return cursor.slice(0, -1 - (at % 7));
      case 'changed':
        return cursor.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
      case 'longer':
        return `${cursor}${cursor}`;
      default:
        return cursor;
    }
  });
}

/** A JSON value of the wrong type, mostly. */
export const oddJson: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, false, 0, -1, 1.5, 2 ** 53, 1e308, '', [], {}, [[]], { a: { b: [null] } }),
  oddText,
  fc.jsonValue({ maxDepth: 3 }),
);
