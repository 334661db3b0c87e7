import type { Hash } from '../../core/domain/account.ts';
import type { BlockRef, LogFilter, RawLog } from './block-source.ts';
import { ProviderContradiction } from './rpc/failure.ts';

/** Consistency checks of a node's answers. Pure. */

/** Rejects unrequested logs: outside the range, or of another contract or event. */
export function checkAsked(logs: readonly RawLog[], from: number, to: number, filter: LogFilter): void {
  const addresses = new Set<string>(filter.addresses);
  const topics = new Set<string | undefined>(filter.topics);
  for (const log of logs) {
    if (log.blockNumber < from || log.blockNumber > to)
      throw new ProviderContradiction(
        'foreign-log',
        `a log of block ${log.blockNumber}, not in ${from}–${to}`,
      );
    if (!addresses.has(log.address) || !topics.has(log.topics[0]))
      throw new ProviderContradiction(
        'foreign-log',
        `a log in block ${log.blockNumber} that was not asked for`,
      );
  }
}

/**
 * Sorts by (block, index) and removes duplicates. Two different logs at one position are a contradiction; a repeated log is harmless
 * and counted in `duplicates`.
 */
export function orderLogs(logs: readonly RawLog[]): { readonly logs: RawLog[]; readonly duplicates: number } {
  const sorted = isAscending(logs) ? [...logs] : [...logs].sort(byPlace);
  const unique: RawLog[] = [];
  for (const log of sorted) {
    const before = unique.at(-1);
    if (before === undefined || byPlace(before, log) !== 0) unique.push(log);
    else if (!isSame(before, log))
      throw new ProviderContradiction('conflicting-logs', `two logs at ${log.blockNumber}/${log.logIndex}`);
  }
  return { logs: unique, duplicates: sorted.length - unique.length };
}

function isAscending(logs: readonly RawLog[]): boolean {
  return logs.every((log, index) => {
    const before = logs[index - 1];
    return before === undefined || byPlace(before, log) <= 0;
  });
}

function byPlace(a: RawLog, b: RawLog): number {
  return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;
}

function isSame(a: RawLog, b: RawLog): boolean {
  return (
    a.blockHash === b.blockHash &&
    a.transactionHash === b.transactionHash &&
    a.address === b.address &&
    a.data === b.data &&
    a.topics.join() === b.topics.join()
  );
}

/** Neighbouring blocks must link by parent hash; `blocks` ascend. */
export function checkLinks(blocks: readonly BlockRef[]): void {
  for (const [index, block] of blocks.entries()) {
    const before = blocks[index - 1];
    if (before?.number === block.number - 1 && before.hash !== block.parentHash)
      throw new ProviderContradiction(
        'broken-link',
        `block ${block.number} does not follow block ${before.number}`,
      );
  }
}

/** Every log must belong to the block that the chain has at its height. */
export function checkForks(logs: readonly RawLog[], blocks: ReadonlyMap<number, BlockRef>): void {
  for (const { blockNumber, blockHash } of logs) {
    if (blocks.get(blockNumber)?.hash !== blockHash)
      throw new ProviderContradiction('wrong-fork', `a log of another block ${blockNumber} than the chain's`);
  }
}

/** Checks the logs of one block, requested again by its hash. */
export function checkOfBlock(logs: readonly RawLog[], blockHash: Hash): void {
  if (logs.some((log) => log.blockHash !== blockHash))
    throw new ProviderContradiction('wrong-fork', 'logs of another block than the one named by hash');
}

/** Logs of a block are counted from 0 without a gap; `all` ascend and are all logs of the block, ours and others'. */
export function checkWholeBlock(all: readonly RawLog[], number: number): void {
  if (all.length > 0 && all.at(-1)?.logIndex !== all.length - 1)
    throw new ProviderContradiction('log-gap', `the indexes of the logs of block ${number} have a gap`);
}
