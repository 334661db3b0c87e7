import type { Chain } from '../../core/domain/chains.ts';
import type { Hash } from '../../core/domain/settlement.ts';
import type { RawLog } from '../chain/block-source.ts';

/**
 * Why a log of ours did not become a row.
 * - `malformed_log`: the event is ours by address and topic, its layout is not the event's;
 * - `unpaired_authorization`: an EIP-3009 authorization was used, but no Transfer of the same token belongs to it;
 * - `amount_out_of_range`: the dollar amount does not fit the engine's `Decimal(18, 6)`.
 */
export type DeadLetterReason = 'malformed_log' | 'unpaired_authorization' | 'amount_out_of_range';

/** The row of table `dead_letters`. */
export interface DeadLetter {
  readonly chain: Chain;
  readonly blockNumber: number;
  readonly blockHash: Hash;
  readonly txHash: Hash;
  readonly logIndex: number;
  readonly reason: DeadLetterReason;
  /** The log as JSON. */
  readonly rawLog: string;
}

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
