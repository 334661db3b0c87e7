import type { BackfillSource, ChainState } from '../../clickhouse/tables/ingest-state.ts';
import type { Chain } from '../../core/domain/chains.ts';
import type { BlockRef, ChainTip } from '../chain/block-source.ts';

/** A source that has not answered for this long is shown as unreachable; at least three polls where polling is slow. */
const UNREACHABLE_AFTER_MS = 10_000;
const UNREACHABLE_AFTER_POLLS = 3;

/** A node that contradicts itself is asked again after 15 s at most (chain/rpc/limits.ts); twice that without another one, and it stopped. */
const CONTRADICTION_COUNTS_MS = 30_000;

/** The status of one chain, kept in memory and published periodically (status-report.ts). */
export interface ChainStatus {
  /** The node gave blocks that passed every check, or its tip. */
  sourceAnswered(): void;
  sawTip(tip: { readonly head: BlockRef }): void;
  /** This block is indexed and final. */
  finalized(block: BlockRef): void;
  /** The contiguous range behind the tip now ends at this block. */
  indexed(block: { readonly number: number; readonly time: number }): void;
  wrote(work: {
    readonly rows: number;
    readonly blocks: number;
    /** Of these, read from a Portal. */
    readonly portalBlocks: number;
    readonly deadLetters: number;
  }): void;
  /** Where the newest blocks of the backfill came from. */
  backfilledFrom(source: BackfillSource): void;
  /** Failures that other processes had with the nodes of this chain. */
  hadTrouble(trouble: { readonly retries: number; readonly contradictions: number }): void;
  reorged(depth: number): void;
  /** Logs that could not become rows, as of now. */
  deadLetters(open: number): void;
  backfill(done: number, total: number): void;
  stopped(error: string): void;
  /** The chain is read from no node; `newest` is the newest block with a row, null where there is none. */
  imported(newest: { readonly number: number; readonly time: number } | null): void;
  /** The hours that have transactions whose fees are not read yet, and the oldest of them, Unix seconds (0 for none). */
  fees(left: { readonly hoursOpen: number; readonly oldestOpen: number }): void;
  /** Ends an interval of the moving rates. */
  tick(): void;
  snapshot(): StatusSnapshot;
}

/** Counters that survive restarts: a restart must not forget reorgs. */
export interface Counters {
  readonly rowsWritten: number;
  readonly reorgs: number;
  readonly deepestReorg: number;
  readonly retries: number;
  readonly contradictions: number;
  readonly deadLetters: number;
  /** Unix seconds; 0 for never. */
  readonly lastWrittenAt: number;
  readonly indexedBlock: number;
  readonly indexedTime: number;
  readonly finalizedBlock: number;
}

export interface StatusSnapshot extends Counters, Rates {
  readonly chain: Chain;
  readonly state: ChainState;
  readonly headBlock: number;
  readonly headTime: number;
  /** When the node last reported its tip; 0 for never. */
  readonly headSeenAtMs: number;
  readonly backfillDone: number;
  readonly backfillTotal: number;
  /** '' while nothing was backfilled. */
  readonly backfillSource: BackfillSource | '';
  /** Null while no receipts are read. */
  readonly feeHoursOpen: number | null;
  readonly feeOldestOpen: number;
  /** A short public code, '' for none. */
  readonly lastError: string;
}

export function createChainStatus(
  config: { readonly chain: Chain; readonly pollMs: number },
  source: Pick<ChainTip, 'counters'>,
  stored: Counters,
  nowMs: () => number = Date.now,
): ChainStatus {
  const unreachableAfterMs = Math.max(UNREACHABLE_AFTER_MS, UNREACHABLE_AFTER_POLLS * config.pollMs);
  const rates = createRates(nowMs);
  const counters: { -readonly [name in keyof Counters]: Counters[name] } = { ...stored };
  const elsewhere = { retries: 0, contradictions: 0 };
  const seen = { head: null as BlockRef | null, headAtMs: 0, lastAnswerMs: nowMs(), lastGainMs: nowMs() };
  const told: Told = { ...NOTHING_TOLD };
  const state = (): ChainState => {
    const trouble = troubleOf(seen, source.counters(), { unreachableAfterMs, nowMs: nowMs() });
    return stateOf(told, seen.head, trouble);
  };

  return {
    sourceAnswered() {
      seen.lastAnswerMs = nowMs();
    },
    sawTip({ head }) {
      seen.head = head;
      seen.headAtMs = nowMs();
      // Nothing is left to read.
      if (head.number <= counters.indexedBlock) seen.lastGainMs = nowMs();
    },
    finalized({ number }) {
      counters.finalizedBlock = Math.max(counters.finalizedBlock, number);
    },
    indexed({ number, time }) {
      counters.indexedBlock = number;
      counters.indexedTime = time;
      seen.lastGainMs = nowMs();
    },
    deadLetters(open) {
      told.deadLetters = open;
    },
    wrote({ rows, blocks, deadLetters }) {
      rates.add(rows, blocks);
      counters.rowsWritten += rows;
      counters.deadLetters += deadLetters;
      if (rows > 0) counters.lastWrittenAt = Math.floor(nowMs() / 1000);
    },
    hadTrouble({ retries, contradictions }) {
      elsewhere.retries += retries;
      elsewhere.contradictions += contradictions;
    },
    reorged(depth) {
      counters.reorgs += 1;
      counters.deepestReorg = Math.max(counters.deepestReorg, depth);
    },
    backfilledFrom(source) {
      told.backfillSource = source;
    },
    backfill(done, total) {
      told.backfill = { done, total };
    },
    stopped(error) {
      told.stopError = error;
    },
    imported(newest) {
      told.isImported = true;
      if (newest === null) return;
      counters.indexedBlock = newest.number;
      counters.indexedTime = newest.time;
      counters.finalizedBlock = Math.max(counters.finalizedBlock, newest.number);
    },
    fees(left) {
      told.fees = left;
    },
    tick: () => rates.roll(),
    snapshot() {
      const now = source.counters();
      const shown = state();
      return {
        ...counters,
        ...rates.current(),
        chain: config.chain,
        retries: stored.retries + elsewhere.retries + now.retries,
        contradictions: stored.contradictions + elsewhere.contradictions + now.contradictions,
        state: shown,
        headBlock: seen.head?.number ?? 0,
        headTime: seen.head?.time ?? 0,
        headSeenAtMs: seen.headAtMs,
        backfillDone: told.backfill?.done ?? 0,
        backfillTotal: told.backfill?.total ?? 0,
        backfillSource: told.backfillSource,
        feeHoursOpen: told.fees?.hoursOpen ?? null,
        feeOldestOpen: told.fees?.oldestOpen ?? 0,
        lastError: told.stopError ?? errorOf(shown),
      };
    },
  };
}

