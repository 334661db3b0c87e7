import { type Address, address } from '../../core/domain/address.ts';
import { type DemoChain, startDemoChain } from '../../demo/chain/anvil.ts';
import { callBatch, MULTICALL3, mintUsdc } from '../../demo/chain/deploy-usdc.ts';
import { authorizeWillingly, callTransferBytes } from '../../demo/chain/payments.ts';
import { installWillingPayers } from '../../demo/chain/permit2.ts';
import { mine, mineMany, requireSuccess, type Transaction } from '../../demo/chain/sender.ts';
import { paymentAmount, type Random, seededRandom, zipfSampler } from '../../demo/random.ts';
import type { BenchContext } from '../support/run-bench.ts';

/** A chain whose settlements are all final; every bench of this run reads it. */
export interface ChainHistory {
  readonly chain: DemoChain;
  readonly token: Address;
  /** Settlements on the chain, counted by the node's receipts. */
  settlements(): number;
  /** Blocks that hold settlements. */
  range(): { readonly from: number; readonly to: number };
  /** Adds settlements until there are this many, then mines enough blocks to make them final. */
  growTo(settlements: number): Promise<void>;
}

/** The most settlements that any part asks for: decides how far back the chain begins. */
const CAPACITY = 100_000;
const CAPACITY_QUICK = 20_000;
const PAYERS = 500;
const PAYEES = 200;
const RELAYERS = 12;
const SETTLEMENTS_PER_BLOCK = 40;
/** One transaction in ten is a facilitator's batch of five, so the share of batched settlements is about a third. */
const BATCH_CHANCE = 0.1;
const BATCH_SIZE = 5;
const BATCH_GAS = 2_000_000n;
const BLOCK_SECONDS = 2;
/** Deeper than the finality of any reader on this chain (anvil: 64 blocks, Ponder: 30). */
const BURIED_BLOCKS = 70;
const SAY_EVERY_MS = 5_000;
const FUNDS = 10n ** 12n;

/** Gives every part of a run the same chain, made when the first one asks. */
export type SharedHistory = (context: BenchContext) => Promise<ChainHistory>;

export function shareHistory(): SharedHistory {
  let made: Promise<ChainHistory> | undefined;
  return (context) => {
    made ??= startChainHistory(context, context.quick ? CAPACITY_QUICK : CAPACITY);
    return made;
  };
}

async function startChainHistory(
  { workspace, say, quick }: BenchContext,
  capacity: number,
): Promise<ChainHistory> {
  const blocksMax = Math.ceil(capacity / SETTLEMENTS_PER_BLOCK) + 1_000;
  const genesisTime = Math.floor(Date.now() / 1000) - blocksMax * BLOCK_SECONDS;
  const chain = await startDemoChain({ genesisTime });
  workspace.defer(() => chain.stop());
  const traffic = createTraffic(chain, seededRandom(quick ? 1 : 2));
  await traffic.prepare(genesisTime + 2 * BLOCK_SECONDS);
  let count = 0;
  let time = genesisTime + 3 * BLOCK_SECONDS;
  const from = (await headOf(chain)) + 1;
  let to = from;
  return {
    chain,
    token: chain.token.address,
    settlements: () => count,
    range: () => ({ from, to }),
    async growTo(settlements) {
      let saidAt = performance.now();
      while (count < settlements) {
        const block = traffic.block(Math.min(SETTLEMENTS_PER_BLOCK, settlements - count));
        const hashes = await chain.sender.sendAll(block.transactions);
        time += BLOCK_SECONDS;
        await mine(chain.rpc, time);
        await requireSuccess(chain.rpc, hashes.slice(-1));
        count += block.settlements;
        if (performance.now() - saidAt > SAY_EVERY_MS) {
          saidAt = performance.now();
          say(`chain history: ${count} of ${settlements} settlements`);
        }
      }
      to = await headOf(chain);
      await mineMany(chain.rpc, BURIED_BLOCKS, BLOCK_SECONDS);
      time += BURIED_BLOCKS * BLOCK_SECONDS;
      say(`chain history: ${count} settlements in blocks ${from} to ${to}`);
    },
  };
}

interface PlannedBlock {
  readonly transactions: readonly Transaction[];
  readonly settlements: number;
}

/**
 * Payers are contracts that accept any signature, so nothing is signed; relayers, batches and amounts are those of the demo. The
 * events are those of real payments.
 */
function createTraffic(chain: DemoChain, random: Random) {
  const parties = (kind: number, count: number): Address[] =>
    Array.from({ length: count }, (_, index) =>
      address(`0x${(kind * 1_000_000 + index).toString(16).padStart(40, 'b')}`),
    );
  const payers = parties(1, PAYERS);
  const payees = parties(2, PAYEES);
  const relayers = parties(3, RELAYERS);
  const payerRank = zipfSampler(random, PAYERS);
  const payeeRank = zipfSampler(random, PAYEES);

  const payment = () =>
    callTransferBytes(
      authorizeWillingly(payers[payerRank()] ?? random.pick(payers), {
        to: payees[payeeRank()] ?? random.pick(payees),
        value: paymentAmount(random),
        nonce: random.bytes32(),
      }),
    );
  const single = (): Transaction => ({
    from: random.pick(relayers),
    to: chain.token.address,
    data: payment(),
  });
  const batch = (): Transaction => ({
    from: random.pick(relayers),
    to: MULTICALL3,
    data: callBatch(chain.token.address, Array.from({ length: BATCH_SIZE }, payment)),
    gas: BATCH_GAS,
  });

  return {
    async prepare(time: number): Promise<void> {
      await installWillingPayers(chain.rpc, payers);
      const minted = await mintUsdc(
        chain.sender,
        payers.map((to) => ({ to, amount: FUNDS })),
      );
      await mine(chain.rpc, time);
      await requireSuccess(chain.rpc, minted);
    },
    /** Exactly `settlements` of them. */
    block(settlements: number): PlannedBlock {
      const transactions: Transaction[] = [];
      for (let left = settlements; left > 0; ) {
        const batched = left >= BATCH_SIZE && random.chance(BATCH_CHANCE);
        transactions.push(batched ? batch() : single());
        left -= batched ? BATCH_SIZE : 1;
      }
      return { transactions, settlements };
    },
  };
}

async function headOf(chain: DemoChain): Promise<number> {
  return Number(await chain.rpc.call<string>('eth_blockNumber'));
}
