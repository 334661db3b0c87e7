import type { ChainConfig } from '../../core/config/chains.ts';
import type { Hash } from '../../core/domain/account.ts';
import { runPool } from '../../core/process/pool.ts';
import type { AdaptiveWindow } from './adaptive-window.ts';
import type { BlockBatch, LogFilter, RawLog, ReadOptions, TransactionFacts } from './block-source.ts';
import { checkAsked, checkForks, checkLinks, orderLogs } from './check-batch.ts';
import { groupByBlock, type LogsByBlock, type Prover } from './prove-complete.ts';
import { type BlockAnswer, blockQuestion, hexOf, readLogs, refOf } from './read-answers.ts';
import { ProviderContradiction, RpcFailure } from './rpc/failure.ts';
import type { RpcLimits } from './rpc/limits.ts';
import type { RpcPool, Trouble } from './rpc/pool.ts';

/**
 * Reads a range in segments. A segment is checked as a whole and kept: a failure repeats or halves only its own segment. At the end
 * the segments must link, which reveals a reorg between two of them.
 */
export interface RangeReader {
  /** Throws `RpcFailure` or `ProviderContradiction` when the range must be started afresh. */
  read(from: number, to: number, filter: LogFilter, options?: ReadOptions): Promise<BlockBatch>;
}

export interface RangeReaderDeps {
  readonly pool: RpcPool;
  readonly prover: Prover;
  readonly limits: RpcLimits;
  readonly completeness: ChainConfig['completeness'];
  /** How many blocks this chain's nodes accept in one eth_getLogs, learned from refusals. */
  readonly span: AdaptiveWindow;
}

interface Parts extends RangeReaderDeps {
  /** Recent transactions per full block, for the size of batches. */
  density: number;
}

/** The request of one read. */
interface Task {
  readonly filter: LogFilter;
  /** Every block is read, linked and proved; else only the first, the last and those with candidates. */
  readonly everyHeader: boolean;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

interface Segment {
  readonly blocks: readonly BlockAnswer[];
  readonly logs: readonly RawLog[];
  readonly transactions: ReadonlyMap<Hash, TransactionFacts>;
}

/**
 * An eth_getLogs over several blocks that was refused with an unknown message, perhaps for its size. Does not apply to a refused
 * header or block hash: those blocks are gone, and halving would only request them more often.
 */
class RangeRefused extends RpcFailure {
  constructor(detail: string) {
    super('refused', detail);
    this.name = 'RangeRefused';
  }
}

/** Consecutive contradictions after which a segment is halved: smaller segments are more likely to be answered consistently. */
const CONTRADICTIONS_BEFORE_SPLIT = 2;

export function createRangeReader(deps: RangeReaderDeps): RangeReader {
  const parts: Parts = { ...deps, density: 1 };
  return {
    async read(from, to, filter, options) {
      const everyHeader = deps.completeness === 'every-block' || options?.everyHeader === true;
      const read = (range: Range): Promise<Segment[]> => readSegments(parts, range, { filter, everyHeader });
      const segments = (
        await inParallel(cut(from, to, deps.span.size()), deps.limits.parallelLogCalls, read)
      ).flat();
      const blocks = segments.flatMap((segment) => segment.blocks);
      consistent(parts, blocks, () => checkLinks(blocks));
      return {
        from,
        to,
        blocks: blocks.map(refOf),
        logs: segments.flatMap(({ logs }) => logs),
        transactions: allOf(segments.map(({ transactions }) => transactions)),
      };
    },
  };
}

/** Merges the maps without intermediate pairs: a hundred thousand of them burden the garbage collector. */
function allOf(maps: readonly ReadonlyMap<Hash, TransactionFacts>[]): ReadonlyMap<Hash, TransactionFacts> {
  const [first, ...others] = maps;
  if (first !== undefined && others.length === 0) return first;
  const all = new Map<Hash, TransactionFacts>();
  for (const map of maps) for (const [hash, facts] of map) all.set(hash, facts);
  return all;
}

function cut(from: number, to: number, size: number): Range[] {
  const ranges: Range[] = [];
  for (let start = from; start <= to; start += size)
    ranges.push({ from: start, to: Math.min(to, start + size - 1) });
  return ranges;
}

/** Results in the order of the items. */
async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  await runPool(items.entries(), { width: Math.min(width, items.length) }, async ([index, item]) => {
    results[index] = await work(item);
  });
  return results;
}

