import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Address, Hash } from '../../../core/domain/account.ts';
import type { LogFilter, RawLog } from '../../../ingest/chain/block-source.ts';
import { createBlooms } from '../../../ingest/chain/logs-bloom.ts';
import type { BlockAnswer } from '../../../ingest/chain/read-answers.ts';
import { ProviderContradiction } from '../../../ingest/chain/rpc/failure.ts';
import type { Question, RpcPool } from '../../../ingest/chain/rpc/pool.ts';
import { createWholeBlockReader } from '../../../ingest/chain/whole-block.ts';

/** A block that is read whole, from a node that leaves one of its logs out of some of its three answers. */

const hashOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}` as Hash; // 32 bytes
const addressOf = (number: number) => `0x${number.toString(16).padStart(40, '0')}` as Address; // 20 bytes
const [TOKEN, STRANGER] = [addressOf(0xaa), addressOf(0xbb)];
const EVENT = hashOf(0x11);
const BLOCK_HASH = hashOf(0xb10c);
const filter: LogFilter = { addresses: [TOKEN], topics: [EVENT], isCandidate: () => true };
const blooms = createBlooms();

/**
 * A block is a list of transactions, each with its logs: ours or not, and one of four accounts. With so few accounts and contracts,
 * other logs of the block set the bits of most logs, as on a busy chain. Within a transaction each log is of another account.
 */
const blocks = fc
  .array(
    fc.uniqueArray(fc.record({ isOurs: fc.boolean(), account: fc.nat(3) }), {
      selector: ({ account }) => account,
      maxLength: 4,
    }),
    { minLength: 1, maxLength: 5 },
  )
  .filter((transactions) => transactions.flat().some(({ isOurs }) => isOurs))
  .map((transactions) => {
    let logIndex = 0;
    return transactions.map((logs, at) =>
      logs.map(
        ({ isOurs, account }): RawLog => ({
          address: isOurs ? TOKEN : STRANGER,
          topics: [EVENT, hashOf(0x100 + account)],
          data: '0x',
          blockNumber: 7,
          blockHash: BLOCK_HASH,
          transactionHash: hashOf(0x1000 + at),
          logIndex: logIndex++,
        }),
      ),
    );
  });

const WAYS = ['range', 'receipts', 'hash'] as const;
type Way = (typeof WAYS)[number];

const onWire = ({ blockNumber, logIndex, ...log }: RawLog) => ({
  ...log,
  blockNumber: `0x${blockNumber.toString(16)}`,
  logIndex: `0x${logIndex.toString(16)}`,
});

/** Ours of the block as it is read, or why no answer was believed. */
async function readFrom(
  transactions: readonly (readonly RawLog[])[],
  victim: RawLog | null,
  ways: readonly Way[],
) {
  const shown = (way: Way, logs: readonly RawLog[]): readonly RawLog[] =>
    ways.includes(way) ? logs.filter((log) => log !== victim) : logs;
  const all = transactions.flat();
  const receipts = transactions.map((logs) => ({
    logsBloom: blooms.of(logs),
    logs: shown('receipts', logs).map(onWire),
  }));
  const pool = {
    ask: async ({ method, read }: Question<unknown>) =>
      read(method === 'eth_getBlockReceipts' ? receipts : shown('hash', all).map(onWire)),
  } as unknown as RpcPool; // the reader asks, and nothing else
  const told = shown('range', all).filter(({ address }) => address === TOKEN);
  try {
    return await createWholeBlockReader({ pool }, blooms)(blockOf(transactions), filter, told);
  } catch (error) {
    if (error instanceof ProviderContradiction) return error.kind;
    throw error;
  }
}

const oursOf = (transactions: readonly (readonly RawLog[])[]): RawLog[] =>
  transactions.flat().filter(({ address }) => address === TOKEN);

const lies = blocks.chain((transactions) =>
  fc.record({
    transactions: fc.constant(transactions),
    victim: fc.constantFrom(...transactions.flat()),
    ways: fc.subarray([...WAYS], { minLength: 1, maxLength: WAYS.length - 1 }),
  }),
);

test('a log that one answer shows is not lost: the block is read with it, or no answer is believed', async () => {
  await fc.assert(
    fc.asyncProperty(lies, async ({ transactions, victim, ways }) => {
      const found = await readFrom(transactions, victim, ways);
      if (typeof found !== 'string') expect(found).toEqual(oursOf(transactions));
      // One lying answer never stands in the way of the others.
      if (ways.length === 1) expect(found).toEqual(oursOf(transactions));
    }),
    { numRuns: 500 },
  );
});

test('a log that the range answer has at a wrong place is not put at the end', async () => {
  const transactions = [[logAt(0), logAt(1)]];
  const misplaced = { ...logAt(1), logIndex: 99 };
  const pool = {
    ask: async ({ read }: Question<unknown>) =>
      read([{ logsBloom: blooms.of(transactions.flat()), logs: transactions.flat().map(onWire) }]),
  } as unknown as RpcPool; // as above
  expect(
    await createWholeBlockReader({ pool }, blooms)(blockOf(transactions), filter, [logAt(0), misplaced]),
  ).toEqual(transactions.flat());
});

function logAt(logIndex: number): RawLog {
  return {
    address: TOKEN,
    topics: [EVENT, hashOf(1), hashOf(2)],
    data: '0x',
    blockNumber: 7,
    blockHash: BLOCK_HASH,
    transactionHash: hashOf(0x1000),
    logIndex,
  };
}

function blockOf(transactions: readonly (readonly RawLog[])[]): BlockAnswer {
  return {
    number: 7,
    hash: BLOCK_HASH,
    parentHash: hashOf(0xb10b),
    time: 1,
    bloom: blooms.of(transactions.flat()),
    transactionCount: transactions.length,
    lastTransaction: hashOf(0x1000 + transactions.length - 1),
    transactions: [],
  };
}
