import { type Address, address } from '../../core/domain/account.ts';
import { type DemoChain, reorg, startDemoChain } from '../../demo/chain/anvil.ts';
import { REFUND_COLLECTOR } from '../../demo/chain/channels.ts';
import { callBatch, MULTICALL3, mintUsdc, USDC } from '../../demo/chain/deploy-usdc.ts';
import {
  callBareTransfer,
  callReceive,
  callRouted,
  callTransfer,
  callTransferBytes,
  signAuthorization,
  withBuilderCode,
} from '../../demo/chain/payments.ts';
import {
  callApprove,
  callApprovePermit2,
  callExactSettle,
  EXACT_PROXY,
  REVERSE_TOKEN,
  ROUTER,
  UPTO_PROXY,
} from '../../demo/chain/permit2.ts';
import { mine, type Transaction, type Wallet, walletOf } from '../../demo/chain/sender.ts';
import { type Random, seededRandom } from '../../demo/random.ts';
import type { NaiveCatalogue } from './oracle/naive-reader.ts';
import { randomChannelCalls } from './truth-channels.ts';

/** A chain on which everything happens that the index must get right, by seed. */
export interface TruthWorld {
  readonly chain: DemoChain;
  readonly catalogue: NaiveCatalogue;
  readonly random: Random;
  /** Mines `blocks` blocks of random traffic; some share a timestamp gap of one second, some are empty. */
  grow(blocks: number): Promise<void>;
  /** Replaces the newest `depth` blocks by at least as many others, with other traffic. */
  reorganise(depth: number): Promise<void>;
  /** The parts of the service configuration that describe this world. */
  serviceChain(rpcUrl: string): object;
  serviceCatalogue(): object;
  stop(): Promise<void>;
}

const PAYERS = Array.from({ length: 6 }, (_, index) => walletOf(`truth payer ${index}`));
const PAYEES = Array.from({ length: 4 }, (_, index) => walletOf(`truth payee ${index}`));
const NAMED = walletOf('truth relayer named').address;
/** A relayer of the built-in table's facilitator, but on another chain: it must stay unnamed here. */
const FOREIGN = address('0xdbdf3d8ed80f84c35d01c6c9f9271761bad90ba6');
const UNNAMED = walletOf('truth relayer unnamed').address;
const RELAYERS = [NAMED, FOREIGN, UNNAMED];
const CATALOGUED = PAYEES.slice(0, 2).map(({ address: at }) => at);
const FACILITATOR = 'truthful';
const GRANT = 10n ** 12n;
const CHANNEL_SHARE = 0.25;

/** `genesisTime`: Unix seconds of block 0; now, when it is not given. */
export async function startTruthWorld(seed: number, genesisTime?: number): Promise<TruthWorld> {
  const chain = await startDemoChain(genesisTime === undefined ? {} : { genesisTime });
  const random = seededRandom(seed);
  await fund(chain);
  const channelCall = randomChannelCalls(chain, random, {
    payers: PAYERS,
    payees: PAYEES,
    relayers: RELAYERS,
  });
  let nonce = 0n;
  const fill = async (): Promise<void> => {
    const transactions: Transaction[] = [];
    for (let count = random.below(7); count > 0; count--)
      transactions.push(
        random.chance(CHANNEL_SHARE)
          ? await channelCall()
          : await randomTransaction(chain, random, () => ++nonce),
      );
    await chain.sender.sendAll(transactions);
  };
  return {
    chain,
    random,
    catalogue: {
      tokens: [USDC, REVERSE_TOKEN],
      proxies: [EXACT_PROXY, UPTO_PROXY],
      relayers: { [NAMED]: FACILITATOR },
      payees: CATALOGUED,
    },
    async grow(blocks) {
      for (let block = 0; block < blocks; block++) {
        await fill();
        await mine(chain.rpc);
      }
    },
    reorganise: (depth) => reorg(chain, { depth, blocks: depth + random.below(3), fill }),
    serviceChain: (rpcUrl) => ({
      chain: 'base-sepolia',
      rpcUrls: [rpcUrl],
      startBlock: 0,
      pollMs: 50,
      tokens: [{ address: REVERSE_TOKEN, symbol: 'RUSD', decimals: 6 }],
    }),
    serviceCatalogue: () => ({
      facilitators: [
        { id: FACILITATOR, relayers: [{ chain: 'base-sepolia', address: NAMED, firstSeen: '2020-01-01' }] },
      ],
      payees: CATALOGUED.map((payee) => ({ chain: 'base-sepolia', address: payee })),
    }),
    stop: () => chain.stop(),
  };
}

