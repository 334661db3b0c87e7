import { randomBytes } from 'node:crypto';
import { encodeFunctionData, type Hex, parseAbi, parseSignature } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Address } from '../../../core/domain/account.ts';
import { type DemoChain, startDemoChain } from '../../../demo/chain/anvil.ts';
import { callBatch, MULTICALL3, mintUsdc } from '../../../demo/chain/deploy-usdc.ts';
import {
  callBareTransfer,
  callReceive,
  callRouted,
  callTransfer,
  callTransferBytes,
  type PaymentTerms,
  type SignedAuthorization,
  signAuthorization,
} from '../../../demo/chain/payments.ts';
import { callApprovePermit2, callUptoSettle, ROUTER, UPTO_PROXY } from '../../../demo/chain/permit2.ts';
import { mine, mineMany, type Wallet, walletOf } from '../../../demo/chain/sender.ts';
import {
  type ChainFinding,
  createRpcConfirmer,
  type SettlementQuestion,
} from '../../../src/payment/confirm.ts';
import { openConfirmers } from '../../../src/payment/open-confirmers.ts';
import { permit2NonceId } from '../../../src/payment/signed-payment.ts';
import {
  type Call,
  type Reply,
  type RewritingNode,
  startRewritingNode,
} from '../../ingest/chain/rewriting-node.ts';
import { startScriptedFacilitator } from '../../kit/scripted-facilitator.ts';

/** Confirmations on a real chain with Circle's token, and in front of nodes that lie or do not answer. */

const PRICE = 1_000n;
const WINDOW = 50;
const RELAYER = walletOf('confirmed relayer').address;
const MERCHANT = walletOf('confirmed merchant').address;
const OTHER = walletOf('another payee').address;

let chain: DemoChain;
const open: RewritingNode[] = [];

beforeAll(async () => {
  chain = await startDemoChain({ chainId: 84_532 });
});
afterEach(async () => {
  for (const node of open.splice(0)) await node.stop();
});
afterAll(() => chain?.stop());

async function payer(): Promise<Wallet> {
  const wallet = walletOf(`confirmed payer ${randomBytes(8).toString('hex')}`);
  await mintUsdc(chain.sender, [{ to: wallet.address, amount: 1_000_000n }]);
  await mine(chain.rpc);
  return wallet;
}

function sign(from: Wallet, terms: Partial<PaymentTerms> = {}, kind: 'transfer' | 'receive' = 'transfer') {
  return signAuthorization(chain.token, from, { to: MERCHANT, value: PRICE, ...terms }, kind);
}

async function send(data: Hex, to = chain.token.address, from = RELAYER): Promise<string> {
  const hash = await chain.sender.send({ from, to, data });
  await mine(chain.rpc);
  return hash;
}

function questionOf(
  { from, nonce }: SignedAuthorization,
  change: Partial<SettlementQuestion> = {},
): SettlementQuestion {
  return {
    id: { chain: 'eip155:84532', asset: chain.token.address, payer: from, nonce },
    payTo: MERCHANT,
    amount: String(PRICE),
    sinceMs: Date.now() - 1_000,
    ...change,
  };
}

function ask(question: SettlementQuestion, ...urls: string[]): Promise<ChainFinding> {
  const rpcUrls = urls.length === 0 ? [chain.url] : urls;
  return createRpcConfirmer({ rpcUrls, logWindowMax: WINDOW, requestTimeoutMs: 400 }).lookUp(question);
}

