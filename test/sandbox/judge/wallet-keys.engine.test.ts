import { describe, expect } from 'vitest';
import { test } from '../../kit/fixtures.ts';

/** Where ids would do in place of addresses. */

describe('groups by long keys alone', () => {
  test.for([
    ['SELECT payer, payee, COUNT(*) FROM settlements GROUP BY payer, payee', true],
    ['SELECT tx_hash, avg(log_index) FROM settlements GROUP BY tx_hash', true],
    ['SELECT count() FROM (SELECT payer, payee FROM settlements GROUP BY payer, payee)', true],
    ['SELECT payer, count() FROM settlements GROUP BY payer', false],
    ['SELECT payer_id, payee_id, count() FROM settlements GROUP BY payer_id, payee_id', false],
    ['SELECT payer, payee, uniqExact(relayer) FROM settlements GROUP BY payer, payee', false],
    [
      'SELECT c, count() FROM (SELECT tx_hash, count() AS c FROM settlements GROUP BY tx_hash) GROUP BY c',
      false,
    ],
    ['SELECT count() FROM settlements', false],
  ] as const)('%s', async ([text, hasLongKeys], { judge }) => {
    expect((await judge.accepted(text)).hasLongKeys).toBe(hasLongKeys);
  });
});

describe('the ids that a query could use', () => {
  test.for([
    ['SELECT payer, count() FROM settlements GROUP BY payer', ['payer_id']],
    ['SELECT payer AS who, payee, count() FROM settlements GROUP BY who, 2', ['payer_id']],
    ['SELECT uniqExact(payee) FROM settlements', ['payee_id']],
    ['SELECT count(DISTINCT payer, payee) FROM settlements', ['payee_id', 'payer_id']],
    ['WITH x AS (SELECT payer AS p FROM settlements) SELECT p, count() FROM x GROUP BY p', ['payer_id']],
    ['SELECT count() FROM settlements AS s JOIN merchant_days AS m ON s.payee = m.payee', ['payee_id']],
    ['SELECT count() FROM settlements JOIN merchant_days USING (payee)', ['payee_id']],
    ['SELECT address, count() FROM wallets GROUP BY address', ['wallet_id']],
    ['SELECT payer_id, count() FROM settlements GROUP BY payer_id', []],
    ['SELECT payer FROM settlements WHERE payee IN (SELECT payer FROM settlements)', []],
    ['SELECT address, count() FROM wallet_names GROUP BY address', []],
    ['SELECT relayer, sum(amount_usd) FROM settlements GROUP BY relayer', []],
  ] as const)('%s', async ([text, ids], { judge }) => {
    expect((await judge.accepted(text)).walletKeys).toEqual(ids);
  });
});
