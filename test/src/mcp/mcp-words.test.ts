import { expect, test } from 'vitest';
import { toolWordsOf } from '../../../src/mcp/tool.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';

const words = toolWordsOf(OPERATIONS);

test.each([
  ['GET /v0/sql/schema lists the columns', 'get_sql_schema lists the columns'],
  ['the tables that `GET /v0/sql/schema` lists', 'the tables that `get_sql_schema` lists'],
  ['/v0/account lists what yours allows', 'get_account lists what yours allows'],
  ['/capabilities lists them.', 'list_capabilities lists them.'],
  ['POST /v0/sql, or /sql/schema', 'run_sql, or get_sql_schema'],
])('a route is the tool that it is: %s', (text, said) => {
  expect(words(text)).toBe(said);
});

test.each([
  'Ask GET https://index.example/v0/flows over HTTP',
  'Ask GET /v0/test/x402 over HTTP',
  'see /docs/errors#rate_limited',
  'Stable name, for /capabilities/{slug}.',
  '/sqlite and /accounts',
])('a word that is no tool stays: %s', (text) => {
  expect(words(text)).toBe(text);
});
