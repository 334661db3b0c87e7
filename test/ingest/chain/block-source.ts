import { expect, test } from 'vitest';
import { type Address, address, type Hash } from '../../../core/domain/account.ts';
import type { Rpc } from '../../../demo/chain/json-rpc.ts';
import {
  AccountsUnread,
  type BlockBatch,
  type BlockReader,
  type BlockRef,
  type BlockSource,
  type LogFilter,
  type RawLog,
  ReceiptsUnread,
  type WantedReceipts,
} from '../../../ingest/chain/block-source.ts';
import { readReceipts } from '../../kit/oracle/receipts.ts';

/** The contract of `BlockReader`. Runs over whatever `make` gives; `rpc` is the chain itself, without anything in between. */
export interface BlockReaderUnderTest {
  readonly source: BlockReader;
  readonly rpc: Rpc;
  readonly filter: LogFilter;
  /** A range with logs, candidates among them. */
  readonly from: number;
  readonly to: number;
}

/** The contract of `BlockSource`. */
export interface BlockSourceUnderTest extends BlockReaderUnderTest {
  readonly source: BlockSource;
}

export function blockReaderContract(name: string, make: () => BlockReaderUnderTest): void {
  test(`${name}: a read is, log for log, what the receipts of the range say`, async () => {
    const { source, rpc, filter, from, to } = make();
    expectEqual(await source.read(from, to, filter), await readTruth(rpc, from, to, filter));
  });

  test(`${name}: every single block reads the same as within its range`, async () => {
    const { source, rpc, filter, from } = make();
    for (let number = from; number < from + 3; number++)
      expectEqual(await source.read(number, number, filter), await readTruth(rpc, number, number, filter));
  });

  test(`${name}: the tip is the newest block, and final blocks are not above it`, async () => {
    const { source, rpc } = make();
    const { head, finalized } = await source.tip();
    expect(head.number).toBe(Number(await rpc.call<string>('eth_blockNumber')));
    expect(finalized.number).toBeLessThanOrEqual(head.number);
    // The block is asked for by its hash. A parent hash that a node made up shows only next to the block before it.
    expect(await source.blockAt(finalized.number)).toMatchObject({
      number: finalized.number,
      hash: finalized.hash,
    });
  });

  test(`${name}: a block above the tip is absent, not an error`, async () => {
    const { source } = make();
    const { head } = await source.tip();
    expect(await source.blockAt(head.number)).toEqual(head);
    expect(await source.blockAt(head.number + 1)).toBeNull();
  });
}

export function blockSourceContract(name: string, make: () => BlockSourceUnderTest): void {
  blockReaderContract(name, make);

  test(`${name}: accounts have the nonce and balance that the node tells one by one, in the order asked`, async () => {
    const { source, rpc, from, to, filter } = make();
    const { transactions } = await source.read(from, to, filter);
    const senders = [...new Set([...transactions.values()].map((transaction) => transaction.from))];
    const untouched = address('0x00000000000000000000000000000000deadbeef');
    const asked = [untouched, ...senders];
    const expected = [];
    for (const of of asked) {
      const nonce = Number(await rpc.call<string>('eth_getTransactionCount', of, 'latest'));
      expected.push({
        address: of,
        nonce,
        balance: BigInt(await rpc.call<string>('eth_getBalance', of, 'latest')),
      });
    }
    expect(await readPatiently(source, asked)).toEqual(expected);
    expect(expected.some(({ nonce, balance }) => nonce > 0 && balance > 0n)).toBe(true);
    expect(await source.accounts([])).toEqual([]);
  });

  test(`${name}: receipts say what each wanted transaction cost, in the order asked`, async () => {
    const { source, rpc, from, to, filter } = make();
    const { transactions } = await source.read(from, to, filter);
    const wanted: WantedReceipts[] = [];
    const expected: unknown[] = [];
    for (let number = from; number <= to; number++) {
      const all = await rpc.call<RawReceipt[]>('eth_getBlockReceipts', `0x${number.toString(16)}`);
      const own = all.filter(({ transactionHash }) => transactions.has(transactionHash)).reverse();
      if (own.length === 0) continue;
      const { hash } = (await source.blockAt(number)) ?? { hash: null };
      wanted.push({ number, hash, transactions: own.map(({ transactionHash }) => transactionHash) });
      expected.push(
        own.map(({ transactionHash, gasUsed, effectiveGasPrice, l1Fee = '0x0' }) => ({
          transactionHash,
          gasUsed: Number(gasUsed),
          gasPrice: BigInt(effectiveGasPrice),
          l1Fee: BigInt(l1Fee),
        })),
      );
    }
    const found = await receiptsPatiently(source, wanted);
    expect(found.map((block) => block?.receipts)).toEqual(expected);
    const transactionsOf = new Map(wanted.map((block) => [block.number, new Set(block.transactions)]));
    const isWanted = (log: RawLog): boolean =>
      transactionsOf.get(log.blockNumber)?.has(log.transactionHash) ?? false;
    const isOurs = ({ address: at, topics: [event] }: RawLog): boolean =>
      filter.addresses.includes(at) && filter.topics.some((topic) => topic === event);
    expect(found.flatMap((block) => block?.logs ?? []).filter((log) => isWanted(log) && isOurs(log))).toEqual(
      (await readTruth(rpc, from, to, filter)).logs.filter(isWanted),
    );
    expect(expected.length).toBeGreaterThan(0);
    expect(await source.receipts([], { callsMax: 3, before: () => Promise.resolve() })).toEqual([]);
  });
}

