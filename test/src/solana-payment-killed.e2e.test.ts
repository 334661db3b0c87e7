import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodePaymentResponseHeader } from '@x402/core/http';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../core/process/free-port.ts';
import { startScriptedFacilitator } from '../kit/scripted-facilitator.ts';
import { solanaHeader, startSolanaLane } from '../kit/solana-lane.ts';
import { waitUntil } from '../kit/wait-until.ts';
import { startApiProcess } from './api-process.ts';
import { ask, lapseLeases, startEngine } from './payments-stage.ts';

/** A call that is paid on Solana, as its caller meets it: whole processes, the official client and facilitator, kill -9. */

const PRICE_ATOMS = 1_000n;

async function startStage() {
  const directory = mkdtempSync(join(tmpdir(), 'settlement-index-solana-payment-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const world = await startSolanaLane();
  onTestFinished(() => world.stop());
  const facilitator = await startScriptedFacilitator(world.facilitator.url);
  onTestFinished(() => facilitator.stop());
  const engine = await startEngine(directory);
  onTestFinished(async () => void (await engine.stop()));
  const { url, database, reader, writer, guest } = engine.access;
  const { rpcUrls, payTo } = world.accepted;
  const dataDir = join(directory, 'api');
  const api = await startApiProcess({
    ...{ role: 'api', dataDir, http: { port: await freePort() } },
    clickhouse: { url, database, reader, writer, guest },
    chains: [{ chain: 'solana-devnet', rpcUrls, startBlock: 0 }],
    payment: { facilitatorUrl: facilitator.url, accept: [{ chain: 'solana-devnet', payTo }] },
  });
  onTestFinished(() => api.kill());
  return { world, facilitator, api: { ...api, dataDir } };
}

test('a call paid on Solana whose service is killed between settlement and answer is charged once, and answered when it is sent again', async () => {
  const { world, facilitator, api } = await startStage();
  const path = `${api.url}/v0/flows?limit=5`;
  const offered = async () => {
    const { body, headers } = await ask(path);
    return { accepts: body.accepts ?? [], requiredHeader: headers.get('payment-required') ?? '' };
  };
  await waitUntil('the facilitator was heard', async () => (await offered()).accepts.length > 0);
  const offer = await offered();
  const payment = { 'PAYMENT-SIGNATURE': solanaHeader(offer, await world.sign(offer)) };
  const before = await world.balance(world.accepted.payTo);
  facilitator.onSettle = async (_call, forward) => {
    const reply = await forward();
    await api.kill();
    return reply;
  };
  expect(await ask(path, payment).catch(() => 'the connection broke')).toBe('the connection broke');
  lapseLeases(api);
  await api.start();
  const second = await ask(path, payment);
  expect(second.status).toBe(200);
  const receipt = decodePaymentResponseHeader(second.headers.get('payment-response') ?? '');
  expect(receipt).toMatchObject({ success: true, payer: world.solana.payer.address });
  expect(await ask(path, payment)).toMatchObject({ status: 402, body: { code: 'payment_invalid' } });
  expect((await world.balance(world.accepted.payTo)) - before).toBe(PRICE_ATOMS);
  expect(facilitator.calls.filter(({ path: at }) => at === '/settle')).toHaveLength(1);
});