/** A range as checked segments: one, unless the node accepts only smaller ranges or keeps contradicting itself. */
async function readSegments(parts: Parts, range: Range, task: Task): Promise<Segment[]> {
  for (let attempts = 1; ; attempts++) {
    try {
      return [await readSegment(parts, range, task)];
    } catch (error) {
      if (!(error instanceof RpcFailure || error instanceof ProviderContradiction)) throw error;
      if (isSplittable(error, range, attempts)) return await readHalves(parts, range, task, error);
      if (error instanceof RpcFailure || attempts >= parts.limits.maxSegmentAttempts) throw error;
    }
  }
}

async function readHalves(
  parts: Parts,
  { from, to }: Range,
  task: Task,
  trouble: Trouble,
): Promise<Segment[]> {
  const isAboutSize = trouble instanceof RpcFailure && !(trouble instanceof RangeRefused);
  if (isAboutSize) parts.span.shrink(to - from + 1);
  const middle = from + Math.floor((to - from) / 2);
  const lower = await readSegments(parts, { from, to: middle }, task);
  const upper = await readSegments(parts, { from: middle + 1, to }, task);
  // Both halves succeeded, so the size was the cause.
  if (trouble instanceof RangeRefused) parts.span.shrink(to - from + 1);
  return [...lower, ...upper];
}

function isSplittable(trouble: Trouble, { from, to }: Range, attempts: number): boolean {
  if (from === to) return false;
  if (trouble instanceof ProviderContradiction) return attempts >= CONTRADICTIONS_BEFORE_SPLIT;
  return trouble instanceof RangeRefused || trouble.kind === 'too-large' || trouble.kind === 'timeout';
}

async function readSegment(parts: Parts, range: Range, task: Task): Promise<Segment> {
  const { filter, everyHeader } = task;
  const logsAnswer = await readLogsOf(parts, range, filter);
  const { logs } = logsAnswer;
  const wanted = wantedOf(logs, filter);
  const blocks = await readBlocks(parts, range, wanted, everyHeader);
  const byNumber = new Map(blocks.map((block) => [block.number, block]));
  // Logs of unread blocks cannot be checked, and are not needed.
  const checkable = everyHeader ? logs : logs.filter((log) => byNumber.has(log.blockNumber));
  const transactions = consistent(parts, [logsAnswer, ...blocks], () => {
    checkLinks(blocks);
    checkForks(checkable, byNumber);
    return findTransactions(wanted, blocks);
  });
  if (!everyHeader) return { blocks, logs: checkable, transactions };
  const corrections = await parts.prover.prove(blocks, checkable, filter);
  if (corrections.size === 0) return { blocks, logs: checkable, transactions };
  const numbers = [...corrections.keys()].slice(0, NAMED_BLOCKS_MAX).join(', ');
  parts.pool.distrust(
    new ProviderContradiction(
      'missing-logs',
      `${corrections.size} blocks have other logs than the range answer: ${numbers}`,
    ),
    [logsAnswer],
  );
  return correct(parts, { blocks, logs: checkable, transactions }, corrections, filter);
}

/** Blocks that a message names. */
const NAMED_BLOCKS_MAX = 10;

/** The segment with the proved logs of some of its blocks, and the transactions behind these. */
async function correct(
  parts: Parts,
  segment: Segment,
  corrections: LogsByBlock,
  filter: LogFilter,
): Promise<Segment> {
  const told = groupByBlock(segment.logs);
  const logs = segment.blocks.flatMap(({ number }) => corrections.get(number) ?? told.get(number) ?? []);
  const wanted = wantedOf([...corrections.values()].flat(), filter);
  const byNumber = new Map(segment.blocks.map((block) => [block.number, block]));
  const full = await parts.pool.askAll(
    [...new Set(wanted.values())].map((number) =>
      blockQuestion(number, (hash) => wanted.get(hash) === number),
    ),
  );
  return consistent(parts, full, () => {
    checkForks(logs, new Map([...byNumber, ...full.map((block) => [block.number, block] as const)]));
    return { ...segment, logs, transactions: allOf([segment.transactions, findTransactions(wanted, full)]) };
  });
}

