import type { Hex } from 'viem';
import type { Hash } from '../core/domain/account.ts';
import type { EvidenceMethod } from '../core/domain/evidence.ts';
import type { Cast } from './actors.ts';
import { DEMO_CHAIN_ID, reorg } from './chain/anvil.ts';
import { EXACT_PROXY, UPTO_PROXY } from './chain/permit2.ts';
import { mine, type Transaction } from './chain/sender.ts';
import { createLedger, type Ledger, type LedgerRules, type PaidLog } from './ledger.ts';
import { createPaymentMix } from './payment-mix.ts';
import { type PlannedTransaction, payingNobody } from './planned.ts';
import { type Random, seededRandom } from './random.ts';
import type { World } from './world.ts';

/** ERC-8021: calldata that ends so carries builder codes. */
const BUILDER_MARKER = '80218021802180218021802180218021';
/** receiveWithAuthorization, with the signature in parts or in one piece. */
const RECEIVE_SELECTORS = ['0xef55bec6', '0x88b7ab63'];

export interface GradeExpectations {
  /** Payees whose bare transfers are shown too. */
  readonly cataloguedPayees: ReadonlySet<string>;
  /** The grade that a settlement must be given; null where only its parties, amount and time can be compared. */
  expectedMethod(paid: PaidLog): EvidenceMethod | null;
}

/**
 * The demo's own transactions are expected as planned. A visitor's transaction is graded from its receipt, by the ladder of
 * docs/reference/evidence.md written a second time: this check must not share code with the indexer.
 */
export function gradeExpectations(
  cast: Cast,
  made: ReadonlyMap<Hash, PlannedTransaction>,
): GradeExpectations {
  const catalogued = [...cast.merchants.filter((merchant) => merchant.catalogued), ...cast.shops, cast.api];
  const payees = new Set<string>(catalogued.map(({ address }) => address));
  const named = new Set<string>(cast.facilitators.flatMap(({ relayers }) => relayers));
  const byPayee = (payee: string): EvidenceMethod =>
    payees.has(payee) ? 'catalogued_payee' : 'gasless_authorization';
  const ofStranger = ({ marker, input, relayer, payer, payee }: PaidLog): EvidenceMethod | null => {
    if (marker === 'none') return 'bare_transfer';
    if (RECEIVE_SELECTORS.some((selector) => input.startsWith(selector))) return 'self_relayed';
    if (named.has(relayer)) return 'facilitator_relay';
    if (marker !== 'claim' && (relayer === payer || relayer === payee)) return 'self_relayed';
    if (marker === 'permit2' || marker === 'claim') return 'builder_code';
    // Whether the code in there is well-formed is for the decoder to say.
    return input.endsWith(BUILDER_MARKER) ? null : byPayee(payee);
  };
  return {
    cataloguedPayees: payees,
    expectedMethod(paid) {
      const planned = made.get(paid.txHash);
      if (planned === undefined) return ofStranger(paid);
      return planned.expected === 'by_payee' ? byPayee(paid.payee) : planned.expected;
    },
  };
}

export interface Traffic {
  /** The settlements that survive on the chain, row by row. */
  readonly ledger: Ledger;
  readonly random: Random;
  /** The newest block's number and time. */
  readonly head: { readonly number: number; readonly time: number };
  readonly reorgs: number;
  readonly deepestReorg: number;
  /**
   * Sends and mines one block whose transactions settle exactly `settlements` payments, and whatever else waits in the pool.
   * `time` in Unix seconds; raised to the newest block's where it is earlier, so that two blocks can share a timestamp, as
   * they do on chains with sub-second blocks.
   */
  block(settlements: number, time: number): Promise<void>;
  /** Reads what was mined, or undone, since the last look. `block` and `reorg` do so themselves. */
  catchUp(): Promise<void>;
  /** Puts transactions that are no payments into the pool, for the next block; a reorg undoes and returns them like payments. */
  send(transactions: readonly Transaction[]): Promise<Hash[]>;
  /** Mines `blocks` blocks, `secondsApart`, with `settlements` payments in total; calls `progress` after every block. */
  history(options: HistoryOptions): Promise<void>;
  /**
   * Undoes the newest `depth` blocks and mines `depth + 1` others, which hold some of the undone payments again: what a
   * competing block producer would have taken from the same pool.
   */
  reorg(depth: number): Promise<void>;
}

