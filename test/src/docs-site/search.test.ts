import MiniSearch from 'minisearch';
import { describe, expect, test } from 'vitest';
import { INDEX_OPTIONS, markedWords, searchIn, stemOf } from '../../../src/docs-site/assets/search.js';
import { createDocsSite } from '../../../src/docs-site/docs-site.ts';
import type { SearchData } from '../../../src/docs-site/render-page.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';

/** The search as the browser runs it, over the index that the service sends. */

const data = JSON.parse(
  String(createDocsSite({ operations: OPERATIONS, publicUrl: '' }).search().body),
) as SearchData;
const index = MiniSearch.loadJS(data.index, INDEX_OPTIONS);
const found = (words: string): string[] =>
  searchIn(index, words, data.synonyms).map(({ url }) => String(url));

describe('the first result', () => {
  test.each([
    ['refund', '/docs/payments'],
    ['webhook', '/docs/copies'],
    ['rate limited', '/docs/errors#rate_limited'],
    ['429', '/docs/errors#rate_limited'],
    ['too many requests', '/docs/errors#rate_limited'],
    ['how much does it cost', '/docs/sql#tiers-and-prices'],
    ['who paid me', '/docs/operations/listCounterparties'],
    ['reorg', '/docs/methodology#reorgs-and-finality'],
    ['settlement_unknown', '/docs/errors#settlement_unknown'],
    ['levenshteinDistance', '/docs/sql-functions'],
    ['back up', '/docs/upkeep#back-up'],
    ['backing up', '/docs/upkeep#back-up'],
    ['listFlows', '/docs/operations/listFlows'],
    ['trial keys', '/docs/payments#a-trial-key'],
    ['evidnce ladder', '/docs/evidence'],
    ['grafana', '/docs/connect#grafana'],
    ['docker', '/docs/operators#with-docker'],
    ['idempotency', '/docs/access#requests-that-can-be-repeated'],
    ['hold and capture', '/docs/access#hold-and-capture'],
    ['window frames', '/docs/sql-dialect#window-frames'],
    ['wash trading', '/docs/cookbook'],
    ['pricing', '/docs/sql#tiers-and-prices'],
    ['delete my data', '/docs/operations/forgetAccountQueries'],
    ['lag', '/docs/upkeep#what-to-watch'],
    ['how far behind', '/docs/upkeep#what-to-watch'],
    ['tls', '/docs/connect#the-http-interface'],
    ['schedule a query', '/docs/saved-queries#freshness-and-schedules'],
  ])('of "%s" is %s', (words, url) => {
    const [first = ''] = found(words);
    expect(url.includes('#') ? first : first.split('#')[0]).toBe(url);
  });
});

describe('the page that a reader means is among the first two', () => {
  test.each([
    ['csv', '/docs/sql#export-as-csv-parquet-or-excel'],
    ['export', '/docs/sql#export-as-csv-parquet-or-excel'],
    ['export a month', '/docs/sql#export-as-csv-parquet-or-excel'],
    ['excel', '/docs/sql#export-as-csv-parquet-or-excel'],
    ['parquet', '/docs/bundles'],
    ['pagination', '/docs/access#pagination'],
    ['next page', '/docs/access#pagination'],
    ['get a key', '/docs/access#get-an-api-key'],
    ['how do I get an api key', '/docs/access#get-an-api-key'],
    ['sign up', '/docs/access#get-an-api-key'],
    ['who is honest', '/docs/methodology#whether-to-pay-an-address'],
    ['can I trust this seller', '/docs/methodology#whether-to-pay-an-address'],
    ['scam', '/docs/methodology#whether-to-pay-an-address'],
    ['rate limit', '/docs/errors#rate_limited'],
    ['refund', '/docs/payments#refunds'],
    ['python', '/docs/connect#python'],
    ['webhook', '/docs/copies'],
    ['websocket', '/docs/copies'],
    ['solana', '/docs/payments#on-solana'],
    ['cors', '/docs/access#calls-from-a-browser-cors'],
    ['postman', '/docs/operations'],
    ['dashboard', '/docs/connect#grafana'],
    ['list_merchants', '/docs/operations/listMerchants'],
    ['buy a trial key', '/docs/payments#a-trial-key'],
  ])('for "%s": %s', (words, url) => {
    expect(found(words).slice(0, 2)).toContain(url);
  });
});

test('forms of a word are found by each other', () => {
  for (const forms of [
    ['refund', 'refunds', 'refunded', 'refunding'],
    ['query', 'queries'],
    ['price', 'prices', 'priced'],
    ['settle', 'settled', 'settles', 'settling'],
    ['retry', 'retries'],
    ['limit', 'limits', 'limited'],
  ])
    expect(new Set(forms.map(stemOf)).size, forms.join(', ')).toBe(1);
  expect(stemOf('address')).toBe('address');
  expect(stemOf('status')).toBe('status');
});

test('no match begins or is marked inside a word', () => {
  const hits = searchIn(index, 'port', data.synonyms);
  expect(hits.flatMap(({ terms }) => terms).filter((term) => !term.startsWith('port'))).toEqual([]);
  expect(markedWords('A report on ports: port_of', ['port'])).toEqual([
    'A report on ',
    'ports',
    ': ',
    'port_of',
    '',
  ]);
});

test('words that say nothing find nothing', () => {
  expect(found('how do I')).toEqual([]);
  expect(found('')).toEqual([]);
});

test('nothing is declared twice, and every synonym is as it is compared', () => {
  const all = data.synonyms.flat();
  expect(all.filter((phrase, at) => all.indexOf(phrase) !== at)).toEqual([]);
  expect(all.filter((phrase) => phrase !== phrase.toLowerCase())).toEqual([]);
});
