import { expect, test } from 'vitest';
import { acceptedRequestId, matchesEtag, nextPageLink, weakEtag } from '../../../src/http/headers.ts';

const body = (asOf: string, rows: readonly number[]) => ({
  flows: rows,
  as_of: asOf,
  meta: { as_of: asOf, freshness: { chains: [asOf] }, page_self_payments: 0 },
});

test('the tag ignores when the answer was made and sees what it says', () => {
  expect(weakEtag(body('now', [1]))).toBe(weakEtag(body('later', [1])));
  expect(weakEtag(body('now', [1]))).not.toBe(weakEtag(body('now', [2])));
  expect(weakEtag(body('now', [1]))).toMatch(/^W\/"[A-Za-z0-9_-]{27}"$/);
});

test.each([
  ['W/"a"', true],
  ['"a"', true],
  ['"b", W/"a"', true],
  ['*', true],
  ['W/"b"', false],
  ['a', false],
  [undefined, false],
])('If-None-Match %s matches: %s', (header, matches) => {
  expect(matchesEtag(header, 'W/"a"')).toBe(matches);
});

test.each([
  ['abc-1.2:3_X', 'abc-1.2:3_X'],
  ['a b', undefined],
  ['x\r\ny', undefined],
  ['', undefined],
  ['x'.repeat(129), undefined],
  [['a', 'b'], undefined],
])('request id %j is taken over as %j', (header, id) => {
  expect(acceptedRequestId(header)).toBe(id);
});

test('the next page keeps the other parameters and replaces the place', () => {
  expect(
    nextPageLink('', '/v0/flows?limit=2&before=old&chain=eip155%3A137', { name: 'before', value: 'new' }),
  ).toBe('</v0/flows?limit=2&before=new&chain=eip155%3A137>; rel="next"');
  expect(nextPageLink('https://index.example', '/v0/flows', { name: 'before', value: 'c' })).toBe(
    '<https://index.example/v0/flows?before=c>; rel="next"',
  );
  expect(nextPageLink('', '/v0/facilitators?offset=50', { name: 'offset', value: '100' })).toBe(
    '</v0/facilitators?offset=100>; rel="next"',
  );
});