describe('what the chain shows', () => {
  test('an unused authorization is unsettled', async () => {
    expect(await ask(questionOf(await sign(await payer())))).toEqual({ outcome: 'unsettled' });
  });

  test.each([
    ['v, r, s', callTransfer],
    ['bytes', callTransferBytes],
  ])('a payment over the %s overload is settled, with its transaction', async (_name, call) => {
    const signed = await sign(await payer());
    const transaction = await send(call(signed));
    expect(await ask(questionOf(signed))).toEqual({ outcome: 'settled', transaction });
  });

  test('several payments of one transaction are distinguished, whatever their order', async () => {
    const [first, second] = [await payer(), await payer()];
    const [small, large] = [await sign(first, { value: PRICE - 1n }), await sign(second, { value: PRICE })];
    const transaction = await send(
      callBatch(chain.token.address, [callTransfer(small), callTransfer(large)]),
      MULTICALL3,
    );
    expect(await ask(questionOf(large))).toEqual({ outcome: 'settled', transaction });
    expect(await ask(questionOf(small))).toEqual({ outcome: 'spent_otherwise' });
  });

  test('two payments of one payer in one transaction are distinguished', async () => {
    const one = await payer();
    const [elsewhere, ours] = [await sign(one, { to: OTHER }), await sign(one)];
    const transaction = await send(
      callBatch(chain.token.address, [callTransfer(elsewhere), callTransfer(ours)]),
      MULTICALL3,
    );
    expect(await ask(questionOf(ours))).toEqual({ outcome: 'settled', transaction });
    expect(await ask(questionOf(elsewhere))).toEqual({ outcome: 'spent_otherwise' });
  });

  test('more than the price is settled, less or to another payee is spent otherwise', async () => {
    const one = await payer();
    const [more, less, elsewhere] = [
      await sign(one, { value: PRICE + 1n }),
      await sign(one, { value: PRICE - 1n }),
      await sign(one, { to: OTHER }),
    ];
    for (const signed of [more, less, elsewhere]) await send(callTransfer(signed));
    expect((await ask(questionOf(more))).outcome).toBe('settled');
    expect((await ask(questionOf(less))).outcome).toBe('spent_otherwise');
    expect((await ask(questionOf(elsewhere))).outcome).toBe('spent_otherwise');
  });

  test('a payment that the payee collected is settled too', async () => {
    const signed = await sign(await payer(), {}, 'receive');
    await send(callReceive(signed), chain.token.address, MERCHANT);
    expect((await ask(questionOf(signed))).outcome).toBe('settled');
  });

  test('an authorization that was cancelled is spent otherwise', async () => {
    const one = await payer();
    const signed = await sign(one);
    await send(await callCancel(one, signed.nonce));
    expect(await ask(questionOf(signed))).toEqual({ outcome: 'spent_otherwise' });
  });

  test('a transaction that reverted settles nothing', async () => {
    const signed = await sign(await payer(), { value: 10n ** 12n });
    const claimed = await send(callTransfer(signed));
    expect(await ask(questionOf(signed, { claimed }))).toEqual({ outcome: 'unsettled' });
  });
});

