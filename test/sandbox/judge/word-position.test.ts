import { expect, test } from 'vitest';
import { wordPosition } from '../../../sandbox/judge/refusal.ts';

test.each([
  ['SELECT payr FROM settlements', 'payr', 1, 8],
  ["SELECT 'payr', -- payr\n /* payr */ payr", 'payr', 2, 13],
  ["SELECT 'it''s payr', \"payr\"", 'payr', 1, 22],
  ['SELECT s.payer, s.payr', 's.payr', 1, 17],
  ["SELECT 'é', 'ö\\'', payr", 'payr', 1, 20],
])('%s: %s', (text, word, line, column) => {
  expect(wordPosition(text, word)).toEqual({ line, column });
});

test('no part of a word, and no text, is the word', () => {
  expect(wordPosition("SELECT payrs, 'payr', x.payr", 'payr')).toBeUndefined();
});
