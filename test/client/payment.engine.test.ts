import type { AddressInfo } from 'node:net';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClientOptions, createClient, payWith } from '../../client/index.ts';
import { loadConfig } from '../../core/config/load.ts';
import type { Wallet } from '../../demo/chain/sender.ts';
import { type OwnApi, ownApi } from '../kit/own-api.ts';
import { NOON } from '../kit/rows.ts';
import { watchSecret } from '../kit/secrets-watch.ts';
import { startX402World, type X402World } from '../kit/x402-world.ts';

/** The client pays by the real x402 client, on a real chain with Circle's token, through a real facilitator. */

const GRANT = 1_000_000n;
const KEY_PRICE = 10_000n;

let world: X402World;
let api: OwnApi;
let url: string;

beforeAll(async () => {
  world = await startX402World();
  const { payment } = loadConfig({ env: {} });
  api = await ownApi({
    config: { payment: { ...payment, facilitatorUrl: world.facilitator.url, accept: [world.accepted] } },
  });
  // Authorizations are signed and settled in the time of the chain, which is that of the machine.
  api.clock.advanceSeconds(Math.floor(Date.now() / 1_000) - NOON);
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await api?.close();
  await world?.stop();
});

function clientOf({ privateKey }: Wallet, over: Partial<ClientOptions> = {}) {
  const signer = privateKeyToAccount(privateKey);
  return createClient({ url, payer: payWith(registerExactEvmScheme(new x402Client(), { signer })), ...over });
}

async function expectPaid(payer: Wallet, atoms: bigint): Promise<void> {
  expect(await world.balance(payer.address)).toBe(GRANT - atoms);
  expect(await world.settlements(payer.address)).toBe(atoms === 0n ? 0 : 1);
}

test('a call is paid for, answered and receipted', async () => {
  const payer = await world.payer();
  const client = clientOf(payer);
  const { body, receipt } = await client.mintTrialKey().withReply();
  watchSecret(body.api_key);
  expect(receipt).toMatchObject({ success: true, payer: payer.address, network: 'eip155:84532' });
  expect(body.settlement).toMatchObject({ payer: payer.address, transaction: receipt?.transaction });
  expect(client.signedUsd()).toBe('0.01');
  await expectPaid(payer, KEY_PRICE);
  const account = await createClient({ url, key: body.api_key }).getAccount();
  expect(account).toMatchObject({ tier: 'trial', key_recognised: true });
});

test('a lost answer is requested again with the same payment, and nothing is paid twice', async () => {
  const payer = await world.payer();
  let lost = 0;
  const losing: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    if (!new Headers(init?.headers).has('x-payment') || lost > 0) return answer;
    lost += 1;
    watchSecret((await answer.json()).api_key);
    throw new TypeError('the line is dead');
  };
  const { api_key: key } = await clientOf(payer, { fetch: losing }).mintTrialKey();
  watchSecret(key);
  expect([lost, key]).toEqual([1, expect.stringMatching(/^six_trial_/)]);
  await expectPaid(payer, KEY_PRICE);
});

test('nothing is signed or paid beyond the cap', async () => {
  const payer = await world.payer();
  const client = clientOf(payer, { maxUsd: '0.009999' });
  const error = await client.mintTrialKey().then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ code: 'payment_over_cap', payment: null });
  expect(client.signedUsd()).toBe('0');
  await expectPaid(payer, 0n);
});
