import { encodeBuilderCodeSuffix, parseBuilderCodeSuffixFromCalldata } from '@x402/extensions/builder-code';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseBuilderCode } from '../../../ingest/decode/builder-code.ts';

const MARKER = '80218021802180218021802180218021';
const CDP = '0xe3ee160ea161776a6364705f666163696c31000e0280218021802180218021802180218021';

const code = fc.stringMatching(/^[a-z0-9_]{1,32}$/);
const codes = fc.record(
  { a: code, w: code, s: fc.array(code, { minLength: 1, maxLength: 11 }) },
  { requiredKeys: [] },
);
const hexBytes = (max: number) =>
  fc.uint8Array({ maxLength: max }).map((bytes) => Buffer.from(bytes).toString('hex'));

/** What upstream's parser says of the same calldata, in our words; null where it says nothing. */
function oracle(input: string) {
  const parsed = parseBuilderCodeSuffixFromCalldata(input as `0x${string}`);
  if (!parsed || Object.keys(parsed).length === 0) return null;
  const { a, w, s } = parsed as { a?: string; w?: string; s?: string[] };
  return { facilitator: w ?? '', apps: a === undefined ? [] : [a], services: s ?? [] };
}

describe('schema 2', () => {
  test('Coinbase’s real suffix names its facilitator', () => {
    expect(parseBuilderCode(CDP)).toEqual({ facilitator: 'cdp_facil1', apps: [], services: [] });
  });

  test('whatever upstream encodes is read as upstream reads it', () => {
    fc.assert(
      fc.property(codes, hexBytes(40), (data, calldata) => {
        const input = `0x${calldata}${encodeBuilderCodeSuffix(data).slice(2)}`;
        expect(parseBuilderCode(input)).toEqual(oracle(input));
      }),
    );
  });

  test('a damaged suffix is read as upstream reads it, or not at all', () => {
    fc.assert(
      fc.property(codes, fc.nat(), fc.integer({ min: 0, max: 255 }), (data, at, byte) => {
        const suffix = encodeBuilderCodeSuffix(data).slice(2);
        const place = 2 * (at % (suffix.length / 2));
        const damaged = `0xe3ee160e${suffix.slice(0, place)}${byte.toString(16).padStart(2, '0')}${suffix.slice(place + 2)}`;
        const ours = parseBuilderCode(damaged);
        if (ours !== null && damaged.slice(-34, -32) === '02') expect(ours).toEqual(oracle(damaged));
      }),
      { numRuns: 2_000 },
    );
  });

  const suffixed = (body: string, claimed = body.length / 2) =>
    `0xe3ee160e${body}${claimed.toString(16).padStart(4, '0')}02${MARKER}`;

  test.each([
    ['an upper-case code', suffixed('a161776141')],
    ['an empty code', suffixed('a1617760')],
    ['a code of 33 characters', suffixed(`a161777821${'61'.repeat(33)}`)],
    ['a code with a comma', suffixed('a1617763612c62')],
    ['an unknown key', suffixed('a161786161')],
    ['a key twice', suffixed('a2617761616177 6162'.replace(' ', ''))],
    ['bytes after the map', suffixed('a16177616100')],
    ['a body that ends early', suffixed('a161776a6364')],
    ['a map that claims 255 entries', suffixed('b8ff6177616 1'.replace(' ', ''))],
    ['an array that claims 255 codes', suffixed('a1617398ff6161')],
    ['no map', suffixed('6161')],
    ['an empty map', suffixed('a0')],
    ['an empty body', suffixed('')],
    ['a length beyond the calldata', suffixed('a161776161', 500)],
    ['a length that reaches into 0x', `0x0001${'02'}${MARKER}`],
    ['a body beyond the bound', suffixed(`a1617398ff${`7820${'61'.repeat(32)}`.repeat(255)}`)],
    [
      'a length so far beyond the calldata that counting from the end would find a body',
      suffixed('a161776161', 34),
    ],
    ['a body cut short by a character that is no hex', suffixed('a161776161000000zz')],
    ['an unknown schema', `0xe3ee160ea16177616100 0501${MARKER}`.replace(' ', '')],
    ['characters that are no hex', suffixed('a1617761zz')],
    ['nothing but the marker', `0x${MARKER}`],
    ['half a byte', `0xa${CDP.slice(2)}`],
    ['no calldata', '0x'],
    ['no text', ''],
  ])('%s says nothing', (_, input) => {
    expect(parseBuilderCode(input)).toBeNull();
  });
});

describe('schema 0', () => {
  const suffixed = (text: string, claimed = text.length) =>
    `0xa9059cbb${Buffer.from(text, 'latin1').toString('hex')}${claimed.toString(16).padStart(2, '0')}00${MARKER}`;

  test('lists app codes', () => {
    expect(parseBuilderCode(suffixed('bc_o3dj3qk8,other'))).toEqual({
      facilitator: '',
      apps: ['bc_o3dj3qk8', 'other'],
      services: [],
    });
  });

  test.each(['', ',', 'a,', 'A', 'a b', 'é'])('%j says nothing', (text) => {
    expect(parseBuilderCode(suffixed(text))).toBeNull();
  });
});

test('hostile calldata never throws, and every answer is codes or null', () => {
  const tail = fc.constantFrom(MARKER, `00${MARKER}`, `02${MARKER}`, `000e02${MARKER}`, `0a00${MARKER}`, '');
  fc.assert(
    fc.property(fc.oneof(hexBytes(80), fc.string({ maxLength: 80 })), tail, (head, end) => {
      const parsed = parseBuilderCode(`0x${head}${end}`);
      for (const text of parsed === null ? [] : [...parsed.apps, ...parsed.services])
        expect(text).toMatch(/^[a-z0-9_]{1,32}$/);
    }),
    { numRuns: 2_000 },
  );
});
