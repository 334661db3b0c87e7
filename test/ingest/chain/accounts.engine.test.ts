import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../../core/config/load.ts';
import { type Address, address } from '../../../core/domain/account.ts';
import { createLog } from '../../../core/log.ts';
import { type Anvil, startAnvil } from '../../../demo/chain/anvil.ts';
import { AccountsUnread } from '../../../ingest/chain/block-source.ts';
import { createRpcSource } from '../../../ingest/chain/source.ts';
import { wallet } from '../../kit/rows.ts';
import { type Call, type Reply, type RewritingNode, startRewritingNode } from './rewriting-node.ts';

/** What the contract of `accounts` says about nodes that do not answer as they should. The node behind is a real one. */

const OF = address('0x00000000000000000000000000000000deadbeef');
const BALANCE = 2n ** 100n + 7n;
let anvil: Anvil;
const open: RewritingNode[] = [];

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 84532 });
  await anvil.rpc.call('anvil_setBalance', OF, `0x${BALANCE.toString(16)}`);
  await anvil.rpc.call('anvil_setNonce', OF, '0x2a');
});
afterEach(async () => {
  for (const node of open.splice(0)) await node.stop();
});
afterAll(() => anvil?.stop());

async function node(rewrite: (call: Call, reply: Reply) => Reply): Promise<RewritingNode> {
  const started = await startRewritingNode(anvil.url, rewrite);
  open.push(started);
  return started;
}

function sourceOf(...rpcUrls: string[]) {
  const [config] = loadConfig({ env: { CHAINS: 'base-sepolia' } }).chains;
  if (config === undefined) throw new Error('Base Sepolia is built in');
  const limits = { requestTimeoutMs: 400, backOffFirstMs: 1, backOffMaxMs: 20 };
  return createRpcSource(
    { ...config, rpcUrls, requestsPerSecond: 100_000 },
    { log: createLog('silent', 'test'), limits },
  );
}

const isAccountCall = ({ method }: Call): boolean => /^eth_get(Balance|TransactionCount)$/.test(method);
const TRUTH = [{ address: OF, nonce: 42, balance: BALANCE }];

test('a balance beyond 64 bits is read whole', async () => {
  expect(await sourceOf(anvil.url).accounts([OF])).toEqual(TRUTH);
});

test.each<[string, Reply]>([
  ['refuses the call', { error: { code: -32_601, message: 'the method does not exist' } }],
  ['answers null', { result: null }],
  ['answers a number', { result: 5 }],
  ['answers more than 256 bits', { result: `0x${'f'.repeat(65)}` }],
  ['answers no hex', { result: '0xnonsense' }],
])('a node that %s is given up on after two attempts, and its answer is not used', async (_what, wrong) => {
  const bad = await node((call, reply) => (isAccountCall(call) ? wrong : reply));
  await expect(sourceOf(bad.url).accounts([OF])).rejects.toThrow(AccountsUnread);
  expect(bad.calls.filter(({ method }) => method === 'eth_getBalance')).toHaveLength(2);
});

test('a nonce that no account can reach is not used', async () => {
  const bad = await node((call, reply) =>
    call.method === 'eth_getTransactionCount' ? { result: `0x${'f'.repeat(16)}` } : reply,
  );
  await expect(sourceOf(bad.url).accounts([OF])).rejects.toThrow(AccountsUnread);
});

test('the next URL is asked before giving up', async () => {
  const bad = await node((call, reply) => (isAccountCall(call) ? { result: null } : reply));
  expect(await sourceOf(bad.url, anvil.url).accounts([OF])).toEqual(TRUTH);
});

test('a node that goes away while it is asked is an error in bounded time, without its URL', async () => {
  const leaving = await node((call, reply) => (call.method === 'eth_chainId' ? reply : never()));
  const source = sourceOf(`${leaving.url}/key-of-mine`);
  const failure: unknown = await source.accounts([OF]).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(AccountsUnread);
  expect(`${failure} ${failure instanceof Error ? String(failure.cause) : ''}`).not.toContain('key-of-mine');
});

test('the funder is who sent the first coins by a transaction, whatever came and went later', async () => {
  const { call } = anvil.rpc;
  const [first, second, funded, gift] = [wallet(1), wallet(2), wallet(3), wallet(4)];
  const send = (from: Address, to: Address, value: string) =>
    call('eth_sendTransaction', { from, to, value });
  for (const sender of [first, second]) await call('anvil_setBalance', sender, '0x8000000000000000');
  await call('anvil_mine', '0x15');
  await send(first, funded, '0x0');
  await send(first, funded, '0x2000000000000000');
  await send(second, funded, '0x1');
  await call('anvil_mine', '0x1');
  await call('anvil_setNonce', funded, '0x1');
  await call('anvil_setBalance', funded, '0x0');
  await call('anvil_setBalance', gift, '0x1');
  await call('anvil_mine', '0x22');
  const source = sourceOf(anvil.url);
  expect(await source.funder(funded)).toBe(first);
  expect(await source.funder(gift)).toBeNull();
  const pruned = await node((asked, reply) =>
    isAccountCall(asked) && asked.params[1] !== 'latest'
      ? { error: { code: -32_000, message: 'missing trie node' } }
      : reply,
  );
  await expect(sourceOf(pruned.url).funder(funded)).rejects.toThrow(AccountsUnread);
});

/** Makes the proxy cut the connection. */
function never(): never {
  throw new Error('no answer');
}