/** Runs checks between answers. Counts their failures here, because no single call is at fault. */
function consistent<T>({ pool }: Parts, answers: readonly object[], check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof ProviderContradiction) pool.distrust(error, answers);
    throw error;
  }
}

async function readLogsOf(
  parts: Parts,
  { from, to }: Range,
  filter: LogFilter,
): Promise<{ readonly logs: readonly RawLog[] }> {
  const startedMs = performance.now();
  const answer = await parts.pool
    .ask({
      method: 'eth_getLogs',
      params: [
        { fromBlock: hexOf(from), toBlock: hexOf(to), address: filter.addresses, topics: [filter.topics] },
      ],
      read: (result) => {
        const { logs, removed } = readLogs(result);
        checkAsked(logs, from, to, filter);
        return { ...orderLogs(logs), removed: removed.length };
      },
      givesUp: (trouble, attempts) => to > from && isRangeHopeless(trouble, attempts, parts.limits),
    })
    .catch((error: unknown) => {
      if (to > from && error instanceof RpcFailure && error.kind === 'refused')
        throw new RangeRefused(error.message);
      throw error;
    });
  const { logs, duplicates, removed } = answer;
  // The proof of its block decides whether the log stands after all.
  if (removed > 0)
    parts.pool.note(
      new ProviderContradiction('removed-log', `${removed} logs of ${from}–${to} are marked as undone`),
      answer,
    );
  if (duplicates > 0)
    parts.pool.note(
      new ProviderContradiction('duplicate-logs', `${duplicates} logs of ${from}–${to} came twice`),
      answer,
    );
  parts.span.observe({ blocks: to - from + 1, logs: logs.length, elapsedMs: performance.now() - startedMs });
  return answer;
}

/** Whether only a smaller range can help. */
function isRangeHopeless(trouble: Trouble, attempts: number, { maxRangeFailures }: RpcLimits): boolean {
  if (!(trouble instanceof RpcFailure)) return false;
  if (trouble.kind === 'too-large') return true;
  return (trouble.kind === 'timeout' || trouble.kind === 'refused') && attempts >= maxRangeFailures;
}

/** The block of each transaction behind a candidate, as the logs name it. */
type WantedTransactions = ReadonlyMap<Hash, number>;

function wantedOf(logs: readonly RawLog[], filter: LogFilter): WantedTransactions {
  const wanted = new Map<Hash, number>();
  for (const log of logs) if (filter.isCandidate(log)) wanted.set(log.transactionHash, log.blockNumber);
  return wanted;
}

/** Headers with the wanted transactions, if any. Ascending. */
async function readBlocks(
  parts: Parts,
  { from, to }: Range,
  wanted: WantedTransactions,
  everyHeader: boolean,
): Promise<BlockAnswer[]> {
  const { pool, limits } = parts;
  const withTransactions = new Set(wanted.values());
  const all = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const isRead = (number: number): boolean =>
    number === from || number === to || withTransactions.has(number);
  const read = everyHeader ? all : all.filter(isRead);
  const full = read.filter((number) => withTransactions.has(number));
  const bare = read.filter((number) => !withTransactions.has(number));
  const fullPerBatch = Math.max(1, Math.floor(limits.targetBatchTransactions / Math.max(1, parts.density)));
  const [fullBlocks, headers] = await Promise.all([
    pool.askAll(
      full.map((number) => blockQuestion(number, (hash) => wanted.get(hash) === number)),
      Math.min(limits.maxBatchCalls, fullPerBatch),
    ),
    pool.askAll(bare.map((number) => blockQuestion(number))),
  ]);
  if (fullBlocks.length > 0)
    parts.density =
      fullBlocks.reduce((sum, { transactionCount }) => sum + transactionCount, 0) / fullBlocks.length;
  return [...fullBlocks, ...headers].sort((a, b) => a.number - b.number);
}

/** The transactions behind the candidates; each must be in the block that its log names. */
function findTransactions(
  wanted: WantedTransactions,
  blocks: readonly BlockAnswer[],
): ReadonlyMap<Hash, TransactionFacts> {
  const found = new Map<Hash, TransactionFacts>();
  for (const { transactions } of blocks) for (const facts of transactions) found.set(facts.hash, facts);
  for (const [hash, number] of wanted) {
    if (!found.has(hash))
      throw new ProviderContradiction(
        'missing-transaction',
        `block ${number} lacks a transaction that its logs name`,
      );
  }
  return found;
}
