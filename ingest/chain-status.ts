import type { Writer } from '../clickhouse/engine.ts';
import { RowBinary } from '../clickhouse/row-binary.ts';
import { sql, text } from '../clickhouse/sql.ts';
import type { Chain } from '../src/domain/chain.ts';
import type { BlockRef, BlockSource } from './sources/block-source.ts';
import type { Versions } from './versions.ts';

/** What the API calls a chain's state. `stopped` needs an operator. */
export type ChainState = 'starting' | 'backfilling' | 'following' | 'unreachable' | 'stopped';

/** A source that has not answered for this long is shown as unreachable; at least three polls where polling is slow. */
const UNREACHABLE_AFTER_MS = 10_000;
const UNREACHABLE_AFTER_POLLS = 3;
const MAX_SECONDS = 10;
/** How far back the moving rates look. */
const RATE_MEMORY_SECONDS = 10;

const STATUS_COLUMNS = [
  'chain', 'state', 'indexed_block', 'indexed_time', 'head_block', 'head_time', 'head_seen_at', 'finalized_block',
  'backfill_blocks_done', 'backfill_blocks_total', 'rows_per_second', 'blocks_per_second', 'rows_written', 'reorgs',
  'deepest_reorg', 'retries', 'contradictions', 'dead_letters', 'last_error', 'last_written_at', 'updated_at', 'ver',
] as const; // biome-ignore format: a list of names reads best dense

/**
 * What ingest knows of one chain, kept in memory and written to `chain_status` from time to time. Counters go on from the
 * stored row, so that a restart does not forget reorgs.
 */
export interface ChainStatus {
  sourceAnswered(): void;
  sawTip(tip: { readonly head: BlockRef; readonly finalized: BlockRef }): void;
  /** The contiguous range behind the tip now ends at this block. */
  indexed(block: { readonly number: number; readonly time: number }): void;
  wrote(work: { readonly rows: number; readonly blocks: number; readonly deadLetters: number }): void;
  reorged(depth: number): void;
  backfill(done: number, total: number): void;
  stopped(error: string): void;
  snapshot(): StatusSnapshot;
  /** True when what a reader would notice has changed since the last `encode`. */
  hasNews(): boolean;
  /** The current row of `chain_status`, as RowBinary. */
  encode(versions: Versions): Uint8Array;
}

export interface StatusSnapshot {
  readonly state: ChainState;
  readonly indexedBlock: number;
  readonly headBlock: number;
  readonly finalizedBlock: number;
  readonly backfillDone: number;
  readonly backfillTotal: number;
  readonly rowsPerSecond: number;
  readonly blocksPerSecond: number;
  readonly lastError: string;
}

interface Counters {
  rowsWritten: number;
  reorgs: number;
  deepestReorg: number;
  retries: number;
  contradictions: number;
  deadLetters: number;
  lastWrittenAt: number;
  indexedBlock: number;
  indexedTime: number;
  finalizedBlock: number;
}

export function createChainStatus(
  config: { readonly chain: Chain; readonly pollMs: number },
  source: Pick<BlockSource, 'counters'>,
  stored: Counters,
  nowMs: () => number = Date.now,
): ChainStatus {
  const { chain } = config;
  const unreachableAfterMs = Math.max(UNREACHABLE_AFTER_MS, UNREACHABLE_AFTER_POLLS * config.pollMs);
  const counters = { ...stored };
  const carried = { retries: stored.retries, contradictions: stored.contradictions };
  let head: BlockRef | null = null;
  let headSeenAtMs = 0;
  let lastAnswerMs = nowMs();
  let lastError = '';
  let isStopped = false;
  let isPlanned = false;
  let backfillDone = 0;
  let backfillTotal = 0;
  let lastNews = '';
  const rates = createRates(nowMs);

  const state = (): ChainState => {
    if (isStopped) return 'stopped';
    if (nowMs() - lastAnswerMs > unreachableAfterMs) return 'unreachable';
    if (head === null || !isPlanned) return 'starting';
    return backfillDone < backfillTotal ? 'backfilling' : 'following';
  };
  const news = (): string =>
    [state(), counters.indexedBlock, counters.indexedTime, backfillDone, visibleError()].join();
  const visibleError = (): string =>
    lastError === '' && state() === 'unreachable' ? 'rpc_unreachable' : lastError;

  return {
    sourceAnswered: () => {
      lastAnswerMs = nowMs();
    },
    sawTip(tip) {
      head = tip.head;
      headSeenAtMs = nowMs();
      counters.finalizedBlock = Math.max(counters.finalizedBlock, tip.finalized.number);
    },
    indexed(block) {
      counters.indexedBlock = block.number;
      counters.indexedTime = block.time;
    },
    wrote({ rows, blocks, deadLetters }) {
      rates.add(rows, blocks);
      counters.rowsWritten += rows;
      counters.deadLetters += deadLetters;
      if (rows > 0) counters.lastWrittenAt = Math.floor(nowMs() / 1000);
    },
    reorged(depth) {
      counters.reorgs += 1;
      counters.deepestReorg = Math.max(counters.deepestReorg, depth);
    },
    backfill(done, total) {
      isPlanned = true;
      backfillDone = done;
      backfillTotal = total;
    },
    stopped(error) {
      isStopped = true;
      lastError = error;
    },
    snapshot: () => ({
      state: state(),
      indexedBlock: counters.indexedBlock,
      headBlock: head?.number ?? 0,
      finalizedBlock: counters.finalizedBlock,
      backfillDone,
      backfillTotal,
      ...rates.current(),
      lastError: visibleError(),
    }),
    hasNews: () => news() !== lastNews,
    encode(versions) {
      lastNews = news();
      const now = source.counters();
      counters.retries = carried.retries + now.retries;
      counters.contradictions = carried.contradictions + now.contradictions;
      return encodeRow(chain, counters, {
        state: state(),
        head,
        headSeenAtMs,
        backfillDone,
        backfillTotal,
        lastError: visibleError(),
        nowMs: nowMs(),
        ver: versions.next(),
        ...rates.roll(),
      });
    },
  };
}