describe('what the chain shows of a ceiling', () => {
  const CEILING = PRICE * 3n;

  /** A payer of ceilings, with Permit2 approved. */
  async function approvedPayer(): Promise<Wallet> {
    const wallet = await payer();
    await send(callApprovePermit2(), chain.token.address, wallet.address);
    return wallet;
  }

  async function settle(
    from: Wallet,
    { nonce, actual = PRICE, to = MERCHANT }: { nonce: bigint; actual?: bigint; to?: Address },
  ): Promise<string> {
    const terms = { chainId: 84_532, token: chain.token.address, to, amount: CEILING, nonce };
    return send(await callUptoSettle(from, { ...terms, facilitator: RELAYER, actual }), UPTO_PROXY);
  }

  function ceilingQuestion(
    from: Wallet,
    nonce: bigint,
    change: Partial<SettlementQuestion> = {},
  ): SettlementQuestion {
    const id = {
      chain: 'eip155:84532',
      asset: chain.token.address,
      payer: from.address,
      nonce: permit2NonceId(nonce),
    };
    return { id, payTo: MERCHANT, amount: String(PRICE), sinceMs: Date.now() - 1_000, ...change };
  }

  test('an unused one is unsettled, also while its neighbours in the bitmap are used', async () => {
    const from = await approvedPayer();
    await settle(from, { nonce: 2n });
    await settle(from, { nonce: 256n });
    expect(await ask(ceilingQuestion(from, 1n))).toEqual({ outcome: 'unsettled' });
    expect(await ask(ceilingQuestion(from, 2n ** 256n - 1n))).toEqual({ outcome: 'unsettled' });
  });

  test('payments of one payer are distinguished by their nonces, with their transactions', async () => {
    const from = await approvedPayer();
    const nonces = [7n, 2n ** 255n + 7n, 2n ** 256n - 1n];
    for (const nonce of nonces) {
      const transaction = await settle(from, { nonce });
      expect(await ask(ceilingQuestion(from, nonce))).toEqual({ outcome: 'settled', transaction });
      expect(await ask(ceilingQuestion(from, nonce, { claimed: transaction }))).toEqual({
        outcome: 'settled',
        transaction,
      });
    }
    const other = await settle(from, { nonce: 1n });
    for (const nonce of nonces)
      expect((await ask(ceilingQuestion(from, nonce, { claimed: other }))).outcome).toBe('settled');
    expect(await ask(ceilingQuestion(from, 3n, { claimed: other }))).toEqual({ outcome: 'unsettled' });
  });

  test('more than was used is settled, less is spent otherwise', async () => {
    const from = await approvedPayer();
    await settle(from, { nonce: 1n, actual: PRICE + 1n });
    await settle(from, { nonce: 2n, actual: PRICE - 1n });
    expect((await ask(ceilingQuestion(from, 1n))).outcome).toBe('settled');
    expect((await ask(ceilingQuestion(from, 2n))).outcome).toBe('spent_otherwise');
  });

  test('a nonce that paid another payee is never a settlement, and a transaction claimed for it is recognised as that', async () => {
    const from = await approvedPayer();
    const claimed = await settle(from, { nonce: 1n, to: OTHER });
    expect(await ask(ceilingQuestion(from, 1n))).toEqual({ outcome: 'silent' });
    expect(await ask(ceilingQuestion(from, 1n, { claimed }))).toEqual({ outcome: 'spent_otherwise' });
  });

  test('a call that reverted settles nothing, whatever it says', async () => {
    const from = await approvedPayer();
    const claimed = await settle(from, { nonce: 1n, actual: CEILING + 1n });
    expect(await ask(ceilingQuestion(from, 1n, { claimed }))).toEqual({ outcome: 'unsettled' });
  });

  test('the calldata of another contract than the proxy proves nothing', async () => {
    const from = await approvedPayer();
    const terms = { chainId: 84_532, token: chain.token.address, to: MERCHANT, amount: CEILING, nonce: 1n };
    const data = await callUptoSettle(from, { ...terms, facilitator: ROUTER, actual: PRICE });
    const claimed = await send(callRouted(UPTO_PROXY, data), ROUTER);
    expect(await ask(ceilingQuestion(from, 1n, { claimed }))).toEqual({ outcome: 'silent' });
    const bare = await send(callBareTransfer(MERCHANT, PRICE), chain.token.address, from.address);
    expect(await ask(ceilingQuestion(from, 2n, { claimed: bare }))).toEqual({ outcome: 'unsettled' });
  });

  test('nodes that do not answer are passed over, and none is silence', async () => {
    const from = await approvedPayer();
    const transaction = await settle(from, { nonce: 1n });
    const question = ceilingQuestion(from, 1n);
    for (const method of [
      'eth_call',
      'eth_getLogs',
      'eth_getTransactionByHash',
      'eth_getTransactionReceipt',
    ]) {
      const bad = await nodeWith((call, real) => (call.method === method ? { result: 7 } : real));
      expect(await ask(question, bad.url)).toEqual({ outcome: 'silent' });
      expect(await ask(question, bad.url, chain.url)).toEqual({ outcome: 'settled', transaction });
    }
  });
});

describe('how far it looks', () => {
  test('a settlement many windows back is found within the time searched, and unknown before it', async () => {
    const signed = await sign(await payer());
    const transaction = await send(callTransfer(signed));
    await mineMany(chain.rpc, WINDOW * 4, 1_000);
    const back = (seconds: number) => questionOf(signed, { sinceMs: Date.now() - seconds * 1_000 });
    expect(await ask(back(0))).toEqual({ outcome: 'settled', transaction });
    const late = questionOf(signed, { sinceMs: Date.now() + WINDOW * 3 * 1_000_000 });
    expect(await ask(late)).toEqual({ outcome: 'silent' });
  });

  test('a claimed transaction is looked at first, and believed only for what it holds', async () => {
    const [ours, theirs] = [await sign(await payer()), await sign(await payer())];
    const [claimed, other] = [await send(callTransfer(ours)), await send(callTransfer(theirs))];
    const node = await nodeWith((_call, reply) => reply);
    expect(await ask(questionOf(ours, { claimed }), node.url)).toEqual({
      outcome: 'settled',
      transaction: claimed,
    });
    expect(node.calls.map(({ method }) => method)).toEqual(['eth_getTransactionReceipt']);
    const fresh = await sign(await payer());
    expect(await ask(questionOf(fresh, { claimed: other }))).toEqual({ outcome: 'unsettled' });
    expect(await ask(questionOf(ours, { claimed: other }))).toEqual({
      outcome: 'settled',
      transaction: claimed,
    });
    expect(await ask(questionOf(fresh, { claimed: `0x${'00'.repeat(32)}` }))).toEqual({
      outcome: 'unsettled',
    });
  });
});