export interface HistoryOptions {
  readonly settlements: number;
  readonly blocks: number;
  readonly secondsApart: number;
  progress?(settlementsDone: number): void;
}

/** Blocks of history that carry the timestamp of the block before. */
const SAME_TIME_SHARE = 0.05;
/** Most undone transactions return; the rest were replaced or dropped by their senders. */
const RETURNING_SHARE = 0.75;

/**
 * The traffic of the demo. One per world: it owns the mining and the record of what every transaction was meant to be.
 */
export async function makeTraffic(world: World, options: { readonly seed: number }): Promise<Traffic> {
  const { chain, cast } = world;
  const random = seededRandom(options.seed);
  const { plan, openings } = createPaymentMix({ cast, token: chain.token, chainId: world.chainId, random });
  const made = new Map<Hash, PlannedTransaction>();
  const ledger = createLedger(chain.rpc, ledgerRules(world, made));
  const head = { ...(await readHead(world)) };
  const counters = { reorgs: 0, deepestReorg: 0 };

  const send = async (planned: readonly PlannedTransaction[]): Promise<Hash[]> => {
    const hashes = await chain.sender.sendAll(planned.map(({ transaction }) => transaction));
    for (const [index, hash] of hashes.entries()) {
      const one = planned[index];
      if (one !== undefined) made.set(hash, one);
    }
    return hashes;
  };
  const planBlock = async (settlements: number): Promise<PlannedTransaction[]> => {
    const planned: PlannedTransaction[] = [];
    for (let left = settlements; left > 0; ) {
      const next = await plan(left);
      planned.push(next);
      left -= next.settlements;
    }
    return planned;
  };
  /** Visitors may mine, and even undo, blocks: read the chain, not our own record of what we did to it. */
  const catchUp = async (): Promise<void> => {
    const now = await readHead(world);
    const ancestor = await lastCommonBlock(world, ledger, Math.min(head.number, now.number));
    ledger.rollback(ancestor);
    await ledger.record(ancestor + 1, now.number);
    Object.assign(head, now);
    forgetOld(made, ledger, now.number);
  };
  const mineBlock = async (planned: readonly PlannedTransaction[], time: number): Promise<void> => {
    await send(planned);
    await mine(chain.rpc, Math.max(time, (await readHead(world)).time));
    await catchUp();
  };
  const block = async (settlements: number, time: number) => mineBlock(await planBlock(settlements), time);

  await mineBlock(await openings(), head.time);

  return {
    ledger,
    random,
    head,
    get reorgs() {
      return counters.reorgs;
    },
    get deepestReorg() {
      return counters.deepestReorg;
    },
    block,
    catchUp,
    send: (transactions) => send(transactions.map(payingNobody)),
    async history({ settlements, blocks, secondsApart, progress }) {
      const start = ledger.count;
      for (let done = 0; done < blocks; done++) {
        // Shares follow the running total, so that the last block makes it exact.
        const due = Math.round((settlements * (done + 1)) / blocks) - (ledger.count - start);
        await block(Math.max(0, due), head.time + (random.chance(SAME_TIME_SHARE) ? 0 : secondsApart));
        progress?.(ledger.count - start);
      }
    },
    async reorg(depth) {
      const ancestor = head.number - depth;
      const waiting = await waitingInPool(world);
      const returning = await undoneTransactions(world, ledger, {
        from: ancestor + 1,
        to: head.number,
        made,
        random,
      });
      returning.push(...waiting);
      await reorg(chain, {
        depth,
        blocks: depth + 1,
        fill: async (position) => {
          const share = returning.splice(0, Math.ceil(returning.length / (depth + 1 - position)));
          for (const one of share) {
            if ('raw' in one) await returnSigned(world, one.raw);
            else await send([one]);
          }
        },
      });
      counters.reorgs += 1;
      counters.deepestReorg = Math.max(counters.deepestReorg, depth);
      await catchUp();
    },
  };
}

