import { createHash } from 'node:crypto';
import type { Hash } from '../../core/domain/settlement.ts';
import type { Log } from '../../core/log.ts';
import type { EventsOf, LogFilter, RawLog } from './block-source.ts';
import { checkOfBlock, checkWholeBlock, orderLogs } from './check-batch.ts';
import { createBlooms, isCoveredBy, isEmptyBloom } from './logs-bloom.ts';
import { type BlockAnswer, hexOf, list, logsOfBlock, record } from './read-answers.ts';
import { ProviderContradiction, RpcFailure } from './rpc/failure.ts';
import type { Question, RpcPool } from './rpc/pool.ts';

/**
 * Proves that no log is missing from a range answer, and gives the logs of the blocks in which some are.
 *
 * A block without our logs is proved by its header if the 2048-bit filter in it (see logs-bloom.ts) excludes our contracts or their
 * events. Of every other block all logs are read, ours and others': from its receipts, or, where the node gives none, by eth_getLogs of
 * its hash. They are whole if their indexes have no gap, if there is a receipt of every transaction, and if together they set every bit
 * of the header's filter; ours must set no other bit. The list's filter need not be equal: some chains return logs that their headers
 * leave out (Polygon's older state-sync logs). What a whole list holds of ours replaces what the range answer said of the block. So a log
 * that every range answer leaves out is found, and the other source decides where one of the two is not whole.
 *
 * Not proved: without receipts, the loss of the last logs of a block goes unnoticed if other logs of the block set all of their bits; so
 * does a log that receipts and eth_getLogs leave out alike at the end of a block. Nor does this detect a node that invents logs of others
 * to explain the bits of withheld ones: it protects against nodes that lose logs, not against forgery.
 *
 * Cost: one call, with all logs of the block, for every block with logs of ours, and on a busy chain, whose filters are nearly full, for
 * nearly every block: `completeness: settlement-blocks` avoids it in the backfill by trusting the node.
 */
export interface Prover {
  /**
   * Our logs of each block of which the range answer holds others than the block. Throws `ProviderContradiction` ('bloom-mismatch',
   * 'log-gap', …) or `RpcFailure` when neither source is whole.
   */
  prove(blocks: readonly BlockAnswer[], logs: readonly RawLog[], filter: LogFilter): Promise<LogsByBlock>;
}

export type LogsByBlock = ReadonlyMap<number, readonly RawLog[]>;

/** Blocks recently proved, so that a repeated read does not prove them again. */
const PROVED_MAX = 20_000;
/** Each attempt asks the next URL; after them the other source is asked. */
const ATTEMPTS_PER_SOURCE = 2;
/** How long a refusal of eth_getBlockReceipts counts: a URL may lead to another node tomorrow. */
const REFUSAL_COUNTS_MS = 60 * 60_000;

export function createProver(deps: {
  readonly pool: RpcPool;
  readonly log: Log;
  readonly nowMs?: () => number;
}): Prover {
  const { pool, nowMs = () => performance.now() } = deps;
  const blooms = createBlooms();
  /** Digest of our logs in a proved block. */
  const proved = new Map<Hash, string>();
  let warned = false;
  let receiptsFromMs = 0;

  const isUsable = (bloom: string | null, hasLogs: boolean): bloom is string => {
    if (bloom !== null && !(isEmptyBloom(bloom) && hasLogs)) return true;
    if (!warned) deps.log.warn('this chain’s headers carry no log filter: missing logs cannot be detected');
    warned = true;
    return false;
  };
  /** Most headers exclude all contracts or all events at once; only few are checked group by group. */
  const mayHold = (bloom: string, filter: LogFilter): boolean => {
    const isIn = ({ addresses, topics }: EventsOf): boolean => blooms.mayContain(bloom, addresses, topics);
    return isIn(filter) && (filter.matters?.some(isIn) ?? true);
  };
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
    givesUp: (_trouble, attempts) => attempts >= ATTEMPTS_PER_SOURCE,
  });
  const byHash = (block: BlockAnswer, filter: LogFilter): Question<readonly RawLog[]> => ({
    method: 'eth_getLogs',
    params: [{ blockHash: block.hash }],
    read: (result) => oursOf(block, logsOfBlock(result, block.hash), filter),
    givesUp: (_trouble, attempts) => attempts >= ATTEMPTS_PER_SOURCE,
  });
  const readWhole = async (block: BlockAnswer, filter: LogFilter): Promise<readonly RawLog[]> => {
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
  const correct = async ({ block, logs }: Suspect, filter: LogFilter): Promise<Correction | null> => {
    const told = fingerprint(logs);
    if (proved.get(block.hash) === told) return null;
    const found = await readWhole(block, filter);
    const digest = fingerprint(found);
    if (proved.size > PROVED_MAX) proved.clear();
    proved.set(block.hash, digest);
    return digest === told ? null : [block.number, found];
  };

  return {
    async prove(blocks, logs, filter) {
      const byBlock = groupByBlock(logs);
      const suspects: Suspect[] = [];
      for (const block of blocks) {
        const found = byBlock.get(block.number) ?? [];
        if (!isUsable(block.bloom, found.length > 0)) continue;
        if (found.length > 0 || mayHold(block.bloom, filter)) suspects.push({ block, logs: found });
      }
      // Wait for all before throwing a failure: no request may outlive its read.
      const settled = await Promise.allSettled(suspects.map((suspect) => correct(suspect, filter)));
      const corrections = new Map<number, readonly RawLog[]>();
      for (const outcome of settled) {
        if (outcome.status === 'rejected') throw outcome.reason;
        if (outcome.value !== null) corrections.set(...outcome.value);
      }
      return corrections;
    },
  };
}

type Correction = readonly [number, readonly RawLog[]];

interface Suspect {
  readonly block: BlockAnswer;
  /** The logs of the block in the range answer. */
  readonly logs: readonly RawLog[];
}

function ours(logs: readonly RawLog[], filter: LogFilter): RawLog[] {
  const addresses = new Set<string>(filter.addresses);
  const topics = new Set<string | undefined>(filter.topics);
  return logs.filter((log) => addresses.has(log.address) && topics.has(log.topics[0]));
}

/** A digest, because thousands of them are kept and one block's logs can be a hundred kilobytes. */
export function fingerprint(logs: readonly RawLog[]): string {
  const digest = createHash('sha256');
  for (const { logIndex, address, transactionHash, topics, data } of logs)
    digest.update(`${logIndex}${address}${transactionHash}${topics}${data},`);
  return digest.digest('base64');
}

export function groupByBlock(logs: readonly RawLog[]): LogsByBlock {
  const groups = new Map<number, RawLog[]>();
  for (const log of logs) {
    const group = groups.get(log.blockNumber);
    if (group === undefined) groups.set(log.blockNumber, [log]);
    else group.push(log);
  }
  return groups;
}
