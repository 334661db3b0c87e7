import { describe, expect, test } from 'vitest';
import { DIALECTS } from '../../../sandbox/dialects/dialects.ts';
import { translated } from '../../../sandbox/dialects/translate.ts';
import { ON_SOLANA, SOLANA } from '../../kit/rows.ts';

/** A suggestion says all of its text: where a clause has no rule there is none, and a cast or an offset is not left out where it changes the value. */

const NOT_SAID = [
  'SELECT count(*) FROM settlements TABLESAMPLE SYSTEM (10)',
  'SELECT count(*) FROM settlements TABLESAMPLE BERNOULLI (1)',
  'SELECT payee, string_agg(DISTINCT payer ORDER BY amount_usd) FROM settlements GROUP BY payee',
  'SELECT array_agg(DISTINCT payer ORDER BY block_time DESC) FROM settlements',
];

const VALUES: readonly (readonly [string, string])[] = [
  ["SAFE_CAST('x' AS NUMERIC)", "accurateCastOrNull('x', 'Decimal(38, 9)')"],
  ['SAFE_CAST(payer AS NUMERIC)', "accurateCastOrNull(payer, 'Decimal(38, 9)')"],
  ["CAST('x' AS NUMERIC)", "toDecimal128('x', 9)"],
  ["CAST('1.5' AS NUMERIC)", '1.5'],
  ['CAST(evidence_tier AS NUMERIC)', 'toDecimal128(evidence_tier, 9)'],
  ['CAST(amount_usd AS NUMERIC)', 'amount_usd'],
  ['CAST(sum(amount_usd) AS NUMERIC(18, 2))', 'round(sum(amount_usd), 2)'],
  ["TIMESTAMP '2026-11-20 12:30:00.5Z'", "toDateTime('2026-11-20 12:30:00', 'UTC')"],
  ["TIMESTAMP '2026-11-20 12:30:00+05:00'", "parseDateTimeBestEffort('2026-11-20 12:30:00+05:00', 'UTC')"],
];

describe('a translation', () => {
  test.for(NOT_SAID)('is not made of %s', (sql) => {
    for (const dialect of DIALECTS) expect(translated(sql, dialect), dialect).toBeNull();
  });

  test('calls Solana as we do, and leaves base58 as it is', () => {
    const { seller } = ON_SOLANA;
    const where = `blockchain = 'solana' AND recipient_address = '${seller}'`;
    const text = translated(`SELECT amount_usd FROM payments.agentic_payments WHERE ${where}`, 'trino');
    expect(text).toContain(`chain = '${SOLANA}'`);
    expect(text).toContain(`payee = '${seller}'`);
    expect(translated('SELECT usd_amount FROM solana.agents.x402_transfers', 'trino')).toContain(
      `'${SOLANA}'`,
    );
  });

  test.for(VALUES)('of %s keeps its value', ([cast, ours]) => {
    expect(translated(`SELECT ${cast} AS n FROM settlements`, 'bigquery')).toBe(
      `SELECT ${ours} AS n\nFROM settlements`,
    );
  });
});
