import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { TRANSACTION_FEES } from '../../clickhouse/tables/fees.ts';
import { insertRows } from '../../clickhouse/tables/table.ts';
import type { ChainConfig } from '../../core/config/chains.ts';
import { evmHash } from '../../core/domain/account.ts';
import type { Log } from '../../core/log.ts';
import { type BlockSource, type ReceiptFacts, ReceiptsUnread } from '../chain/block-source.ts';
import { WrongChain } from '../chain/rpc/failure.ts';
import type { ChainStatus } from '../follow/chain-status.ts';
import { createRefusals, type Refusals } from '../follow/refused-blocks.ts';
import { untilAcknowledged } from '../write/batch-writer.ts';
import type { Versions } from '../write/versions.ts';
import type { ReceiptComparison } from './compare-receipts.ts';
import {
  type MissingFee,
  type OpenHour,
  readBlockHashes,
  readMissing,
  readOpenHours,
  refreshKept,
  saveDoneHours,
} from './hours.ts';

/**
 * Reads what each settled transaction cost its relayer, from the receipts of final blocks, the newest hours first. No settlement depends
 * on it: it takes a small share of the permitted requests, gives up a refused one, and waits while the node rests. The receipts also show
 * payments that every other answer left out: their blocks are read again. It can be killed at
 * any point: an hour is recorded as done after the fees of all its transactions are acknowledged.
 */

export interface FeeLimits {
  /** Before looking again when there is nothing to read. */
  readonly pollMs: number;
  /** After a node that did not answer. */
  readonly retryMs: number;
  /** The first time after which a block is asked for again that no URL answered rightly; doubled each time. */
  readonly blockRetryMs: number;
  /** How long it reads before it stores the fees and looks for newer hours. */
  readonly turnMs: number;
  /** Transactions of one look, so that it takes a bounded share of memory. */
  readonly transactionsMax: number;
  /** Hours of one look; fewer while they have many transactions. */
  readonly hoursMax: number;
}

export const FEE_LIMITS: FeeLimits = {
  pollMs: 5_000,
  retryMs: 30_000,
  blockRetryMs: 10 * 60_000,
  turnMs: 20_000,
  transactionsMax: 2_000,
  hoursMax: 24,
};

/** Share of the permitted requests; backfill and the head keep the rest. */
const RATE_SHARE = 0.1;
/** An exchange delays the next request of the head by the slots of its calls: at most this long. */
const HEAD_WAIT_MAX_MS = 100;
/** A block of a busy chain has a megabyte of receipts, which are parsed at once. */
const CALLS_MAX = 5;
/** Hours looked at for some that are not postponed. */
const OPEN_HOURS_MAX = 1_000;
/** Blocks read before their fees are put together. */
const BLOCKS_PER_READ = 20;
/** Pause as a multiple of the time of a look that found nothing to read: it must not take a core. */
const REST_FACTOR = 20;

export interface FeeDeps {
  readonly config: Pick<ChainConfig, 'chain' | 'requestsPerSecond' | 'sampleDataTo'>;
  readonly source: Pick<BlockSource, 'receipts'>;
  readonly status: Pick<ChainStatus, 'snapshot' | 'fees'>;
  readonly comparison: ReceiptComparison;
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly limits?: Partial<FeeLimits>;
}

/** Ends when the signal aborts, or when no configured URL serves the chain. */
export async function readFees(deps: FeeDeps): Promise<void> {
  const { config, log, signal } = deps;
  const limits = { ...FEE_LIMITS, ...deps.limits };
  const reader = createFeeReader(deps, limits);
  try {
    while (!signal.aborted) await delay(await reader.turn(), undefined, { signal });
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof WrongChain)) throw error;
    log.warn({ chain: config.chain }, 'fees are not read: no RPC URL serves this chain');
  }
}

interface Look {
  readonly hours: readonly OpenHour[];
  readonly missing: readonly MissingFee[];
  /** There are more than were read. */
  readonly isCut: boolean;
  readonly finalBlock: number;
}

