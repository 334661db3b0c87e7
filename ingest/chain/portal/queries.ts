import type { LogFilter, RawLog } from '../block-source.ts';

/** The queries of the Portal's EVM dialect that a read needs, without their ranges. They name only fields that are read. */

const PLACE = { number: true, hash: true, parentHash: true, timestamp: true } as const;
const TRANSACTION = {
  hash: true,
  from: true,
  to: true,
  input: true,
  status: true,
  gasUsed: true,
  effectiveGasPrice: true,
  l1Fee: true,
} as const;
const LOG_PLACE = { address: true, topics: true, logIndex: true, transactionHash: true } as const;

/** Our logs, and the transactions of those that are candidates whatever they hold. */
export function settlementQuery(filter: LogFilter, everyBlock: boolean): object {
  const ours = { address: filter.addresses, topic0: filter.topics };
  const candidates = filter.alwaysCandidates ?? [];
  return {
    type: 'evm',
    ...(everyBlock && { includeAllBlocks: true }),
    fields: {
      block: everyBlock ? { ...PLACE, logsBloom: true } : PLACE,
      log: { ...LOG_PLACE, data: true },
      transaction: TRANSACTION,
    },
    logs: [ours, ...(candidates.length > 0 ? [{ ...ours, topic0: candidates, transaction: true }] : [])],
  };
}

/** Receivers in one query: a longer list asks for all. */
const RECEIVERS_MAX = 200;

/** The transactions of these logs, and of some others with the same contracts, events and receivers. */
export function transactionsQuery(logs: readonly RawLog[]): object {
  const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
  const receivers = distinct(logs.map(({ topics }) => topics[2]));
  const isNarrow = receivers.length <= RECEIVERS_MAX && !receivers.includes(undefined);
  return {
    type: 'evm',
    fields: { block: PLACE, transaction: TRANSACTION },
    logs: [
      {
        address: distinct(logs.map(({ address }) => address)),
        topic0: distinct(logs.map(({ topics }) => topics[0])),
        ...(isNarrow && { topic2: receivers }),
        transaction: true,
      },
    ],
  };
}

/** All logs of every block, without their data: what the filters of headers are made of. */
export const ALL_LOGS_QUERY: object = {
  type: 'evm',
  includeAllBlocks: true,
  fields: { block: PLACE, log: LOG_PLACE },
  logs: [{}],
};

/** Headers alone. */
export const HEADERS_QUERY: object = { type: 'evm', includeAllBlocks: true, fields: { block: PLACE } };
