import { createHash } from 'node:crypto';
import type { Hash } from '../../core/domain/account.ts';
import type { Log } from '../../core/log.ts';
import { runPool } from '../../core/process/pool.ts';
import type { EventsOf, Header, LogFilter, RawLog } from './block-source.ts';
import { orderLogs } from './check-batch.ts';
import { type Blooms, createBlooms, isEmptyBloom } from './logs-bloom.ts';
import { type BlockAnswer, hash, logsOfBlock, record } from './read-answers.ts';
import { ProviderContradiction, RpcFailure } from './rpc/failure.ts';
import type { Question, RpcPool } from './rpc/pool.ts';
import { ATTEMPTS_PER_SOURCE, createWholeBlockReader } from './whole-block.ts';

/**
 * Proves that no log is missing from a range answer, and gives the logs of the blocks in which some are.
 *
 * A block without our logs is proved by its header if the 2048-bit filter in it (see logs-bloom.ts) excludes our contracts or their
 * events. A block that has no logs but ours is proved by three facts: their indexes have no gap, they make the filter of the header, and
 * the receipt of the block's last transaction ends with the last of them. Of every other block all logs are read, ours and others': from
 * its receipts, or, where the node gives none, by eth_getLogs of its hash. They are whole if their indexes have no gap, if there is a
 * receipt of every transaction, the last of them sets every bit of its own filter, and if together they set every bit of the header's;
 * ours must set no other bit. The list's filter need not be equal: some chains return logs that their headers leave out (Polygon's older
 * state-sync logs). What a whole list holds of ours replaces what the range answer said of the block, but for logs with which that answer
 * goes on where the list ends: then the list was cut off. So a log that every range answer leaves out is found, and the other source
 * decides where one of the two is not whole.
 *
 * Not proved: the loss of the last logs of a block where every answer leaves them out, and other logs of their transaction set all of their
 * bits (without receipts: of their block). Nor does this detect a node that invents logs of others to explain the bits of withheld ones: it
 * protects against nodes that lose logs, not against forgery.
 *
 * Cost: one small receipt for every block that has only logs of ours, a hundred in one exchange. One call, with all logs of the block, for
 * every block that has others too, and on a busy chain, whose filters are nearly full, for nearly every block (about a megabyte each on
 * Base): `completeness: settlement-blocks` avoids it in the backfill by trusting the node. docs/design/ingest.md says what was refused
 * because it would be cheaper and lose a log.
 */
export interface Prover {
  /**
   * Our logs of each block where the range answer and the block hold different logs. Throws `ProviderContradiction` ('bloom-mismatch',
   * 'log-gap', …) or `RpcFailure` when neither source is whole.
   */
  prove(blocks: readonly BlockAnswer[], logs: readonly RawLog[], filter: LogFilter): Promise<LogsByBlock>;
}

export type LogsByBlock = ReadonlyMap<number, readonly RawLog[]>;

/** As many as a URL has requests in flight (rpc/limits.ts): each has up to a megabyte. */
const WHOLE_BLOCKS_AT_ONCE = 8;
/** Blocks recently proved, so that a repeated read does not prove them again. */
const PROVED_MAX = 20_000;