function createFeeReader(deps: FeeDeps, limits: FeeLimits) {
  const { config, status, writer, versions, log, signal } = deps;
  const { chain } = config;
  const acknowledged = <T>(attempt: () => Promise<T>): Promise<T> => untilAcknowledged(log, signal, attempt);
  const pace = createPace(config.requestsPerSecond, signal);
  const refused = createRefusals(limits.blockRetryMs);
  /** Hours that cannot be finished before this time: blocks that are not final, or refused. */
  const postponed = new Map<number, { readonly untilMs: number; readonly writes: number | null }>();
  let hoursAtOnce = 1;

  const look = async (hours: readonly OpenHour[]): Promise<Look> => {
    const scope = { chain, hours: hours.map(({ hour }) => hour), above: config.sampleDataTo ?? 0 };
    const { finalizedBlock: finalBlock } = status.snapshot();
    await acknowledged(() => refreshKept(writer, scope, versions.next()));
    const rowsMax = limits.transactionsMax;
    const missing = await acknowledged(() => readMissing(writer, scope, { finalBlock, rowsMax }));
    const isCut = missing.length === rowsMax;
    hoursAtOnce = isCut ? Math.max(1, hours.length >> 1) : Math.min(limits.hoursMax, hoursAtOnce * 2);
    return { hours, missing, isCut, finalBlock };
  };

  /** Records the hours that have nothing missing any more, and postpones the others of a whole look. */
  const settle = async (
    { hours, missing, isCut, finalBlock }: Look,
    done: ReadonlySet<MissingFee>,
  ): Promise<void> => {
    if (isCut) return;
    const left = groupBy(
      missing.filter((fee) => !done.has(fee)),
      ({ blockTime }) => Math.floor(blockTime / 3_600) * 3_600,
    );
    const finished = hours.filter(({ hour }) => !left.has(hour));
    await acknowledged(() => saveDoneHours(writer, chain, finished, versions.next()));
    for (const { hour, writes } of hours) {
      const blocks = (left.get(hour) ?? []).map(({ blockNumber }) => blockNumber);
      const nowMs = performance.now();
      const isReadable = (block: number): boolean => block <= finalBlock && !refused.isRefused(block);
      if (blocks.length === 0 || blocks.some(isReadable)) postponed.delete(hour);
      else if (blocks.some((block) => block > finalBlock))
        postponed.set(hour, { untilMs: nowMs + limits.pollMs, writes: null });
      // Only refused blocks are left; another write may bring one that can be read.
      else postponed.set(hour, { untilMs: refused.firstUntilMs(blocks), writes });
    }
  };

  const isPostponed = ({ hour, writes }: OpenHour, nowMs: number): boolean => {
    const until = postponed.get(hour);
    return until !== undefined && nowMs < until.untilMs && (until.writes === null || until.writes === writes);
  };

  return {
    /** Reads for a while; returns how long to wait before the next turn. */
    async turn(): Promise<number> {
      const beganMs = performance.now();
      const open = await acknowledged(() => readOpenHours(writer, chain, OPEN_HOURS_MAX));
      status.fees({ hoursOpen: open.total, oldestOpen: open.oldest });
      for (const hour of postponed.keys())
        if (!open.hours.some((one) => one.hour === hour)) postponed.delete(hour);
      const hours = open.hours.filter((hour) => !isPostponed(hour, beganMs)).slice(0, hoursAtOnce);
      if (hours.length === 0) return limits.pollMs;
      const found = await look(hours);
      const lookedMs = performance.now() - beganMs;
      const due = found.missing.filter(
        ({ blockNumber }) => blockNumber <= found.finalBlock && !refused.isRefused(blockNumber),
      );
      const { done, isNodeAway } = await readDue(deps, due, { pace, refused, limits });
      await settle(found, done);
      if (isNodeAway) return limits.retryMs;
      if (done.size > 0) log.debug({ chain, transactions: done.size }, 'fees read');
      // More of the backlog follows at once, as fast as the node permits; looks that find none leave the engine alone.
      return done.size > 0 ? 0 : Math.min(limits.pollMs, lookedMs * REST_FACTOR);
    },
  };
}

