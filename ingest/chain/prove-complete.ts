import { createHash } from 'node:crypto';
import type { Hash } from '../../core/domain/settlement.ts';
import type { Log } from '../../core/log.ts';
import type { EventsOf, LogFilter, RawLog } from './block-source.ts';
import { checkOfBlock, orderLogs } from './check-batch.ts';
import { createBlooms, isCoveredBy, isEmptyBloom } from './logs-bloom.ts';
import { type BlockAnswer, readLogs } from './read-answers.ts';
import { ProviderContradiction } from './rpc/failure.ts';
import type { RpcLimits } from './rpc/limits.ts';
import type { Question, RpcPool } from './rpc/pool.ts';

/**
 * Proves that no log is missing, from the 2048-bit bloom filter in every header (see logs-bloom.ts).
 *
 * A block without our logs is proved by its header if the filter excludes our contracts or their events. If it does not (on a busy
 * chain filters are nearly full), all logs of the block are requested by its hash. Together they must set every bit of the header's
 * filter, and ours among them must set no other bit; then the list shows our logs, or that the range answer was wrong. The list's
 * filter need not be equal: some chains return logs that their headers leave out (Polygon's older state-sync logs).
 * A block with our logs is proved if their filter already equals the header's. Otherwise it has other logs too, and up to
 * `maxSampledProofs` such blocks per read are requested by hash and compared: first the last one, where a truncated answer ends, then
 * evenly spread ones. An answer that lost logs in many blocks is rejected; a single log lost in one busy block may pass. The last
 * block with logs is always proved by hash, also if the filters are equal: a truncated answer ends there, and a lost transfer between
 * accounts that other logs of the block name sets no bit of its own.
 * Not proved: a lost log goes unnoticed if other logs of its block set all of its bits. Account and nonce of a payment set six bits:
 * one lost log in 64 passes if the filter is half full, more in fuller ones. Nor does this detect a node that invents other logs to
 * explain the bits of withheld ones: it protects against nodes that lose logs, not against forgery.
 *
 * Cost: one call for every read that found logs, three to four hashes per log with new topics (about 20 µs), and one call per further block that is proved by hash. If every block has
 * our logs (USDC on Base) that is at most 16 calls per read; on a busy chain with few of our logs it is one call, with all logs of the
 * block, for nearly every block: `completeness: settlement-blocks` avoids it by trusting the node.
 */
export interface Prover {
  /** Throws `ProviderContradiction` ('missing-logs', 'bloom-mismatch') when the logs are not all there. */
  prove(blocks: readonly BlockAnswer[], logs: readonly RawLog[], filter: LogFilter): Promise<void>;
}

/** Blocks recently proved by hash, so that a repeated read does not prove them again. */
const PROVED_MAX = 20_000;

export function createProver(deps: {
  readonly pool: RpcPool;
  readonly limits: RpcLimits;
  readonly log: Log;
}): Prover {
  const { pool, limits } = deps;
  const blooms = createBlooms();
  /** Digest of our logs in a proved block. */
  const proved = new Map<Hash, string>();
  let warned = false;

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
  const isExplained = (bloom: string | null, all: readonly RawLog[], found: readonly RawLog[]): boolean =>
    bloom !== null && isCoveredBy(bloom, blooms.of(all)) && isCoveredBy(blooms.of(found), bloom);
  const proveByHash = async (suspects: readonly Suspect[], filter: LogFilter): Promise<void> => {
    const open = suspects.filter(({ block, logs }) => proved.get(block.hash) !== fingerprint(logs));
    await pool.askAll(
      open.map((suspect) => question(suspect, filter)),
      1,
    );
    if (proved.size > PROVED_MAX) proved.clear();
    for (const { block, logs } of open) proved.set(block.hash, fingerprint(logs));
  };
  const question = ({ block, logs }: Suspect, filter: LogFilter): Question<void> => ({
    method: 'eth_getLogs',
    params: [{ blockHash: block.hash }],
    read(result) {
      const all = orderLogs(readLogs(result)).logs;
      checkOfBlock(all, block.hash);
      const found = ours(all, filter);
      if (!isExplained(block.bloom, all, found))
        throw new ProviderContradiction(
          'bloom-mismatch',
          `the logs of block ${block.number} do not make its header’s filter (a chain whose filters are wrong needs completeness: settlement-blocks)`,
        );
      if (fingerprint(found) !== fingerprint(logs))
        throw new ProviderContradiction(
          'missing-logs',
          `block ${block.number} has other logs than the range answer`,
        );
    },
    // Retrying would read the same block; only reading the range again can help.
    givesUp: (trouble) => trouble instanceof ProviderContradiction && trouble.kind === 'missing-logs',
  });

  return {
    async prove(blocks, logs, filter) {
      const byBlock = groupByBlock(logs);
      const lastWithLogs = logs.at(-1)?.blockNumber;
      const silent: Suspect[] = [];
      const busy: Suspect[] = [];
      for (const block of blocks) {
        const found = byBlock.get(block.number) ?? [];
        if (!isUsable(block.bloom, found.length > 0)) continue;
        if (found.length > 0) {
          const isWhole = blooms.of(found) === block.bloom && !hasGap(found);
          if (!isWhole || block.number === lastWithLogs) busy.push({ block, logs: found });
        } else if (mayHold(block.bloom, filter)) {
          silent.push({ block, logs: found });
        }
      }
      await proveByHash([...silent, ...sample(busy, limits.maxSampledProofs)], filter);
    },
  };
}

interface Suspect {
  readonly block: BlockAnswer;
  /** The logs of the block in the range answer. */
  readonly logs: readonly RawLog[];
}

/** In the order of the block, whose logs are counted from 0. */
function hasGap(logs: readonly RawLog[]): boolean {
  return logs.at(-1)?.logIndex !== logs.length - 1;
}

function ours(logs: readonly RawLog[], filter: LogFilter): RawLog[] {
  const addresses = new Set<string>(filter.addresses);
  const topics = new Set<string | undefined>(filter.topics);
  return logs.filter((log) => addresses.has(log.address) && topics.has(log.topics[0]));
}

/** A digest, because thousands of them are kept and one block's logs can be a hundred kilobytes. */
export function fingerprint(logs: readonly RawLog[]): string {
  const digest = createHash('sha256');
  for (const { logIndex, transactionHash, topics, data } of logs)
    digest.update(`${logIndex}${transactionHash}${topics}${data},`);
  return digest.digest('base64');
}

function groupByBlock(logs: readonly RawLog[]): ReadonlyMap<number, readonly RawLog[]> {
  const groups = new Map<number, RawLog[]>();
  for (const log of logs) {
    const group = groups.get(log.blockNumber);
    if (group === undefined) groups.set(log.blockNumber, [log]);
    else group.push(log);
  }
  return groups;
}

/** The last one, and `max - 1` others at equal distances. */
export function sample<T>(items: readonly T[], max: number): T[] {
  if (items.length <= max) return [...items];
  return Array.from(
    { length: max },
    (_, index) => Math.round(((index + 1) * items.length) / max) - 1,
  ).flatMap((at) => items.slice(at, at + 1));
}
