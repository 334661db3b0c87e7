import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, address } from '../../core/domain/account.ts';
import { type DemoChain, startDemoChain } from '../../demo/chain/anvil.ts';
import { callBatch, MULTICALL3, mintUsdc } from '../../demo/chain/deploy-usdc.ts';
import { authorizeWillingly, callTransferBytes } from '../../demo/chain/payments.ts';
import { installWillingPayers } from '../../demo/chain/permit2.ts';
import { mine, mineMany, requireSuccess, type Transaction } from '../../demo/chain/sender.ts';
import { paymentAmount, type Random, seededRandom, zipfSampler } from '../../demo/random.ts';
import { once } from './run.ts';

/** A chain whose settlements are all final. */
export interface ChainHistory {
  readonly chain: DemoChain;
  readonly token: Address;
  /** Settlements on the chain, counted by the node's receipts. */
  settlements(): number;
  /** Blocks that hold settlements. */
  range(): { readonly from: number; readonly to: number };
  /** Adds settlements until there are this many, then mines enough blocks to make them final. */
  growTo(settlements: number): Promise<void>;
  /** Mines a block of so many settlements again and again at the pace of the clock, until it is stopped. */
  goOn(settlementsPerBlock: number, blockSeconds: number): { stop(): Promise<void> };
}

/** The most settlements that any part asks for: decides how far back the chain begins. */
const CAPACITY = { full: 100_000, quick: 20_000 };
const SEED = { full: 2, quick: 1 };
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
const SAY_EVERY_BLOCKS = 250;
const FUNDS = 10n ** 12n;

/** Every part of a run reads the same chain, made when the first one asks. */
export const sharedHistory = once(async ({ workspace, say, sized }): Promise<ChainHistory> => {
  const blocksMax = Math.ceil(sized(CAPACITY) / SETTLEMENTS_PER_BLOCK) + 1_000;
  const genesisTime = Math.floor(Date.now() / 1000) - blocksMax * BLOCK_SECONDS;
  const chain = await startDemoChain({ genesisTime });
  workspace.defer(() => chain.stop());
  const head = async (): Promise<number> => Number(await chain.rpc.call<string>('eth_blockNumber'));
  const payers = parties(1, PAYERS);
  await installWillingPayers(chain.rpc, payers);
  const funds = payers.map((to) => ({ to, amount: FUNDS }));
  const minted = await mintUsdc(chain.sender, funds);
  await mine(chain.rpc, genesisTime + 2 * BLOCK_SECONDS);
  await requireSuccess(chain.rpc, minted);
  const nextBlock = createTraffic(chain, payers, seededRandom(sized(SEED)));
  let count = 0;
  let time = genesisTime + 3 * BLOCK_SECONDS;
  const from = (await head()) + 1;
  let to = from;
  return {
    chain,
    token: chain.token.address,
    settlements: () => count,
    range: () => ({ from, to }),
    async growTo(settlements) {
      for (let block = 1; count < settlements; block++) {
        const added = Math.min(SETTLEMENTS_PER_BLOCK, settlements - count);
        const hashes = await chain.sender.sendAll(nextBlock(added));
        time += BLOCK_SECONDS;
        await mine(chain.rpc, time);
        await requireSuccess(chain.rpc, hashes.slice(-1));
        count += added;
        if (block % SAY_EVERY_BLOCKS === 0) say(`chain history: ${count} of ${settlements} settlements`);
      }
      to = await head();
      await mineMany(chain.rpc, BURIED_BLOCKS, BLOCK_SECONDS);
      // The node's clock went on while the machine was busy.
      const newest = await chain.rpc.call<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false);
      time = Number(newest.timestamp);
      say(`chain history: ${count} settlements in blocks ${from} to ${to}`);
    },
    goOn(settlementsPerBlock, blockSeconds) {
      const ending = new AbortController();
      const mining = (async () => {
        while (!ending.signal.aborted) {
          await chain.sender.sendAll(nextBlock(settlementsPerBlock));
          await mine(chain.rpc, Math.max(time + 1, Math.floor(Date.now() / 1_000)));
          time = Math.max(time + 1, Math.floor(Date.now() / 1_000));
          count += settlementsPerBlock;
          await sleep(blockSeconds * 1_000, undefined, { signal: ending.signal }).catch(() => undefined);
        }
      })();
      return {
        stop() {
          ending.abort();
          return mining;
        },
      };
    },
  };
});

function parties(kind: number, count: number): Address[] {
  return Array.from({ length: count }, (_, index) =>
    address(`0x${(kind * 1_000_000 + index).toString(16).padStart(40, 'b')}`),
  );
}

/**
 * The transactions of a block with so many settlements. Payers are contracts that accept any signature, so nothing is signed; relayers,
 * batches and amounts are the demo's. The events are the same as of real payments.
 */
function createTraffic(chain: DemoChain, payers: readonly Address[], random: Random) {
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
  const token = chain.token.address;
  const single = (): Transaction => ({ from: random.pick(relayers), to: token, data: payment() });
  const batch = (): Transaction => {
    const from = random.pick(relayers);
    const data = callBatch(token, Array.from({ length: BATCH_SIZE }, payment));
    return { from, to: MULTICALL3, data, gas: BATCH_GAS };
  };
  return (settlements: number): Transaction[] => {
    const transactions: Transaction[] = [];
    for (let left = settlements; left > 0; ) {
      const batched = left >= BATCH_SIZE && random.chance(BATCH_CHANCE);
      transactions.push(batched ? batch() : single());
      left -= batched ? BATCH_SIZE : 1;
    }
    return transactions;
  };
}
