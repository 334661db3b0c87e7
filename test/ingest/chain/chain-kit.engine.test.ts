import { readFileSync } from 'node:fs';
import { keccak256 } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { address, type Hash } from '../../../core/domain/account.ts';
import { type DemoChain, reorg, reorgToEmpty, startDemoChain } from '../../../demo/chain/anvil.ts';
import {
  type Artifact,
  CONTRACT_FILES,
  committedDigest,
  compilationDigest,
  compileContracts,
} from '../../../demo/chain/compile-contracts.ts';
import { callBatch, MULTICALL3, mintUsdc } from '../../../demo/chain/deploy-usdc.ts';
import {
  authorizeWillingly,
  callBareTransfer,
  callReceive,
  callReceiveBytes,
  callRouted,
  callTransfer,
  callTransferBytes,
  signAuthorization,
  withBuilderCode,
  withPlainBuilderCodes,
} from '../../../demo/chain/payments.ts';
import {
  callApprovePermit2,
  callExactSettle,
  callExactSettleWithPermit,
  callUptoSettle,
  EXACT_PROXY,
  installWillingPayers,
  REVERSE_TOKEN,
  ROUTER,
  UPTO_PROXY,
} from '../../../demo/chain/permit2.ts';
import { mine, mineMany, requireSuccess, walletOf } from '../../../demo/chain/sender.ts';
import { TOPIC } from '../../../ingest/decode/log-kind.ts';
import { IS_NIGHTLY } from '../../kit/lengths.ts';
import { readReceipts } from '../../kit/oracle/receipts.ts';

const payer = walletOf('payer');
const payee = walletOf('payee').address;
const relayer = address('0xdbdf3d8ed80f84c35d01c6c9f9271761bad90ba6');
const willing = walletOf('willing payer').address;

/** Seconds of pure computing: on a machine with other work, minutes. */
const COMPILE_TIMEOUT_MS = 240_000;

let chain: DemoChain;

beforeAll(async () => {
  chain = await startDemoChain();
  await installWillingPayers(chain.rpc, [willing]);
  await mintUsdc(chain.sender, [
    { to: payer.address, amount: 10n ** 12n },
    { to: willing, amount: 10n ** 12n },
  ]);
  await mine(chain.rpc);
});
afterAll(() => chain?.stop());

const PAIR = [TOPIC.authorizationUsed, TOPIC.transfer];

async function settleAndRead(hash: Hash): Promise<Hash[]> {
  await mine(chain.rpc);
  await requireSuccess(chain.rpc, [hash]);
  const head = Number(await chain.rpc.call<string>('eth_blockNumber'));
  const receipts = await readReceipts(chain.rpc, head, head);
  return receipts.flatMap(({ logs }) => logs.map(({ topics }) => topics[0] as Hash)); // every event here has a topic
}

const sign = (kind: 'transfer' | 'receive' = 'transfer', to = payee) =>
  signAuthorization(chain.token, payer, { to, value: 1_000n }, kind);
const send = (data: `0x${string}`, to = chain.token.address, from = relayer) =>
  chain.sender.send({ from, to, data });

test('the token carries the domain separator of the real Base Sepolia USDC', () => {
  expect(chain.token.domainSeparator).toBe(
    '0x71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818',
  );
});

test('every way of paying mines the events that the protocol names for it', async () => {
  const bytes = callTransferBytes(await sign());
  expect(await settleAndRead(await send(callTransfer(await sign())))).toEqual(PAIR);
  expect(await settleAndRead(await send(bytes))).toEqual(PAIR);
  expect(
    await settleAndRead(await send(callReceive(await sign('receive')), chain.token.address, payee)),
  ).toEqual(PAIR);
  const received = callReceiveBytes(await sign('receive'));
  expect(await settleAndRead(await send(received, chain.token.address, payee))).toEqual(PAIR);
  const batch = callBatch(chain.token.address, [callTransfer(await sign()), callTransferBytes(await sign())]);
  expect(await settleAndRead(await send(batch, MULTICALL3))).toEqual([...PAIR, ...PAIR]);
  const routed = callRouted(chain.token.address, callTransfer(await sign()));
  expect(await settleAndRead(await send(routed, ROUTER))).toEqual(PAIR);
  const bare = callBareTransfer(payee, 5n);
  expect(await settleAndRead(await send(bare, chain.token.address, payer.address))).toEqual([TOPIC.transfer]);
  const easy = callTransferBytes(authorizeWillingly(willing, { to: payee, value: 7n }));
  expect(await settleAndRead(await send(easy))).toEqual(PAIR);
});