interface RowFacts {
  readonly state: ChainState;
  readonly head: BlockRef | null;
  readonly headSeenAtMs: number;
  readonly backfillDone: number;
  readonly backfillTotal: number;
  readonly rowsPerSecond: number;
  readonly blocksPerSecond: number;
  readonly lastError: string;
  readonly nowMs: number;
  readonly ver: bigint;
}

/** In the order of STATUS_COLUMNS. */
function encodeRow(chain: Chain, counters: Counters, facts: RowFacts): Uint8Array {
  return new RowBinary()
    .string(chain)
    .string(facts.state)
    .u64(counters.indexedBlock)
    .dateTime(counters.indexedTime)
    .u64(facts.head?.number ?? 0)
    .dateTime(facts.head?.time ?? 0)
    .dateTime(Math.floor(facts.headSeenAtMs / 1000))
    .u64(counters.finalizedBlock)
    .u64(facts.backfillDone)
    .u64(facts.backfillTotal)
    .float64(facts.rowsPerSecond)
    .float64(facts.blocksPerSecond)
    .u64(counters.rowsWritten)
    .u64(counters.reorgs)
    .u64(counters.deepestReorg)
    .u64(counters.retries)
    .u64(counters.contradictions)
    .u64(counters.deadLetters)
    .string(facts.lastError)
    .dateTime(counters.lastWrittenAt)
    .dateTime64(facts.nowMs)
    .u64(facts.ver)
    .finish();
}

/** Moving averages of rows and blocks a second. */
function createRates(nowMs: () => number): {
  add(rows: number, blocks: number): void;
  roll(): { rowsPerSecond: number; blocksPerSecond: number };
  current(): { rowsPerSecond: number; blocksPerSecond: number };
} {
  let since = nowMs();
  let rows = 0;
  let blocks = 0;
  let current = { rowsPerSecond: 0, blocksPerSecond: 0 };
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
      return current;
    },
    current: () => current,
  };
}

/** Writes encoded rows of any number of chains in one insert. */
export async function saveStatuses(writer: Writer, rows: readonly Uint8Array[]): Promise<void> {
  await writer.insert('save-status', 'chain_status', STATUS_COLUMNS, rows);
}

/** The counters of the last stored row, zero for a chain that was never indexed. */
export async function loadCounters(writer: Writer, chain: Chain): Promise<Counters> {
  const { rows } = await writer.rows({
    name: `load-status ${chain}`,
    sql: sql`SELECT rows_written, reorgs, deepest_reorg, retries, contradictions, dead_letters, toUnixTimestamp(last_written_at),
               indexed_block, toUnixTimestamp(indexed_time), finalized_block
             FROM chain_status FINAL WHERE chain = ${text(chain)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  const [
    rowsWritten = 0,
    reorgs = 0,
    deepestReorg = 0,
    retries = 0,
    contradictions = 0,
    deadLetters = 0,
    lastWrittenAt = 0,
    indexedBlock = 0,
    indexedTime = 0,
    finalizedBlock = 0,
  ] = (rows[0] ?? []).map(Number);
  return {
    rowsWritten,
    reorgs,
    deepestReorg,
    retries,
    contradictions,
    deadLetters,
    lastWrittenAt,
    indexedBlock,
    indexedTime,
    finalizedBlock,
  };
}
