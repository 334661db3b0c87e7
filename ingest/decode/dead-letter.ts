import type { DeadLetter, DeadLetterReason } from '../../clickhouse/tables/ingest-state.ts';
import type { Chain } from '../../core/domain/chains.ts';
import type { RawLog } from '../chain/block-source.ts';

/** A log is kept to be read by a person; a hostile contract must not fill the disk with one. */
export const rawLogDataMaxChars = 16_384;
const rawLogTopicsMax = 8;

/** Keeps a log with its reason. The block hash is the log's own: the block of a non-candidate may not have been read. */
export function deadLetterOf(chain: Chain, log: RawLog, reason: DeadLetterReason): DeadLetter {
  const { blockNumber, blockHash, transactionHash: txHash, logIndex } = log;
  const { address, topics, data } = log;
  const cut = data.length > rawLogDataMaxChars || topics.length > rawLogTopicsMax;
  const rawLog = JSON.stringify({
    address,
    topics: topics.slice(0, rawLogTopicsMax),
    data: data.slice(0, rawLogDataMaxChars),
    ...(cut && { truncated: true }),
    blockNumber,
    blockHash,
    transactionHash: txHash,
    logIndex,
  });
  return { chain, blockNumber, blockHash, txHash, logIndex, reason, rawLog };
}
