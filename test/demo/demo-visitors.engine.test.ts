import { setTimeout as sleep } from 'node:timers/promises';
import type { Hex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Address, Hash } from '../../core/domain/account.ts';
import type { Actor } from '../../demo/actors.ts';
import { reorg } from '../../demo/chain/anvil.ts';
import { callBareTransfer, callTransfer, signAuthorization } from '../../demo/chain/payments.ts';
import { walletOf } from '../../demo/chain/sender.ts';
import { type Facilitator, startFacilitator } from '../../demo/facilitator.ts';
import { makeTraffic, type Traffic } from '../../demo/traffic.ts';
import { startWorld, type World } from '../../demo/world.ts';
import { createHttpFacilitator } from '../../src/payment/facilitator.ts';
import { offerOf, quoteOf } from '../../src/payment/offer.ts';
import { readPurchase, toSettle } from '../../src/payment/purchase.ts';
import { watchedLog, watchSecret } from '../kit/secrets-watch.ts';
import { waitUntil } from '../kit/wait-until.ts';
import { acceptedOf, orderOf, pay } from '../kit/x402-world.ts';

/** What visitors of the demo do: they pay at any moment, also during a reorg, and send transactions of their own. */

const SEED = 11;
const SETTLE_TIMEOUT_MS = 15_000;
const MINE_EVERY_MS = 100;

let world: World;
let facilitator: Facilitator;
let traffic: Traffic;

beforeAll(async () => {
  world = await startWorld({ seed: SEED, genesisTime: nowSeconds() - 10_000 });
  watchSecret(world.cast.x402Relayer.privateKey);
  const { privateKey } = world.cast.x402Relayer;
  const log = watchedLog('facilitator-process');
  const { chain, chainId } = world;
  facilitator = await startFacilitator({ rpcUrl: chain.url, chainId, privateKey, builderCode: 'demo', log });
  traffic = await makeTraffic(world, { seed: SEED });
  // Authorizations are valid from now on, by the clock of the chain.
  await traffic.block(0, nowSeconds());
});
afterAll(async () => {
  await facilitator?.stop();
  await world?.stop();
});

function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}

/** Settles a new payment of one of the agents; resolves with the facilitator's word. */
async function settle(agent: number): Promise<string> {
  const payer = world.cast.x402Agents[agent];
  if (payer === undefined) throw new Error('no such agent');
  const accepted = acceptedOf(world.chain.url, world.cast.api.address);
  const quote = quoteOf(orderOf(), { accept: [accepted], offerSeconds: 60 });
  const { header } = await pay(offerOf(quote, 'payment_required'), payer, 2);
  const client = createHttpFacilitator({
    url: facilitator.url,
    headers: {},
    settleTimeoutMs: SETTLE_TIMEOUT_MS,
  });
  return (await client.settle(toSettle(readPurchase(quote, header)))).outcome;
}

async function untilInPool(count: number): Promise<void> {
  await waitUntil(`${count} transactions wait in the pool`, async () => {
    const pool = await world.chain.rpc.call<{ pending: string; queued: string }>('txpool_status');
    return Number(pool.pending) + Number(pool.queued) === count;
  });
}

/** Mines until all of them are settled or refused. */
async function minedUntil<Outcome>(settling: readonly Promise<Outcome>[]): Promise<Outcome[]> {
  const all = Promise.all(settling);
  for (let done = false; !done; ) {
    await traffic.block(0, nowSeconds());
    done = await Promise.race([all.then(() => true), sleep(MINE_EVERY_MS).then(() => false)]);
  }
  return all;
}

test('payments before, during and after a reorg settle, although the node forgot the first of them', async () => {
  const first = settle(0);
  await untilInPool(1);
  expect(await minedUntil([first])).toEqual(['settled']);
  const second = settle(1);
  await untilInPool(1);
  // Undoes the first payment and mines empty blocks instead: nothing returns it to the pool.
  const depth = 2;
  await reorg(world.chain, { depth, blocks: depth + 1 });
  const third = settle(2);
  expect(await minedUntil([second, third])).toEqual(['settled', 'settled']);
  const nonce = await world.chain.rpc.call<string>(
    'eth_getTransactionCount',
    world.cast.x402Relayer.address,
    'latest',
  );
  expect(Number(nonce), 'the first payment is on the chain again').toBe(3);
});

test('strangers’ transactions are traffic: their payments are expected as their receipts say, in every block', async () => {
  const { chain, cast } = world;
  const [seller] = cast.merchants;
  const [first, second, third] = cast.agents;
  const stranger = walletOf('a stranger to the demo');
  if (!seller || !first || !second || !third) throw new Error('the cast is too small');
  const pays = async (payer: Actor, to: Address) =>
    callTransfer(await signAuthorization(chain.token, payer, { to, value: 5n }));
  const from = (sender: Address, data: Hex) => ({
    method: 'eth_sendTransaction',
    params: [{ from: sender, to: chain.token.address, data, gas: '0x61a80' }],
  });
  await chain.rpc.call('anvil_setBalance', stranger.address, '0xde0b6b3a7640000');
  const unknown = walletOf('a payee that no catalogue names');
  const relayed = await pays(first, unknown.address);
  const hashes = await chain.rpc.batch<Hash>([
    from(stranger.address, await pays(second, seller.address)),
    from(stranger.address, relayed),
    from(stranger.address, relayed),
    from(third.address, callBareTransfer(seller.address, 7n)),
    from(third.address, callBareTransfer(stranger.address, 7n)),
    from(third.address, await pays(third, stranger.address)),
    { method: 'eth_sendTransaction', params: [{ from: third.address, to: stranger.address, value: '0x1' }] },
  ]);
  await traffic.block(3, nowSeconds());
  const expected = (): (string | null)[][] =>
    hashes.flatMap((hash) =>
      traffic.ledger
        .rows()
        .filter(({ txHash }) => txHash === hash)
        .map(({ payee, method }) => [payee, method]),
    );
  const all = [
    [seller.address, 'catalogued_payee'],
    [unknown.address, 'gasless_authorization'],
    [seller.address, 'bare_transfer'],
    [stranger.address, 'self_relayed'],
  ];
  expect(expected()).toEqual(all);
  await traffic.reorg(2);
  await traffic.block(2, nowSeconds());
});

test('blocks that a visitor mines or undoes are read like any other', async () => {
  const { rpc } = world.chain;
  await traffic.block(4, nowSeconds());
  await rpc.call('evm_mine', nowSeconds() + 1_000);
  await traffic.block(2, nowSeconds());
  expect(traffic.head.number).toBe(Number(await rpc.call<string>('eth_blockNumber')));
  const before = traffic.ledger.count;
  await rpc.call('anvil_rollback', 3);
  world.chain.sender.forget();
  await traffic.block(1, nowSeconds());
  expect(traffic.ledger.count).toBe(before - 6 + 1);
  expect(traffic.head.number).toBe(Number(await rpc.call<string>('eth_blockNumber')));
});
