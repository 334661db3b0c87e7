import { AuthCaptureEvmScheme } from '@x402/evm/auth-capture/client';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Hash } from '../../../core/domain/account.ts';
import { chainOf } from '../../../core/domain/chains.ts';
import { type DemoChain, startDemoChain } from '../../../demo/chain/anvil.ts';
import {
  BATCH_SETTLEMENT,
  type Channel,
  callAuthorize,
  callCapture,
  callChannelRefund,
  callCharge,
  callClaim,
  callClaimWithSignature,
  callDeposit,
  callEscrowRefund,
  callFinalizeWithdraw,
  callInitiateWithdraw,
  callMulticall,
  callReclaim,
  callSettle,
  callVoid,
  channelOf,
  ESCROW,
  type Escrowed,
  escrowedOf,
  FOREIGN_COLLECTOR,
  REFUND_COLLECTOR,
  WITHDRAW_DELAY_SECONDS,
} from '../../../demo/chain/channels.ts';
import { mintUsdc } from '../../../demo/chain/deploy-usdc.ts';
import { callRouted, callTransfer, signAuthorization } from '../../../demo/chain/payments.ts';
import { callApprove, ROUTER } from '../../../demo/chain/permit2.ts';
import { mine, requireSuccess, type Transaction, walletOf } from '../../../demo/chain/sender.ts';
import type { RawLog } from '../../../ingest/chain/block-source.ts';
import { legsOf } from '../../../ingest/decode/channels/legs.ts';
import { channelContractsOf, NO_TERMS, readChannels } from '../../../ingest/decode/channels/moves.ts';
import { TOPIC } from '../../../ingest/decode/log-kind.ts';

const payer = walletOf('channel payer');
const payee = walletOf('channel payee');
const operator = walletOf('escrow operator');
const relayer = walletOf('channel relayer');
const feeReceiver = walletOf('fee receiver').address;
const contracts = channelContractsOf(chainOf(84_532));
const GAS = 2_000_000n;

let chain: DemoChain;

beforeAll(async () => {
  chain = await startDemoChain({ chainId: 84_532 });
  const mints = await mintUsdc(
    chain.sender,
    [payer, operator].map(({ address }) => ({ to: address, amount: 1_000_000_000n })),
  );
  const approval = await chain.sender.send({
    from: operator.address,
    to: chain.token.address,
    data: callApprove(REFUND_COLLECTOR),
  });
  await mine(chain.rpc);
  await requireSuccess(chain.rpc, [...mints, approval]);
});

afterAll(() => chain?.stop());

interface Receipt {
  readonly logs: readonly (Omit<RawLog, 'logIndex' | 'blockNumber'> & { logIndex: Hex; blockNumber: Hex })[];
}

/** Sends a transaction and reads what the decoder makes of it. */
async function read(transaction: Transaction, known = NO_TERMS) {
  const hash = await chain.sender.send({ gas: GAS, ...transaction });
  await mine(chain.rpc);
  await requireSuccess(chain.rpc, [hash]);
  const receipt = await chain.rpc.call<Receipt>('eth_getTransactionReceipt', hash);
  const logs = receipt.logs.map(
    (log): RawLog => ({ ...log, logIndex: Number(log.logIndex), blockNumber: Number(log.blockNumber) }),
  );
  const reading = readChannels(logs, transaction.data ?? '0x', contracts, known);
  const isTransfer = (at: number): boolean => logs[at]?.topics[0] === TOPIC.transfer;
  const legs = legsOf(logs, isTransfer, reading.moves);
  return {
    moves: reading.moves.map(({ kind, channel, terms, amount, fee }) => ({
      kind,
      channel,
      payer: terms.payer,
      payee: terms.payee,
      amount,
      fee,
    })),
    /** Transfers that belong to no move: payments of their own. */
    others: logs.filter((_, at) => isTransfer(at) && !legs.has(at)).length,
    transfers: logs.filter((_, at) => isTransfer(at)).length,
    unknown: reading.unknown.length,
    malformed: reading.malformed.length,
  };
}

const open = (salt: number): Channel =>
  channelOf(chain.token, { chainId: chain.chainId, payer, payee: payee.address, salt });
const move = (channel: Channel | Escrowed, kind: string, amount: bigint, fee = 0n) => ({
  kind,
  channel: channel.id as Hash,
  payer: payer.address,
  payee: payee.address,
  amount,
  fee,
});
const deposit = async (channel: Channel, amount: bigint, collector?: typeof FOREIGN_COLLECTOR) =>
  read({
    from: relayer.address,
    to: BATCH_SETTLEMENT,
    data: await callDeposit(chain.token, channel, { amount, salt: 1n, ...(collector && { collector }) }),
  });

