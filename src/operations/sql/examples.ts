import type { Static } from '@sinclair/typebox';
import type { NamedExample } from '../define.ts';
import { SQL_EXAMPLE, type SqlEstimateShape, type SqlResultShape } from './shapes.ts';

/** Requests and answers of SQL as the documentation shows them. */

const WALLET = '0x4020615294c913f045dc10f0a5cdebd86c280001';

export const SQL_REQUEST_EXAMPLES: Readonly<Record<string, NamedExample>> = {
  query: {
    summary: 'Who earned most within a day.',
    value: { sql: SQL_EXAMPLE.sql, max_rows: 1_000 },
  },
  budget: {
    summary: 'At most one unit: 5 seconds, or 0.01 USD over x402.',
    value: { sql: SQL_EXAMPLE.sql, max_qu: 1 },
  },
  parameters: {
    summary: 'Values beside the text, never inside of it; the result as CSV.',
    value: {
      sql: "SELECT counterparty, count() AS payments, sum(amount_usd) AS usd FROM wallet_settlements WHERE wallet = {wallet:String} AND role = 'payer' GROUP BY counterparty ORDER BY usd DESC LIMIT 20",
      params: { wallet: WALLET },
      format: 'csv',
    },
  },
  explain_only: {
    summary: 'What a query would read and cost; free.',
    value: {
      sql: 'SELECT payee, sum(settled_usd) AS usd FROM merchant_days WHERE day >= today() - 90 GROUP BY payee ORDER BY usd DESC LIMIT 20',
      explain_only: true,
    },
  },
};

const COMPACT: Static<typeof SqlResultShape> = {
  ...SQL_EXAMPLE,
  rows: SQL_EXAMPLE.rows.map((row) => Object.values(row)),
};

const ESTIMATE: Static<typeof SqlEstimateShape> = {
  sql: 'SELECT payee, sum(settled_usd) AS usd FROM merchant_days WHERE day >= (today() - 90) GROUP BY payee ORDER BY usd DESC LIMIT 20',
  tables: ['merchant_days'],
  estimate: { rows_to_read: 48_213, bytes_to_read: 3_856_000, qu_min: 1, qu_max: 1 },
  tier: 'standard',
  advised_tier: 'standard',
  meta: SQL_EXAMPLE.meta,
  warnings: [],
};

export const SQL_ANSWER_EXAMPLES: Readonly<Record<string, NamedExample>> = {
  json_compact: { summary: 'With the format `json_compact`.', value: COMPACT },
  explain_only: { summary: 'To `explain_only`.', value: ESTIMATE },
};