function ledgerRules({ chain, cast }: World, made: ReadonlyMap<Hash, PlannedTransaction>): LedgerRules {
  return {
    chainId: DEMO_CHAIN_ID,
    token: chain.token.address,
    proxies: new Set([EXACT_PROXY, UPTO_PROXY]),
    ...gradeExpectations(cast, made),
  };
}

async function readHead(world: World): Promise<{ number: number; time: number }> {
  const block = await world.chain.rpc.call<{ number: Hex; timestamp: Hex }>(
    'eth_getBlockByNumber',
    'latest',
    false,
  );
  return { number: Number(block.number), time: Number(block.timestamp) };
}

/** The newest block at or below `from` that the chain still contains; one that was never recorded counts as such. */
async function lastCommonBlock({ chain }: World, ledger: Ledger, from: number): Promise<number> {
  for (let number = from; ; number--) {
    const recorded = ledger.hashOf(number);
    if (recorded === undefined) return number;
    const block = await chain.rpc.call<{ hash: Hash } | null>(
      'eth_getBlockByNumber',
      `0x${number.toString(16)}`,
      false,
    );
    if (block?.hash === recorded) return number;
  }
}

/** What lies deeper than any reorg is settled: a demo that runs for a day must not keep all calldata of it. */
const REMEMBERED_BLOCKS = 64;

function forgetOld(made: Map<Hash, PlannedTransaction>, ledger: Ledger, head: number): void {
  for (const hash of ledger.transactions(head - REMEMBERED_BLOCKS)) made.delete(hash);
}

/**
 * Signed transactions that wait for the next block. The node drops one whose predecessor a rollback undid, so they go back into
 * the pool after those.
 */
async function waitingInPool({ chain }: World): Promise<{ readonly raw: Hex }[]> {
  const pool = await chain.rpc.call<PoolContent>('txpool_content');
  const hashes = [pool.pending, pool.queued].flatMap((senders) =>
    Object.values(senders).flatMap((byNonce) => Object.values(byNonce).map(({ hash }) => hash)),
  );
  const raws = await chain.rpc.batch<Hex | null>(
    hashes.map((hash) => ({ method: 'eth_getRawTransactionByHash', params: [hash] })),
  );
  return raws.flatMap((raw) => (raw === null ? [] : [{ raw }]));
}

type SendersInPool = Readonly<Record<string, Readonly<Record<string, { readonly hash: Hash }>>>>;
type PoolContent = Readonly<Record<'pending' | 'queued', SendersInPool>>;

/**
 * A visitor's transaction goes back to the pool as it was signed. One that the node signed itself cannot (impersonated senders
 * have no key), nor one whose nonce has been used since: both are dropped, as after a real reorg.
 */
async function returnSigned({ chain }: World, raw: Hex): Promise<void> {
  await chain.rpc.call('eth_sendRawTransaction', raw).catch(() => undefined);
}

interface UndoneRange {
  readonly from: number;
  readonly to: number;
  readonly made: ReadonlyMap<Hash, PlannedTransaction>;
  readonly random: Random;
}

/** The transactions of the blocks about to be undone that return to the pool: most of our own, and all that visitors signed. */
async function undoneTransactions(
  world: World,
  ledger: Ledger,
  range: UndoneRange,
): Promise<(PlannedTransaction | { readonly raw: Hex })[]> {
  const returning: (PlannedTransaction | { readonly raw: Hex })[] = [];
  for (let number = range.from; number <= range.to; number++) {
    for (const hash of ledger.transactions(number)) {
      const planned = range.made.get(hash);
      if (planned === undefined) {
        returning.push({ raw: await world.chain.rpc.call<Hex>('eth_getRawTransactionByHash', hash) });
      } else if (range.random.chance(RETURNING_SHARE)) {
        returning.push(planned);
      }
    }
  }
  return returning;
}