interface Reading {
  readonly pace: (calls: number) => Promise<void>;
  readonly refused: Refusals;
  readonly limits: FeeLimits;
}

/** Reads and stores until all is read, the turn is over or the node does not answer. */
async function readDue(
  { config, source, comparison, writer, versions, log, signal }: FeeDeps,
  due: readonly MissingFee[],
  { pace, refused, limits }: Reading,
): Promise<{ readonly done: ReadonlySet<MissingFee>; readonly isNodeAway: boolean }> {
  const { chain } = config;
  const acknowledged = <T>(attempt: () => Promise<T>): Promise<T> => untilAcknowledged(log, signal, attempt);
  const blocks = [...groupBy(due, ({ blockNumber }) => blockNumber)];
  const endsMs = performance.now() + limits.turnMs;
  const callsMax = Math.floor((config.requestsPerSecond * HEAD_WAIT_MAX_MS) / 1_000);
  const options = { callsMax: Math.min(CALLS_MAX, Math.max(1, callsMax)), before: pace };
  const done = new Map<MissingFee, ReceiptFacts>();
  let isNodeAway = false;
  for (let at = 0; at < blocks.length && performance.now() < endsMs && !isNodeAway; at += BLOCKS_PER_READ) {
    const part = blocks.slice(at, at + BLOCKS_PER_READ);
    const hashes = await acknowledged(() =>
      readBlockHashes(
        writer,
        chain,
        part.map(([number]) => number),
      ),
    );
    const wanted = part.map(([number, fees]) => ({
      number,
      hash: hashes.get(number) ?? null,
      transactions: fees.map(({ txHash }) => evmHash(txHash)),
    }));
    try {
      const receipts = await source.receipts(wanted, options);
      const shown = part.map(([number], index) => ({ number, logs: receipts[index]?.logs ?? [] }));
      const repaired = await comparison.compare(shown);
      for (const [index, [number, fees]] of part.entries()) {
        const found = receipts[index] ?? null;
        // After a repair the block is compared once more before its fees are stored.
        if (found === null || repaired.has(number)) refused.refuse(number);
        else
          for (const [place, receipt] of found.receipts.entries())
            done.set(fees[place] as MissingFee, receipt); // in the order asked
      }
    } catch (error) {
      if (!(error instanceof ReceiptsUnread)) throw error;
      log.warn({ chain, err: error }, 'fees not read, the node is asked again later');
      isNodeAway = true;
    }
  }
  await acknowledged(() =>
    insertRows(writer, {
      name: 'fees-save',
      table: TRANSACTION_FEES,
      rows: [...done].map(([missing, receipt]) => feeRow(missing, receipt)),
      fixed: { chain, ver: versions.next(), del: 0 },
    }),
  );
  return { done: new Set(done.keys()), isNodeAway };
}

function feeRow(missing: MissingFee, { gasUsed, gasPrice, l1Fee }: ReceiptFacts) {
  return { ...missing, gasUsed, gasPrice, l1Fee, fee: BigInt(gasUsed) * gasPrice + l1Fee };
}

/** Waits until the calls before are paid for. */
function createPace(requestsPerSecond: number, signal: AbortSignal): (calls: number) => Promise<void> {
  let freeAtMs = 0;
  return async (calls) => {
    const waitMs = freeAtMs - performance.now();
    if (waitMs > 0) await delay(waitMs, undefined, { signal });
    freeAtMs = performance.now() + (calls * 1_000) / (requestsPerSecond * RATE_SHARE);
  };
}

function groupBy(fees: readonly MissingFee[], keyOf: (fee: MissingFee) => number): Map<number, MissingFee[]> {
  const groups = new Map<number, MissingFee[]>();
  for (const fee of fees) {
    const group = groups.get(keyOf(fee));
    if (group === undefined) groups.set(keyOf(fee), [fee]);
    else group.push(fee);
  }
  return groups;
}
