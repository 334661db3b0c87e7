import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodePaymentResponseHeader } from '@x402/fetch';
import { afterEach, expect, test } from 'vitest';
import { freePort } from '../../core/process/free-port.ts';
import { openSqliteStore } from '../../src/accounts/sqlite/store.ts';
import { until } from '../kit/service.ts';
import { startX402World } from '../kit/x402-world.ts';
import { startApiProcess } from './api-process.ts';
import { ask, openOrganization, realClient, sellingConfig } from './payments-stage.ts';

/** The whole service as `npm start` runs it, with its engine and its worker, over a real chain and a real facilitator. */

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test('a payment for a call is a row of the index, in lists and in SQL, and the same row after kill -9; its units are spent once', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'settlement-index-smoke-'));
  cleanups.push(() => rmSync(dataDir, { recursive: true, force: true }));
  const world = await startX402World();
  cleanups.push(() => world.stop());
  const config = sellingConfig(world, world.facilitator);
  const service = await startApiProcess({
    ...config,
    dataDir,
    http: { ...config.http, port: await freePort() },
  });
  cleanups.push(() => service.kill());

  // Ready from its first answer on: what is sold now is served.
  const payer = await world.payer();
  const paid = await realClient(payer, 2)(`${service.url}/v0/flows?limit=3`);
  expect(paid.status).toBe(200);
  const { transaction } = decodePaymentResponseHeader(paid.headers.get('payment-response') ?? '');
  expect(await world.balance(payer.address)).toBe(999_000n);

  const store = openSqliteStore({ path: join(dataDir, 'control.db') });
  const { key } = await openOrganization(store, 5);
  await store.close();
  const headers = { 'X-API-Key': key };
  const listed = async (): Promise<readonly object[]> => {
    const { body } = await ask(`${service.url}/v0/entities/${payer.address}/settlements`, headers);
    // Names of facilitators are read from time to time; everything else is of the chain.
    return body.settlements?.map(({ facilitator_name: _name, ...row }: { facilitator_name: unknown }) => row);
  };
  const balance = async (): Promise<unknown> =>
    (await ask(`${service.url}/v0/account`, headers)).body.balance.available_qu;
  const selected = async (): Promise<unknown> => {
    const sql = `SELECT tx_hash, payer, payee, amount, evidence_tier FROM settlements WHERE payer = '${payer.address}'`;
    return (await ask(`${service.url}/v0/sql`, headers, { sql })).body.rows;
  };

  await until('the payment is in the index', async () => (await listed()).length > 0);
  const row = await listed();
  expect(row).toMatchObject([{ tx_hash: transaction, amount: '1000', evidence: { tier: 'proven' } }]);
  const inSql = await selected();
  expect(inSql).toEqual([
    {
      tx_hash: transaction,
      payer: payer.address,
      payee: world.accepted.payTo,
      amount: '1000',
      evidence_tier: 'proven',
    },
  ]);
  expect(await balance()).toBe(4);

  await service.kill();
  await service.start();
  expect(await listed()).toEqual(row);
  expect(await balance()).toBe(4);
  expect(await selected()).toEqual(inSql);
  expect(await balance()).toBe(3);
});