test('the Permit2 doubles settle with the events of the deployed proxies', async () => {
  const terms = { chainId: chain.chainId, token: chain.token.address, to: payee, amount: 500n };
  const permitted = await callExactSettleWithPermit(chain.rpc, chain.token, payer, { ...terms, nonce: 1n });
  expect((await settleAndRead(await send(permitted, EXACT_PROXY))).slice(-2)).toEqual([
    TOPIC.transfer,
    TOPIC.permit2SettledWithPermit,
  ]);
  await settleAndRead(await send(callApprovePermit2(), chain.token.address, payer.address));
  const exact = await callExactSettle(payer, { ...terms, nonce: 2n });
  expect((await settleAndRead(await send(exact, EXACT_PROXY))).slice(-2)).toEqual([
    TOPIC.transfer,
    TOPIC.permit2Settled,
  ]);
  const upto = await callUptoSettle(payer, { ...terms, nonce: 3n, facilitator: relayer, actual: 20n });
  expect((await settleAndRead(await send(upto, UPTO_PROXY))).slice(-2)).toEqual([
    TOPIC.transfer,
    TOPIC.permit2Settled,
  ]);
});

test('the token of another issuer emits its pair the other way round', async () => {
  const mint = `0x40c10f19${payer.address.slice(2).padStart(64, '0')}${'f'.padStart(64, '0')}` as const;
  await settleAndRead(await send(mint, REVERSE_TOKEN));
  const signed = await signAuthorization(chain.token, payer, { to: payee, value: 3n });
  expect(await settleAndRead(await send(callTransfer(signed), REVERSE_TOKEN))).toEqual([...PAIR].reverse());
});

test('a builder code stands at the end of the calldata and the payment still settles', async () => {
  const data = withBuilderCode(callTransfer(await sign()), { w: 'cdp_facil1', a: 'my_app' });
  expect(data.endsWith('80218021802180218021802180218021')).toBe(true);
  expect(Buffer.from(data.slice(2), 'hex').includes('cdp_facil1')).toBe(true);
  expect(await settleAndRead(await send(data))).toEqual(PAIR);
  const plain = withPlainBuilderCodes(callTransfer(await sign()), ['bc_o3dj3qk8']);
  expect(
    plain.endsWith(`${Buffer.from('bc_o3dj3qk8').toString('hex')}0b0080218021802180218021802180218021`),
  ).toBe(true);
  expect(await settleAndRead(await send(plain))).toEqual(PAIR);
});

test('hundreds of payments of several relayers, sent at once, fit one block', async () => {
  const relayers = [relayer, walletOf('relayer 2').address, walletOf('relayer 3').address];
  const transactions = Array.from({ length: 300 }, (_, index) => ({
    from: relayers[index % relayers.length] ?? relayer,
    to: chain.token.address,
    data: callTransferBytes(authorizeWillingly(willing, { to: payee, value: BigInt(index) })),
  }));
  const hashes = await chain.sender.sendAll(transactions);
  await mine(chain.rpc);
  await requireSuccess(chain.rpc, hashes);
  const head = Number(await chain.rpc.call<string>('eth_blockNumber'));
  const receipts = await readReceipts(chain.rpc, head, head);
  expect(receipts.map(({ transactionHash }) => transactionHash).sort()).toEqual([...hashes].sort());
});

test.each([1, 7, 20])(
  'a reorg of depth %i replaces the payments of those blocks by others',
  async (depth) => {
    await mineMany(chain.rpc, 20);
    await settleAndRead(await send(callTransfer(await sign())));
    await mineMany(chain.rpc, depth - 1);
    const before = Number(await chain.rpc.call<string>('eth_blockNumber'));
    const [old] = await readReceipts(chain.rpc, before - depth + 1, before);
    const replacement = callTransfer(await sign());
    await reorg(chain, {
      depth,
      blocks: depth + 1,
      fill: async (position) => {
        if (position === 0) await send(replacement);
      },
    });
    const head = Number(await chain.rpc.call<string>('eth_blockNumber'));
    const receipts = await readReceipts(chain.rpc, before - depth + 1, head);
    expect(head).toBe(before + 1);
    expect(receipts).toHaveLength(1);
    expect(receipts[0]?.status).toBe('0x1');
    expect(receipts[0]?.transactionHash).not.toBe(old?.transactionHash);
  },
);

test('a reorg to empty blocks keeps the height and takes the payment away', async () => {
  await settleAndRead(await send(callTransfer(await sign())));
  const before = Number(await chain.rpc.call<string>('eth_blockNumber'));
  await reorgToEmpty(chain, 1);
  expect(Number(await chain.rpc.call<string>('eth_blockNumber'))).toBe(before);
  expect(await readReceipts(chain.rpc, before, before)).toEqual([]);
});

test('the committed bytecode is the one that was made of the committed Solidity', () => {
  expect(compilationDigest()).toBe(committedDigest());
});

test.runIf(IS_NIGHTLY)(
  'the committed bytecode is what the committed Solidity compiles to',
  () => {
    const fingerprint = (codes: Artifact) =>
      Object.entries(codes).map(([name, code]) => [name, keccak256(code)]);
    const compiled = compileContracts();
    for (const file of CONTRACT_FILES) {
      const json = readFileSync(
        new URL(`../../../demo/chain/contracts/${file}.json`, import.meta.url),
        'utf8',
      );
      expect(fingerprint(JSON.parse(json) as Artifact), file).toEqual(fingerprint(compiled[file])); // our own artifact
    }
  },
  COMPILE_TIMEOUT_MS,
);