describe('a channel of batch-settlement', () => {
  test('a deposit is one deposit, not a payment to its collector, whichever collector it is', async () => {
    for (const [salt, collector] of [
      [1, undefined],
      [2, FOREIGN_COLLECTOR],
    ] as const) {
      const channel = open(salt);
      const { moves, transfers, others } = await deposit(channel, 5_000n, collector);
      expect(moves).toEqual([move(channel, 'deposit', 5_000n)]);
      expect({ transfers, others }).toEqual({ transfers: 2, others: 0 });
    }
  });

  test('a claim pays the difference to the claim before, with the parties from its calldata', async () => {
    const channel = open(3);
    await deposit(channel, 5_000n);
    const first = await read({
      from: payee.address,
      to: BATCH_SETTLEMENT,
      data: await callClaim([{ channel, total: 1_200n }]),
    });
    const second = await read({
      from: relayer.address,
      to: BATCH_SETTLEMENT,
      data: await callClaimWithSignature([{ channel, total: 2_000n }], payee),
    });
    expect(first).toMatchObject({ moves: [move(channel, 'payment', 1_200n)], unknown: 0, transfers: 0 });
    expect(second.moves).toEqual([move(channel, 'payment', 800n)]);
  });

  test('a claim of several channels names the parties of each, inside a multicall and a router too', async () => {
    const channels = [4, 5, 6].map(open);
    for (const channel of channels) await deposit(channel, 1_000n);
    const claims = (total: bigint) => channels.map((channel) => ({ channel, total }));
    const signed = await callClaimWithSignature(claims(300n), payee);
    const nested = await read({
      from: relayer.address,
      to: ROUTER,
      data: callRouted(BATCH_SETTLEMENT, callMulticall([signed, callSettle(payee.address, chain.token)])),
    });
    expect(nested.moves.slice(0, 3)).toEqual(channels.map((channel) => move(channel, 'payment', 300n)));
    expect(nested.moves[3]).toMatchObject({ kind: 'payout', channel: null, payee: payee.address });
    expect(nested).toMatchObject({ unknown: 0, others: 0, transfers: 1 });
  });

  test('what was claimed before counts nothing again: a payout is no payment', async () => {
    const channel = open(7);
    await deposit(channel, 1_000n);
    await read({
      from: payee.address,
      to: BATCH_SETTLEMENT,
      data: await callClaim([{ channel, total: 700n }]),
    });
    const paid = await read({
      from: relayer.address,
      to: BATCH_SETTLEMENT,
      data: callSettle(payee.address, chain.token),
    });
    expect(paid.moves).toEqual([
      { kind: 'payout', channel: null, payer: BATCH_SETTLEMENT, payee: payee.address, amount: 700n, fee: 0n },
    ]);
    expect(paid.others).toBe(0);
  });

  test('a refund and a withdrawal return money to the payer', async () => {
    const channel = open(8);
    await deposit(channel, 1_000n);
    const refunded = await read({
      from: payee.address,
      to: BATCH_SETTLEMENT,
      data: callChannelRefund(channel, 400n),
    });
    expect(refunded).toMatchObject({ moves: [move(channel, 'refund', 400n)], others: 0, transfers: 1 });
    const initiated = await read({
      from: payer.address,
      to: BATCH_SETTLEMENT,
      data: callInitiateWithdraw(channel, 600n),
    });
    expect(initiated.moves).toEqual([]);
    await chain.rpc.call('evm_increaseTime', WITHDRAW_DELAY_SECONDS + 1);
    const withdrawn = await read({
      from: payer.address,
      to: BATCH_SETTLEMENT,
      data: callFinalizeWithdraw(channel),
    });
    expect(withdrawn).toMatchObject({ moves: [move(channel, 'withdrawal', 600n)], others: 0 });
  });

  test('terms that stand in no calldata come from what is known of the channel; else the claim is unknown', async () => {
    const channel = open(9);
    await deposit(channel, 1_000n);
    const data = await callClaim([{ channel, total: 100n }]);
    const hash = await chain.sender.send({ from: payee.address, to: BATCH_SETTLEMENT, data, gas: GAS });
    await mine(chain.rpc);
    const { logs } = await chain.rpc.call<Receipt>('eth_getTransactionReceipt', hash);
    const raw = logs.map((log): RawLog => ({ ...log, logIndex: 0, blockNumber: 1 }));
    const terms = { payer: payer.address, payee: payee.address, token: chain.token.address };
    expect(readChannels(raw, '0x', contracts, () => undefined).unknown).toHaveLength(1);
    expect(readChannels(raw, '0x', contracts, () => terms).moves).toMatchObject([{ kind: 'payment', terms }]);
  });

  test('a payment beside a deposit in one transaction stays a payment', async () => {
    const channel = open(10);
    const other = walletOf('other payer');
    await mintUsdc(chain.sender, [{ to: other.address, amount: 10_000n }]);
    const signed = await signAuthorization(chain.token, other, { to: payee.address, value: 1_000n });
    const data = await callDeposit(chain.token, channel, { amount: 1_000n, salt: 1n });
    const together = encodeFunctionData({
      abi: parseAbi([
        'struct Call { address target; bytes callData; }',
        'function aggregate(Call[] calls) payable returns (uint256, bytes[])',
      ]),
      args: [
        [
          { target: chain.token.address as Hex, callData: callTransfer(signed) },
          { target: BATCH_SETTLEMENT as Hex, callData: data },
        ],
      ],
    });
    const found = await read({
      from: relayer.address,
      to: '0xca11bde05977b3631167028862be2a173976ca11' as typeof ESCROW,
      data: together,
    });
    expect(found).toMatchObject({ moves: [move(channel, 'deposit', 1_000n)], transfers: 3, others: 1 });
  });
});