const TRIES_MAX = 50;

interface RawReceipt {
  readonly transactionHash: Hash;
  readonly gasUsed: string;
  readonly effectiveGasPrice: string;
  readonly l1Fee?: string;
}

async function receiptsPatiently(source: BlockSource, wanted: readonly WantedReceipts[]) {
  for (let tries = 1; ; tries++) {
    try {
      const found = await source.receipts(wanted, { callsMax: 3, before: () => Promise.resolve() });
      if (!found.includes(null) || tries >= TRIES_MAX) return found;
    } catch (error) {
      if (!(error instanceof ReceiptsUnread) || tries >= TRIES_MAX) throw error;
    }
  }
}

/** `accounts` gives up early by contract; its caller comes back later. */
async function readPatiently(source: BlockSource, addresses: readonly Address[]): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    try {
      return await source.accounts(addresses);
    } catch (error) {
      if (!(error instanceof AccountsUnread) || tries >= TRIES_MAX) throw error;
    }
  }
}

/** What a reader without eth_getLogs computes: one receipt after the other. */
export interface Truth {
  readonly blocks: BlockBatch['blocks'];
  readonly logs: readonly RawLog[];
  readonly transactions: BlockBatch['transactions'];
}

interface RawBlock {
  readonly number: string;
  readonly hash: RawLog['blockHash'];
  readonly parentHash: RawLog['blockHash'];
  readonly timestamp: string;
  readonly transactions: readonly {
    readonly hash: RawLog['blockHash'];
    readonly from: RawLog['address'];
    readonly to: RawLog['address'] | null;
    readonly input: string;
  }[];
}

export async function readTruth(rpc: Rpc, from: number, to: number, filter: LogFilter): Promise<Truth> {
  const logs = (await readReceipts(rpc, from, to)).flatMap((receipt) =>
    receipt.logs
      .filter(
        ({ address, topics }) =>
          filter.addresses.some((one) => one === address.toLowerCase()) &&
          filter.topics.some((one) => one === topics[0]),
      )
      .map(
        (log): RawLog => ({
          address: log.address.toLowerCase() as RawLog['address'], // anvil's own answer
          topics: log.topics,
          data: log.data,
          blockNumber: Number(log.blockNumber),
          blockHash: log.blockHash,
          transactionHash: log.transactionHash,
          logIndex: Number(log.logIndex),
        }),
      ),
  );
  const raw = await rpc.batch<RawBlock>(
    Array.from({ length: to - from + 1 }, (_, index) => ({
      method: 'eth_getBlockByNumber',
      params: [`0x${(from + index).toString(16)}`, true],
    })),
  );
  const wanted = new Set(
    logs.filter((log) => filter.isCandidate(log)).map(({ transactionHash }) => transactionHash),
  );
  const transactions = raw
    .flatMap((block) => block.transactions)
    .filter(({ hash }) => wanted.has(hash))
    .map(
      ({ hash, from: sender, to: recipient, input }) =>
        [hash, { hash, from: sender, to: recipient, input }] as const,
    );
  return {
    blocks: raw.map(({ number, hash, parentHash, timestamp }) => ({
      number: Number(number),
      hash,
      parentHash,
      time: Number(timestamp),
    })),
    logs,
    transactions: new Map(transactions),
  };
}

/**
 * Without the parent of the first block: nothing in a range contradicts a lie about what stands before it. A reader that follows the
 * chain holds that link against the block that it knows.
 */
function linkedFromSecond(blocks: readonly BlockRef[]): unknown[] {
  return blocks.map(({ parentHash, ...block }, at) => (at === 0 ? block : { ...block, parentHash }));
}

export function expectEqual(batch: BlockBatch, truth: Truth): void {
  expect(batch.logs).toEqual(truth.logs);
  expect(linkedFromSecond(batch.blocks)).toEqual(linkedFromSecond(truth.blocks));
  expect(new Map([...batch.transactions].sort())).toEqual(new Map([...truth.transactions].sort()));
}
