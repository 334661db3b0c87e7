import type { Header, LogFilter, RawLog } from './block-source.ts';
import { checkOfBlock, checkWholeBlock, orderLogs } from './check-batch.ts';
import { type Blooms, isCoveredBy } from './logs-bloom.ts';
import { type BlockAnswer, bloomOf, hexOf, list, logsOfBlock, record } from './read-answers.ts';
import { ProviderContradiction, RpcFailure } from './rpc/failure.ts';
import type { Question, RpcPool } from './rpc/pool.ts';

/**
 * Reads all logs of a block, ours and others', proves that they are whole (see prove-complete.ts), and gives ours. `told`: what the range
 * answer has of the block.
 */
export type WholeBlockReader = (
  block: BlockAnswer,
  filter: LogFilter,
  told: readonly RawLog[],
) => Promise<readonly RawLog[]>;

/** Each attempt asks the next URL; after them the other source is asked. */
export const ATTEMPTS_PER_SOURCE = 2;
/** How long a refusal of eth_getBlockReceipts counts: a URL may lead to another node tomorrow. */
const REFUSAL_COUNTS_MS = 60 * 60_000;

const givesUp = (_trouble: unknown, attempts: number): boolean => attempts >= ATTEMPTS_PER_SOURCE;

export function createWholeBlockReader(
  { pool, nowMs = () => performance.now() }: { readonly pool: RpcPool; readonly nowMs?: () => number },
  blooms: Blooms,
): WholeBlockReader {
  let receiptsFromMs = 0;
  const oursOf = (block: BlockAnswer, listed: readonly RawLog[], filter: LogFilter): readonly RawLog[] =>
    oursOfWhole(block, listed, filter, blooms);
  /**
   * Every other loss leaves a gap; a lost end of the block is missed by the filter of the receipt that lost it, which few other logs fill.
   * Chains that do not fill that field say nothing by it.
   */
  const checkEnd = (receipts: readonly Receipt[], { number }: BlockAnswer): void => {
    for (const { bloom, logs } of receipts.toReversed()) {
      if (bloom !== null && !isCoveredBy(bloom, blooms.of(logs)))
        throw new ProviderContradiction(
          'bloom-mismatch',
          `a receipt of block ${number} lacks logs of its filter`,
        );
      if (logs.length > 0) return;
    }
  };
  /** Null where the node has no receipts of the block, as a pruned one. */
  const fromReceipts = (
    block: BlockAnswer,
    filter: LogFilter,
    told: readonly RawLog[],
  ): Question<readonly RawLog[] | null> => ({
    method: 'eth_getBlockReceipts',
    params: [hexOf(block.number)],
    read(result) {
      if (result === null) return null;
      const receipts = list(result, 'receipts');
      if (receipts.length < block.transactionCount)
        throw new ProviderContradiction(
          'missing-transaction',
          `block ${block.number} has more transactions than receipts`,
        );
      const read = receipts.map((entry) => readReceipt(record(entry, 'receipt'), block));
      const listed = read.flatMap(({ logs }) => logs);
      const further = endOf(listed, told);
      if (further.length === 0) checkEnd(read, block);
      return oursOf(block, [...listed, ...further], filter);
    },
    givesUp,
  });
  const byHash = (
    block: BlockAnswer,
    filter: LogFilter,
    told: readonly RawLog[],
  ): Question<readonly RawLog[]> => ({
    method: 'eth_getLogs',
    params: [{ blockHash: block.hash }],
    read(result) {
      const listed = logsOfBlock(result, block.hash);
      return oursOf(block, [...listed, ...endOf(listed, told)], filter);
    },
    givesUp,
  });
  return async (block, filter, told) => {
    if (nowMs() >= receiptsFromMs) {
      try {
        const found = await pool.ask(fromReceipts(block, filter, told));
        if (found !== null) return found;
      } catch (error) {
        if (!(error instanceof RpcFailure || error instanceof ProviderContradiction)) throw error;
        if (error.kind === 'refused') receiptsFromMs = nowMs() + REFUSAL_COUNTS_MS;
      }
    }
    return pool.ask(byHash(block, filter, told));
  };
}

/** Ours of a list that must hold all logs of the block. Throws `ProviderContradiction` where it does not. Pure. */
export function oursOfWhole(
  { number, hash, bloom }: Header,
  listed: readonly RawLog[],
  filter: LogFilter,
  blooms: Blooms,
): readonly RawLog[] {
  const all = orderLogs(listed).logs;
  checkOfBlock(all, hash);
  checkWholeBlock(all, number);
  const found = ours(all, filter);
  if (bloom !== null && isCoveredBy(bloom, blooms.of(all)) && isCoveredBy(blooms.of(found), bloom))
    return found;
  throw new ProviderContradiction(
    'bloom-mismatch',
    `the logs of block ${number} do not make its header’s filter (a chain whose filters are wrong needs completeness: settlement-blocks)`,
  );
}

interface Receipt {
  readonly bloom: string | null;
  readonly logs: readonly RawLog[];
}

function readReceipt(receipt: Record<string, unknown>, { hash }: BlockAnswer): Receipt {
  return { bloom: bloomOf(receipt), logs: logsOfBlock(receipt['logs'], hash) };
}

/**
 * What the range answer has beyond the end of a list, where it goes on without a gap: nodes lose logs and invent none, so the list was cut
 * off there. A log at a wrong place leaves a gap.
 */
function endOf(listed: readonly RawLog[], told: readonly RawLog[]): readonly RawLog[] {
  const next = listed.reduce((most, { logIndex }) => Math.max(most, logIndex + 1), 0);
  const further = told.filter(({ logIndex }) => logIndex >= next);
  return further.every(({ logIndex }, at) => logIndex === next + at) ? further : [];
}

function ours(logs: readonly RawLog[], filter: LogFilter): RawLog[] {
  const addresses = new Set<string>(filter.addresses);
  const topics = new Set<string | undefined>(filter.topics);
  return logs.filter((log) => addresses.has(log.address) && topics.has(log.topics[0]));
}