describe('a payment of auth-capture', () => {
  const MAX = 10_000n;
  const escrow = (salt: bigint, expiry?: number): Escrowed =>
    escrowedOf(chain.token, {
      chainId: chain.chainId,
      operator: operator.address,
      payer,
      payee: payee.address,
      feeReceiver,
      maxAmount: MAX,
      salt,
      ...(expiry !== undefined && { expiry }),
    });
  const fromOperator = (data: Hex) => read({ from: operator.address, to: ESCROW, data });
  const authorized = async (payment: Escrowed, amount: bigint) => {
    const found = await fromOperator(
      await callAuthorize(chain.token, payment, { amount, chainId: chain.chainId }),
    );
    return { payment, found };
  };

  test('the payer signs what the official client signs', async () => {
    const now = 1_790_000_000;
    vi.useFakeTimers({ toFake: ['Date'], now: now * 1_000 });
    onTestFinished(() => void vi.useRealTimers());
    const client = new AuthCaptureEvmScheme(privateKeyToAccount(payer.privateKey));
    const { payload } = await client.createPaymentPayload(2, {
      scheme: 'auth-capture',
      network: `eip155:${chain.chainId}`,
      asset: chain.token.address,
      amount: String(MAX),
      payTo: payee.address,
      maxTimeoutSeconds: 60,
      extra: {
        name: 'USDC',
        version: '2',
        captureAuthorizer: operator.address,
        feeRecipient: feeReceiver,
        captureDeadline: now + 60,
        refundDeadline: 2 ** 47,
        minFeeBps: 0,
        maxFeeBps: 1_000,
      },
    });
    const { salt, signature } = payload as { readonly salt: Hex; readonly signature: Hex };
    const terms = { amount: 1n, chainId: chain.chainId };
    const data = await callAuthorize(chain.token, escrow(BigInt(salt), now + 60), terms);
    expect(data).toContain(signature.slice(2));
  });

  test('an authorization is a deposit, a capture one payment of the gross amount with its fee', async () => {
    const { payment, found } = await authorized(escrow(1n), MAX);
    expect(found).toMatchObject({ moves: [move(payment, 'deposit', MAX)], transfers: 2, others: 0 });
    const captured = await fromOperator(callCapture(payment, { amount: 6_000n, fee: 60n }));
    expect(captured).toMatchObject({
      moves: [move(payment, 'payment', 6_000n, 60n)],
      transfers: 2,
      others: 0,
    });
    const rest = await fromOperator(callVoid(payment));
    expect(rest).toMatchObject({ moves: [move(payment, 'void', 4_000n)], transfers: 1, others: 0 });
  });

  test('a charge is one payment, whatever transfers it takes: its payer signed for more and gets the rest back', async () => {
    const payment = escrow(2n);
    const terms = { amount: 9_000n, fee: 90n, chainId: chain.chainId };
    const charged = await fromOperator(await callCharge(chain.token, payment, terms));
    expect(charged).toMatchObject({
      moves: [move(payment, 'payment', 9_000n, 90n)],
      transfers: 5,
      others: 0,
    });
    const refunded = await fromOperator(callEscrowRefund(payment, 2_000n));
    expect(refunded).toMatchObject({ moves: [move(payment, 'refund', 2_000n)], transfers: 2, others: 0 });
  });

  test('a charge without a fee leaves no transfer over, also where the rest is as much as the charge', async () => {
    const payment = escrow(3n);
    const terms = { amount: MAX / 2n, fee: 0n, chainId: chain.chainId };
    const charged = await fromOperator(await callCharge(chain.token, payment, terms));
    expect(charged).toMatchObject({ moves: [move(payment, 'payment', MAX / 2n)], transfers: 4, others: 0 });
  });

  test('what the payer reclaims is a withdrawal', async () => {
    const newest = await chain.rpc.call<{ timestamp: Hex }>('eth_getBlockByNumber', 'latest', false);
    const { payment } = await authorized(escrow(4n, Number(newest.timestamp) + 60), 800n);
    await chain.rpc.call('evm_increaseTime', 60);
    const reclaimed = await read({ from: payer.address, to: ESCROW, data: callReclaim(payment) });
    expect(reclaimed).toMatchObject({ moves: [move(payment, 'withdrawal', 800n)], transfers: 1, others: 0 });
  });
});
