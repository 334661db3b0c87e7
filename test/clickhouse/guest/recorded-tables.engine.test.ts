import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { trustedText } from '../../../clickhouse/engine/sql.ts';
import type { Address } from '../../../core/domain/account.ts';
import { verdictPass } from '../../../ingest/verdicts/pass.ts';
import { testClock } from '../../kit/api.ts';
import { emptyTables } from '../../kit/empty-tables.ts';
import { testLog } from '../../kit/engine.ts';
import { attestation, insertAttestations } from '../../kit/registry-rows.ts';
import { BASE, hash, insertSettlements, NOON, reportChain, settlement, wallet } from '../../kit/rows.ts';
import { type SandboxEngine, sandboxEngine } from '../../kit/sandbox-engine.ts';

/** What the worker reads or computes in the background, as analysts see it. */

let engine: SandboxEngine;

beforeAll(async () => {
  engine = await sandboxEngine();
});
afterAll(() => engine?.close());
beforeEach(async () => {
  await emptyTables(engine.writer);
  await reportChain(engine.writer, BASE, { finalized_block: '1000' });
});

const asGuest = (text: string) => engine.guest.explain({ name: 'view', text, maxSeconds: 10 });
const run = (text: string) =>
  engine.writer.run({ name: 'fill', sql: trustedText(text), maxSeconds: 10, kind: 'other' });

describe('attestations', () => {
  test('show the comment of the file of a feedback, and NULL without one', async () => {
    const uri = 'https://files.example/1';
    await insertAttestations(engine.writer, [
      attestation({ blockNumber: 1, agentId: 5n, client: wallet(1), uri }),
      attestation({ blockNumber: 2, agentId: 5n, client: wallet(2), uri }),
      attestation({ blockNumber: 3, agentId: 6n, client: wallet(1), uri: '' }),
    ]);
    await run(
      `INSERT INTO feedback_files SELECT * REPLACE('good' AS status, 'Quick.' AS comment, ver + 1 AS ver) FROM feedback_files FINAL WHERE block_number = 1`,
    );
    const all = await asGuest('SELECT block_number, comment FROM attestations ORDER BY block_number');
    expect(all).toEqual([
      ['1', 'Quick.'],
      ['2', null],
      ['3', null],
    ]);
    expect(
      await asGuest(`SELECT comment FROM attestations WHERE agent_id = 5 AND comment ILIKE '%quick%'`),
    ).toEqual([['Quick.']]);
  });
});

describe('transaction_fees', () => {
  test('show what a transaction cost and who relayed it, found by time, hash and relayer', async () => {
    const wei = 2n ** 130n;
    const row = (at: number, del: number) =>
      `SELECT toDateTime(${NOON + at}, 'UTC'), '${BASE}', unhex('${hash(at).slice(2)}'), ${100 + at}, unhex('${wallet(0xd4).slice(2)}'),
        if(${at} = 1, 'coinbase', ''), 2, toDecimal128('3.5', 6), 60000, toUInt256('${wei}'), 7, toUInt256('${wei * 60_000n + 7n}'), 1, ${del}`;
    for (const [at, del] of [
      [1, 0],
      [2, 0],
      [3, 1],
    ] as const)
      await run(
        `INSERT INTO transaction_fees (block_time, chain, tx_hash, block_number, relayer, facilitator, settlement_count, settled_usd, gas_used,
          gas_price, l1_fee, fee, ver, del) ${row(at, del)}`,
      );
    const columns =
      'tx_hash, block_number, toUnixTimestamp(block_time), facilitator, facilitator_name, settlement_count, settled_usd, gas_used, gas_price_wei, l1_fee_wei, fee_wei';
    const figures = [2, '3.5', '60000', String(wei), '7', String(wei * 60_000n + 7n)];
    const first = [hash(1), '101', NOON + 1, 'coinbase', 'Coinbase', ...figures];
    expect(
      await asGuest(
        `SELECT ${columns} FROM transaction_fees WHERE relayer = '${wallet(0xd4)}' ORDER BY block_number`,
      ),
    ).toEqual([first, [hash(2), '102', NOON + 2, null, null, ...figures]]);
    expect(await asGuest(`SELECT ${columns} FROM transaction_fees WHERE tx_hash = '${hash(1)}'`)).toEqual([
      first,
    ]);
    const plan = await asGuest(
      `EXPLAIN indexes = 1 SELECT fee_wei FROM transaction_fees WHERE tx_hash = '${hash(1)}'`,
    );
    expect(plan.some(([line]) => String(line).includes('ix_tx_text'))).toBe(true);
  });
});

describe('wallet_verdicts', () => {
  test('are what the last pass found, with NULL where a share has no base', async () => {
    expect(await asGuest('SELECT count() FROM wallet_verdicts')).toEqual([['0']]);
    const [left, right, alone] = [wallet(1), wallet(2), wallet(3)];
    const times = (count: number, payer: Address, payee: Address, usd: bigint, from: number) =>
      Array.from({ length: count }, (_, at) =>
        settlement({
          payer,
          payee,
          amountUsdMicros: usd,
          blockNumber: from + at,
          blockTime: NOON - from - at,
        }),
      );
    await insertSettlements(engine.writer, [
      ...times(10, left, right, 2_000_000n, 100),
      ...times(2, right, left, 1_000_000n, 200),
      ...times(1, alone, right, 0n, 300),
    ]);
    await run(
      `INSERT INTO wallet_rings SELECT '${right}', 2, ['${left}', '${right}'], 2, 22, toDateTime(1), toDateTime(2), '1', 5`,
    );
    await run('INSERT INTO ring_passes (gen) VALUES (5)');
    const { signal } = new AbortController();
    await verdictPass({ writer: engine.writer, log: testLog, signal, clock: testClock() });
    const columns =
      'verdict, reasons, rings, settlement_count, settled_usd, self_payment_share, concentration, largest_share, reciprocity, toUnixTimestamp(judged_at)';
    const judgedAt = Math.floor(testClock().nowMs() / 1_000);
    expect(
      await asGuest(`SELECT ${columns} FROM wallet_verdicts WHERE wallet = '${right}' AND role = 'payee'`),
    ).toEqual([
      [
        'suspect',
        ['payer_concentration', 'single_payer_dominance', 'reciprocity', 'ring_membership'],
        [[left, right]],
        // Without the payment of nothing, which is dust.
        ...['10', '20', 0, 1, 1, 1, judgedAt],
      ],
    ]);
    expect(await asGuest(`SELECT ${columns} FROM wallet_verdicts WHERE wallet = '${alone}'`)).toEqual([
      ['insufficient', [], [], '0', '0', null, null, null, null, judgedAt],
    ]);
    expect(await asGuest(`SELECT wallet, role FROM wallet_verdicts ORDER BY wallet, role`)).toEqual([
      [left, 'payee'],
      [left, 'payer'],
      [right, 'payee'],
      [right, 'payer'],
      [alone, 'payer'],
    ]);
  });
});