export function createProver(deps: {
  readonly pool: RpcPool;
  readonly log: Log;
  readonly nowMs?: () => number;
}): Prover {
  const { pool } = deps;
  const blooms = createBlooms();
  const readWhole = createWholeBlockReader(deps, blooms);
  const findSuspects = createSuspicion(deps.log, blooms);
  /** Digest of our logs in a proved block. */
  const proved = new Map<Hash, string>();

  /** Those that are not proved by the range answer, their header and the end of their last transaction. */
  const unproved = async (suspects: readonly Suspect[]): Promise<readonly Suspect[]> => {
    const open = suspects.filter(({ block, logs }) => proved.get(block.hash) !== fingerprint(logs));
    const own = open.filter(({ block, logs }) => isOnlyOurs(block, logs) && blooms.of(logs) === block.bloom);
    const ends = await pool.askAll(own.map(endQuestion)).catch((error: unknown) => {
      if (error instanceof RpcFailure || error instanceof ProviderContradiction) return [];
      throw error;
    });
    const whole = new Set(own.filter((_, at) => ends[at] === true));
    for (const { block, logs } of whole) remember(block, fingerprint(logs));
    return open.filter((suspect) => !whole.has(suspect));
  };
  const remember = ({ hash }: BlockAnswer, digest: string): void => {
    if (proved.size > PROVED_MAX) proved.clear();
    proved.set(hash, digest);
  };
  const correct = async ({ block, logs }: Suspect, filter: LogFilter): Promise<Correction | null> => {
    const found = await readWhole(block, filter, logs);
    const digest = fingerprint(found);
    remember(block, digest);
    return digest === fingerprint(logs) ? null : [block.number, found];
  };

  return {
    async prove(blocks, logs, filter) {
      const suspects = findSuspects(blocks, logs, filter);
      const corrections = new Map<number, readonly RawLog[]>();
      await runPool(await unproved(suspects), { width: WHOLE_BLOCKS_AT_ONCE }, async (suspect) => {
        const correction = await correct(suspect, filter);
        if (correction !== null) corrections.set(...correction);
      });
      return corrections;
    },
  };
}

type Correction = readonly [number, readonly RawLog[]];

/** A block that its header alone does not prove. */
export interface Suspect<Block extends Header = BlockAnswer> {
  readonly block: Block;
  /** The logs of the block in the range answer. */
  readonly logs: readonly RawLog[];
}

/** Gives the blocks that have logs of ours, or may have some by the filter of their header. */
export function createSuspicion(
  log: Log,
  blooms: Blooms,
): <Block extends Header>(
  blocks: readonly Block[],
  logs: readonly RawLog[],
  filter: LogFilter,
) => Suspect<Block>[] {
  let warned = false;
  const isUsable = (bloom: string | null, hasLogs: boolean): bloom is string => {
    if (bloom !== null && !(isEmptyBloom(bloom) && hasLogs)) return true;
    if (!warned) log.warn('this chain’s headers carry no log filter: missing logs cannot be detected');
    warned = true;
    return false;
  };
  /** Most headers exclude all contracts or all events at once; only few are checked group by group. */
  const mayHold = (bloom: string, filter: LogFilter): boolean => {
    const isIn = ({ addresses, topics }: EventsOf): boolean => blooms.mayContain(bloom, addresses, topics);
    return isIn(filter) && (filter.matters?.some(isIn) ?? true);
  };
  return (blocks, logs, filter) => {
    const byBlock = groupByBlock(logs);
    return blocks.flatMap((block) => {
      const found = byBlock.get(block.number) ?? [];
      if (!isUsable(block.bloom, found.length > 0)) return [];
      return found.length > 0 || mayHold(block.bloom, filter) ? [{ block, logs: found }] : [];
    });
  };
}

/** Whether the receipt of the block's last transaction ends with the last logs of the range answer. */
function endQuestion({ block, logs }: Suspect): Question<boolean> {
  return {
    method: 'eth_getTransactionReceipt',
    params: [block.lastTransaction],
    read(result) {
      if (result === null) return false;
      const receipt = record(result, 'receipt');
      if (hash(receipt['blockHash'], 'receipt block hash') !== block.hash) return false;
      const told = logsOfBlock(receipt['logs'], block.hash);
      const last = logs.filter(({ transactionHash }) => transactionHash === block.lastTransaction);
      return fingerprint(orderLogs(told).logs) === fingerprint(last);
    },
    givesUp: (_trouble, attempts) => attempts >= ATTEMPTS_PER_SOURCE,
  };
}

/** Whether the logs are counted from 0 without a gap, up to some of the last transaction. */
function isOnlyOurs({ lastTransaction }: BlockAnswer, logs: readonly RawLog[]): boolean {
  const last = logs.at(-1);
  return last?.logIndex === logs.length - 1 && last.transactionHash === lastTransaction;
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