describe('nodes that do not answer as they should', () => {
  const wrong: [string, Reply][] = [
    ['an error', { error: { code: -32_000, message: 'limit exceeded' } }],
    ['null', { result: null }],
    ['a number', { result: 1 }],
    ['empty hex', { result: '0x' }],
    ['a two', { result: `0x${'0'.repeat(63)}2` }],
    ['an object', { result: {} }],
  ];
  test.each(wrong)(
    'one that answers %s to a question says nothing, and the next one is asked',
    async (_what, reply) => {
      const signed = await sign(await payer());
      const transaction = await send(callTransfer(signed));
      for (const method of ['eth_call', 'eth_getLogs', 'eth_getBlockByNumber']) {
        const bad = await nodeWith((call, real) => (call.method === method ? reply : real));
        expect(await ask(questionOf(signed), bad.url)).toEqual({ outcome: 'silent' });
        expect(await ask(questionOf(signed), bad.url, chain.url)).toEqual({
          outcome: 'settled',
          transaction,
        });
      }
    },
  );

  test('one whose logs belong to another authorization is not believed', async () => {
    const [ours, theirs] = [await sign(await payer()), await sign(await payer())];
    await send(callTransfer(ours));
    await send(callTransfer(theirs));
    const bad = await nodeWith((call, real) => {
      if (call.method !== 'eth_getLogs') return real;
      const logs = real.result as { topics: string[] }[]; // anvil's own answer
      return {
        result: logs.map((log) => ({ ...log, topics: [log.topics[0], log.topics[1], theirs.nonce] })),
      };
    });
    expect(await ask(questionOf(ours), bad.url)).toEqual({ outcome: 'silent' });
  });

  test('no node at all is silence, in bounded time', async () => {
    const question = questionOf(await sign(await payer()));
    const mute = await startScriptedFacilitator();
    mute.onSettle = () => 'hang';
    const gone = await nodeWith((_call, reply) => reply);
    await gone.stop();
    const before = performance.now();
    expect(await ask(question, gone.url, mute.url)).toEqual({ outcome: 'silent' });
    expect(performance.now() - before).toBeLessThan(3_000);
    expect(mute.calls).toHaveLength(1);
    await mute.stop();
  });

  test('all nodes and all questions together take a bounded time', async () => {
    const question = questionOf(await sign(await payer()));
    const mute = await startScriptedFacilitator();
    mute.onSettle = () => 'hang';
    const rpcUrls = [mute.url, mute.url, mute.url];
    const confirmer = createRpcConfirmer({
      rpcUrls,
      logWindowMax: WINDOW,
      requestTimeoutMs: 60_000,
      lookUpTimeoutMs: 300,
    });
    expect(await confirmer.lookUp(question)).toEqual({ outcome: 'silent' });
    await mute.stop();
  });

  test('a chain without a URL, or with web sockets only, has no confirmer, and none is wanted without confirmOnChain', async () => {
    const question = questionOf(await sign(await payer()));
    const accepted = { chain: 'eip155:84532', rpcUrls: [chain.url] } as never; // what a confirmer needs of it
    const sockets = { chain: 'eip155:84532', rpcUrls: ['ws://127.0.0.1:1'] } as never; // as above
    const outcome = async (confirmerFor: ReturnType<typeof openConfirmers>) =>
      (await confirmerFor('eip155:84532').lookUp(question)).outcome;
    expect(await outcome(openConfirmers({ accept: [accepted], confirmOnChain: true }))).toBe('unsettled');
    expect(await outcome(openConfirmers({ accept: [accepted], confirmOnChain: false }))).toBe('silent');
    expect(await outcome(openConfirmers({ accept: [sockets], confirmOnChain: true }))).toBe('silent');
    expect(await outcome(openConfirmers({ accept: [], confirmOnChain: true }))).toBe('silent');
  });
});

async function nodeWith(rewrite: (call: Call, reply: Reply) => Reply): Promise<RewritingNode> {
  const started = await startRewritingNode(chain.url, rewrite);
  open.push(started);
  return started;
}

async function callCancel(of: Wallet, nonce: Hex): Promise<Hex> {
  const signature = await privateKeyToAccount(of.privateKey).signTypedData({
    domain: { name: 'USDC', version: '2', chainId: 84_532, verifyingContract: chain.token.address as Hex }, // an Address is a Hex
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: of.address as Hex, nonce }, // as above
  });
  const { r, s, yParity } = parseSignature(signature);
  return encodeFunctionData({
    abi: parseAbi(['function cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)']),
    functionName: 'cancelAuthorization',
    args: [of.address as Hex, nonce, 27 + yParity, r, s], // as above
  });
}