async function fund(chain: DemoChain): Promise<void> {
  await mintUsdc(
    chain.sender,
    [...PAYERS.map(({ address: to }) => to), ...RELAYERS].map((to) => ({ to, amount: GRANT })),
  );
  const word = (value: string): string => value.padStart(64, '0');
  await chain.sender.sendAll([
    ...PAYERS.map(
      (payer): Transaction => ({
        from: UNNAMED,
        to: REVERSE_TOKEN,
        data: `0x40c10f19${word(payer.address.slice(2))}${word(GRANT.toString(16))}`,
      }),
    ),
    ...PAYERS.map((payer): Transaction => ({ from: payer.address, to: USDC, data: callApprovePermit2() })),
    ...RELAYERS.map((from): Transaction => ({ from, to: USDC, data: callApprove(REFUND_COLLECTOR) })),
  ]);
  await mine(chain.rpc);
}

type Deal = {
  readonly payer: Wallet;
  readonly to: Address;
  readonly value: bigint;
  readonly relayer: Address;
};

/** Mostly a merchant; sometimes the payer, sometimes the named relayer, which then is paid by a payment that it relays. */
function payeeOf(random: Random, payer: Wallet): Address {
  if (random.chance(0.15)) return payer.address;
  return random.chance(0.08) ? NAMED : random.pick(PAYEES).address;
}

async function randomTransaction(
  chain: DemoChain,
  random: Random,
  nextNonce: () => bigint,
): Promise<Transaction> {
  const payer = random.pick(PAYERS);
  const to = payeeOf(random, payer);
  const deal: Deal = {
    payer,
    to,
    value: random.chance(0.05) ? 0n : BigInt(1 + random.below(5_000)),
    relayer: random.pick(RELAYERS),
  };
  const signed = (kind: 'transfer' | 'receive' = 'transfer') =>
    signAuthorization(chain.token, payer, { to: deal.to, value: deal.value }, kind);
  switch (random.below(11)) {
    case 0:
      return {
        from: deal.relayer,
        to: MULTICALL3,
        data: callBatch(USDC, [callTransfer(await signed()), callTransferBytes(await signed())]),
      };
    case 1:
      return { from: deal.to, to: USDC, data: callReceive(await signed('receive')) };
    case 2:
      return { from: payer.address, to: USDC, data: callBareTransfer(deal.to, deal.value) };
    case 3:
      return { from: deal.relayer, to: ROUTER, data: callRouted(USDC, callTransfer(await signed())) };
    case 4:
      return {
        from: deal.relayer,
        to: USDC,
        data: withBuilderCode(callTransfer(await signed()), { w: 'truth_fac', a: 'app' }),
      };
    case 5:
      return { from: deal.relayer, to: REVERSE_TOKEN, data: callTransfer(await signed()) };
    case 6:
      return { from: payer.address, to: USDC, data: callTransfer(await signed()) };
    case 7: {
      const terms = {
        chainId: chain.chainId,
        token: USDC,
        to: deal.to,
        amount: deal.value + 1n,
        nonce: nextNonce(),
      };
      return { from: deal.relayer, to: EXACT_PROXY, data: await callExactSettle(payer, terms) };
    }
    case 8:
      return { from: deal.relayer, to: USDC, data: callTransferBytes(await signed()) };
    default:
      return { from: deal.relayer, to: USDC, data: callTransfer(await signed()) };
  }
}
