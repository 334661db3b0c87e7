import fc from 'fast-check';
import { expect, test } from 'vitest';
import { address, type Hash } from '../../../core/domain/account.ts';
import type { RawLog } from '../../../ingest/chain/block-source.ts';
import {
  checkAsked,
  checkForks,
  checkLinks,
  checkWholeBlock,
  orderLogs,
} from '../../../ingest/chain/check-batch.ts';
import type { BlockAnswer } from '../../../ingest/chain/read-answers.ts';

const TOKEN = address(`0x${'11'.repeat(20)}`);
const hashOf = (number: number): Hash => `0x${number.toString(16).padStart(64, '0')}`;

const logAt = (blockNumber: number, logIndex: number, data = '0x'): RawLog => ({
  address: TOKEN,
  topics: [hashOf(7)],
  data,
  blockNumber,
  blockHash: hashOf(blockNumber),
  transactionHash: hashOf(1_000 + blockNumber),
  logIndex,
});
const blockAt = (number: number): BlockAnswer => ({
  number,
  hash: hashOf(number),
  parentHash: hashOf(number - 1),
  time: number,
  bloom: null,
  transactionCount: 0,
  lastTransaction: null,
  transactions: [],
});
const filter = { addresses: [TOKEN], topics: [hashOf(7)], isCandidate: () => true };

const places = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 0, max: 20 })), {
  selector: ([block, index]) => `${block}/${index}`,
  maxLength: 40,
});

test('logs in any order and repeated any number of times come out once each, in the order of the chain', () => {
  fc.assert(
    fc.property(places, fc.infiniteStream(fc.nat()), (unique, random) => {
      const logs = unique.map(([block, index]) => logAt(block, index));
      const repeated = logs.flatMap((log) =>
        Array.from({ length: 1 + (Number(random.next().value) % 3) }, () => ({ ...log })),
      );
      const shuffled = repeated
        .map((log) => ({ log, key: Number(random.next().value) }))
        .sort((a, b) => a.key - b.key);
      const { logs: ordered, duplicates } = orderLogs(shuffled.map(({ log }) => log));
      const expected = [...logs].sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
      expect(ordered).toEqual(expected);
      expect(duplicates).toBe(repeated.length - logs.length);
    }),
  );
});

test('two different logs in one place contradict each other', () => {
  expect(() => orderLogs([logAt(1, 0, '0x01'), logAt(1, 0, '0x02')])).toThrow(
    expect.objectContaining({ kind: 'conflicting-logs' }),
  );
});

test.each([
  ['below the range', logAt(4, 0)],
  ['above the range', logAt(7, 0)],
  ['of another contract', { ...logAt(5, 0), address: address(`0x${'22'.repeat(20)}`) }],
  ['of another event', { ...logAt(5, 0), topics: [hashOf(8)] }],
  ['without topics', { ...logAt(5, 0), topics: [] }],
])('a log %s was not asked for', (_, log) => {
  expect(() => checkAsked([log], 5, 6, filter)).toThrow(expect.objectContaining({ kind: 'foreign-log' }));
  expect(() => checkAsked([logAt(5, 0), logAt(6, 1)], 5, 6, filter)).not.toThrow();
});

test('neighbours must link; blocks with others between them cannot be compared', () => {
  expect(() => checkLinks([blockAt(1), blockAt(2), blockAt(5)])).not.toThrow();
  expect(() => checkLinks([blockAt(1), { ...blockAt(2), parentHash: hashOf(9) }])).toThrow(
    expect.objectContaining({ kind: 'broken-link' }),
  );
});

test('a log of a block that the chain does not have is of another fork', () => {
  const blocks = new Map([[1, blockAt(1)]]);
  expect(() => checkForks([logAt(1, 0)], blocks)).not.toThrow();
  expect(() => checkForks([{ ...logAt(1, 0), blockHash: hashOf(99) }], blocks)).toThrow(
    expect.objectContaining({ kind: 'wrong-fork' }),
  );
  expect(() => checkForks([logAt(2, 0)], blocks)).toThrow(expect.objectContaining({ kind: 'wrong-fork' }));
});

test('the logs of a block are whole without a gap before, between or among them', () => {
  for (const whole of [[], [0], [0, 1, 2]])
    expect(() =>
      checkWholeBlock(
        whole.map((index) => logAt(5, index)),
        5,
      ),
    ).not.toThrow();
  for (const holed of [[1], [0, 2], [1, 2]])
    expect(() =>
      checkWholeBlock(
        holed.map((index) => logAt(5, index)),
        5,
      ),
    ).toThrow(expect.objectContaining({ kind: 'log-gap' }));
});
