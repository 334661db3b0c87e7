import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { displayText } from '../../../core/domain/display-text.ts';
import { FACILITATOR_NAMES } from '../../../core/domain/facilitator-names.ts';
import { createFindImitated } from '../../../core/domain/imitated-name.ts';

const KNOWN = Object.entries(FACILITATOR_NAMES).map(([id, name]) => ({ id, name }));
const imitated = createFindImitated(KNOWN);
/** As names are stored. */
const stored = (name: string): string => displayText(name, 200);

describe('a name is read as that of a facilitator', () => {
  test.each([
    ['Coinbase', 'coinbase'],
    ['COINBASE', 'coinbase'],
    ['C o i n b a s e', 'coinbase'],
    ['Coinbase Facilitator', 'coinbase'],
    ['CoinbaseFacilitator', 'coinbase'],
    ['coinbase-x402 (official)', 'coinbase'],
    ['C0inbase', 'coinbase'],
    ['Coinbàse', 'coinbase'],
    ['Сoinbase', 'coinbase'], // Cyrillic Es
    ['Coiոbase', 'coinbase'], // Armenian Vo
    ['Ｃｏｉｎｂａｓｅ', 'coinbase'],
    ['РауАІ', 'payAI'], // every letter Cyrillic
    ['Pay\u200bAI', 'payAI'],
    ['PayAl', 'payAI'], // a small L
    ['Virtuals', 'virtuals'],
    ['x402-jobs', 'x402jobs'],
    ['Open Facilitator', 'openfacilitator'],
  ])('%s', (name, id) => {
    expect(imitated(stored(name))).toBe(id);
  });

  test.each(KNOWN)('$name, in whatever case and spacing', ({ id, name }) => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }),
        fc.constantFrom('', ' ', '-', '_'),
        (up, gap) => {
          const spelled = [...name]
            .map((char, at) => (up[at] ? char.toUpperCase() : char.toLowerCase()))
            .join(gap);
          expect(imitated(spelled)).toBe(id);
        },
      ),
      { numRuns: 20 },
    );
  });
});

test.each([
  'Weather by the call',
  'Coinbase price oracle',
  'Cascade Weather',
  'Open',
  'Jobs',
  'facilitator',
  'x402',
  '',
  'Москва AI',
  '…',
])('%s is a name of its own', (name) => {
  expect(imitated(stored(name))).toBeNull();
});

test('a facilitator whose name holds its kind is known without that word too', () => {
  const find = createFindImitated([{ id: 'own', name: 'Coinbase Facilitator' }]);
  expect([find('Coinbase'), find('CoinbaseFacilitator'), find('coinbase x402')]).toEqual([
    'own',
    'own',
    'own',
  ]);
});
