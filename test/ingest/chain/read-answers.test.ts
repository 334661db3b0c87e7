import { expect, test } from 'vitest';
import type { Hash } from '../../../core/domain/account.ts';
import { logsOfBlock, readBlock, readLogs, readTransaction } from '../../../ingest/chain/read-answers.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const log = {
  address: `0x${'AB'.repeat(20)}`,
  topics: [HASH],
  data: '0x',
  blockNumber: '0x10',
  blockHash: HASH,
  transactionHash: HASH,
  logIndex: '0x0',
};
const block = {
  number: '0x10',
  hash: HASH,
  parentHash: HASH,
  timestamp: '0x5',
  logsBloom: `0x${'00'.repeat(256)}`,
  transactions: [],
};

test('a log is read with its address in lower case', () => {
  expect(readLogs([log]).logs).toEqual([
    { ...log, address: log.address.toLowerCase(), blockNumber: 16, logIndex: 0 },
  ]);
});

test.each([
  ['is no list', null],
  ['is no list', {}],
  ['has a log that is null', [null]],
  ['has a pending log', [{ ...log, blockNumber: null, blockHash: null }]],
  ['has a short topic', [{ ...log, topics: ['0x01'] }]],
  ['has five topics', [{ ...log, topics: Array(5).fill(HASH) }]],
  ['has half a byte of data', [{ ...log, data: '0x1' }]],
  ['has a number for an index', [{ ...log, logIndex: 3 }]],
  ['has an index beyond 32 bits', [{ ...log, logIndex: '0x100000000' }]],
  ['has an index beyond all integers', [{ ...log, logIndex: `0x${'f'.repeat(20)}` }]],
])('an answer that %s is malformed, not empty', (_, answer) => {
  expect(() => readLogs(answer)).toThrow(expect.objectContaining({ kind: 'malformed' }));
});

test('32 bits of index and time are read, a time beyond them is malformed', () => {
  expect(readLogs([{ ...log, logIndex: '0xffffffff' }]).logs[0]?.logIndex).toBe(2 ** 32 - 1);
  expect(readBlock({ ...block, timestamp: '0xffffffff' }, 16).time).toBe(2 ** 32 - 1);
  expect(() => readBlock({ ...block, timestamp: '0x100000000' }, 16)).toThrow(
    expect.objectContaining({ kind: 'malformed' }),
  );
});

test('a log that is marked as undone is kept apart, unless it names the block that was asked for', () => {
  const [standing, undone] = [log, { ...log, blockHash: `0x${'cd'.repeat(32)}`, removed: true }];
  expect(readLogs([standing, undone])).toMatchObject({ logs: [{ blockHash: HASH }], removed: [{}] });
  expect(logsOfBlock([{ ...standing, removed: true }, undone], HASH as Hash)).toHaveLength(1);
});

test('a block of another height than asked for is refused, a missing one is absent', () => {
  expect(readBlock(block, 16)).toMatchObject({ number: 16, time: 5 });
  expect(() => readBlock(block, 17)).toThrow(expect.objectContaining({ kind: 'wrong-block' }));
  expect(() => readBlock(null, 17)).toThrow(expect.objectContaining({ kind: 'absent' }));
});

test('a header without a filter is read as having none', () => {
  expect(readBlock({ ...block, logsBloom: undefined }, 16).bloom).toBeNull();
  expect(readBlock({ ...block, logsBloom: '0x' }, 16).bloom).toBeNull();
});

test('a contract creation has no recipient', () => {
  const transaction = { hash: HASH, from: log.address, to: null, input: '0x00', value: '0x0' };
  expect(readTransaction(transaction)).toEqual({
    hash: HASH,
    from: log.address.toLowerCase(),
    to: null,
    input: '0x00',
  });
});

test.each([['0x1'], ['1234'], [null], [12]])('calldata %j is no calldata', (input) => {
  const transaction = { hash: HASH, from: log.address, to: null, input };
  expect(() => readTransaction(transaction)).toThrow(expect.objectContaining({ kind: 'malformed' }));
});

test('calldata in capitals is the same calldata', () => {
  const transaction = { hash: HASH, from: log.address, to: null, input: '0xE3EE160E' };
  expect(readTransaction(transaction).input).toBe('0xe3ee160e');
});
