import type { LogFilter, RawLog } from './block-source.ts';
import { checkOfBlock, checkWholeBlock, orderLogs } from './check-batch.ts';
import { type createBlooms, isCoveredBy } from './logs-bloom.ts';
import { type BlockAnswer, hexOf, list, logsOfBlock, record } from './read-answers.ts';
import { ProviderContradiction, RpcFailure } from './rpc/failure.ts';
import type { Question, RpcPool } from './rpc/pool.ts';

/** Reads all logs of a block, ours and others', proves that they are whole (see prove-complete.ts), and gives ours. */
export type WholeBlockReader = (block: BlockAnswer, filter: LogFilter) => Promise<readonly RawLog[]>;

/** Each attempt asks the next URL; after them the other source is asked. */
export const ATTEMPTS_PER_SOURCE = 2;
/** How long a refusal of eth_getBlockReceipts counts: a URL may lead to another node tomorrow. */
const REFUSAL_COUNTS_MS = 60 * 60_000;

const givesUp = (_trouble: unknown, attempts: number): boolean => attempts >= ATTEMPTS_PER_SOURCE;

export function createWholeBlockReader(
  { pool, nowMs = () => performance.now() }: { readonly pool: RpcPool; readonly nowMs?: () => number },
  blooms: ReturnType<typeof createBlooms>,
): WholeBlockReader {
  let receiptsFromMs = 0;
  const checkFilter = ({ number, bloom }: BlockAnswer, all: readonly RawLog[], found: readonly RawLog[]) => {
    if (bloom !== null && isCoveredBy(bloom, blooms.of(all)) && isCoveredBy(blooms.of(found), bloom)) return;
    throw new ProviderContradiction(
      'bloom-mismatch',
      `the logs of block ${number} do not make its header’s filter (a chain whose filters are wrong needs completeness: settlement-blocks)`,
    );
  };
  /** Ours of a whole list. */
  const oursOf = (block: BlockAnswer, told: readonly RawLog[], filter: LogFilter): readonly RawLog[] => {
    const all = orderLogs(told).logs;
    checkOfBlock(all, block.hash);
    checkWholeBlock(all, block.number);
    const found = ours(all, filter);
    checkFilter(block, all, found);
    return found;
  };
  /** Null where the node has no receipts of the block, as a pruned one. */
  const fromReceipts = (block: BlockAnswer, filter: LogFilter): Question<readonly RawLog[] | null> => ({
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
      const told = receipts.flatMap((entry) => logsOfBlock(record(entry, 'receipt')['logs'], block.hash));
      return oursOf(block, told, filter);
    },
    givesUp,
  });
  const byHash = (block: BlockAnswer, filter: LogFilter): Question<readonly RawLog[]> => ({
    method: 'eth_getLogs',
    params: [{ blockHash: block.hash }],
    read: (result) => oursOf(block, logsOfBlock(result, block.hash), filter),
    givesUp,
  });
  return async (block, filter) => {
    if (nowMs() >= receiptsFromMs) {
      try {
        const found = await pool.ask(fromReceipts(block, filter));
        if (found !== null) return found;
      } catch (error) {
        if (!(error instanceof RpcFailure || error instanceof ProviderContradiction)) throw error;
        if (error.kind === 'refused') receiptsFromMs = nowMs() + REFUSAL_COUNTS_MS;
      }
    }
    return pool.ask(byHash(block, filter));
  };
}

function ours(logs: readonly RawLog[], filter: LogFilter): RawLog[] {
  const addresses = new Set<string>(filter.addresses);
  const topics = new Set<string | undefined>(filter.topics);
  return logs.filter((log) => addresses.has(log.address) && topics.has(log.topics[0]));
}