/** What the passes of a chain said last. */
interface Told {
  backfill: { readonly done: number; readonly total: number } | null;
  backfillSource: BackfillSource | '';
  fees: Parameters<ChainStatus['fees']>[0] | null;
  /** Logs that could not become rows, as of now. */
  deadLetters: number;
  stopError: string | null;
  isImported: boolean;
}

const NOTHING_TOLD: Readonly<Told> = {
  backfill: null,
  backfillSource: '',
  fees: null,
  deadLetters: 0,
  stopError: null,
  isImported: false,
};

/** What stands in the way of everything else comes first. */
function stateOf(
  { backfill, deadLetters, stopError, isImported }: Told,
  head: BlockRef | null,
  trouble: 'contradicting' | 'unreachable' | null,
): ChainState {
  if (stopError !== null) return 'stopped';
  if (isImported) return 'imported';
  if (trouble !== null) return trouble;
  if (head === null || backfill === null) return 'starting';
  if (backfill.done < backfill.total) return 'backfilling';
  return deadLetters > 0 ? 'incomplete' : 'following';
}

/** Why nothing is read: the answers of the nodes contradict, or none comes. Null while something is, or nothing is left to read. */
function troubleOf(
  seen: { readonly lastAnswerMs: number; readonly lastGainMs: number },
  { contradictedAtMs }: { readonly contradictedAtMs: number },
  { unreachableAfterMs, nowMs }: { readonly unreachableAfterMs: number; readonly nowMs: number },
): 'contradicting' | 'unreachable' | null {
  const isStill = nowMs - seen.lastGainMs > unreachableAfterMs;
  if (isStill && nowMs - contradictedAtMs < CONTRADICTION_COUNTS_MS) return 'contradicting';
  return nowMs - seen.lastAnswerMs > unreachableAfterMs ? 'unreachable' : null;
}

function errorOf(state: ChainState): string {
  if (state === 'unreachable') return 'rpc_unreachable';
  return state === 'contradicting' ? 'rpc_contradicting' : '';
}

/** Snapshots with the same key are equal for a reader; a heartbeat alone is not a change. */
export function newsKey(snapshot: StatusSnapshot): string {
  const { state, indexedBlock, indexedTime, backfillDone, lastError } = snapshot;
  return [state, indexedBlock, indexedTime, backfillDone, lastError].join();
}

/** How far back the moving rates look. */
const RATE_MEMORY_SECONDS = 10;

interface Rates {
  readonly rowsPerSecond: number;
  readonly blocksPerSecond: number;
}

/** Moving averages of the work done; `roll` closes an interval of any length. */
function createRates(nowMs: () => number): {
  add(rows: number, blocks: number): void;
  roll(): void;
  current(): Rates;
} {
  let since = nowMs();
  let rows = 0;
  let blocks = 0;
  let current: Rates = { rowsPerSecond: 0, blocksPerSecond: 0 };
  return {
    add(moreRows, moreBlocks) {
      rows += moreRows;
      blocks += moreBlocks;
    },
    roll() {
      const seconds = Math.max(0.001, (nowMs() - since) / 1000);
      const weight = 1 - Math.exp(-seconds / RATE_MEMORY_SECONDS);
      const mix = (old: number, fresh: number): number => (old === 0 ? fresh : old + weight * (fresh - old));
      current = {
        rowsPerSecond: mix(current.rowsPerSecond, rows / seconds),
        blocksPerSecond: mix(current.blocksPerSecond, blocks / seconds),
      };
      since = nowMs();
      rows = 0;
      blocks = 0;
    },
    current: () => current,
  };
}
