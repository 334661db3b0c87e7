import { expect, test } from 'vitest';
import type { RawLog } from '../../ingest/sources/block-source.ts';
import { fingerprint } from '../../ingest/sources/prove-complete.ts';
import type { Address } from '../../src/domain/address.ts';
import type { Hash } from '../../src/domain/settlement.ts';

const hashOf = (byte: string) => `0x${byte.repeat(32)}` as Hash; // 32 bytes
const log: RawLog = {
  address: `0x${'aa'.repeat(20)}` as Address, // 20 bytes
  topics: [hashOf('01'), hashOf('02')],
  data: '0x05',
  blockNumber: 1,
  blockHash: hashOf('03'),
  transactionHash: hashOf('04'),
  logIndex: 7,
};

test('what is remembered of a proved block does not grow with its logs', () => {
  const many = Array.from({ length: 1_000 }, (_, logIndex) => ({ ...log, logIndex }));
  expect(fingerprint(many)).toHaveLength(fingerprint([log]).length);
});

test.each<[string, Partial<RawLog>]>([
  ['place', { logIndex: 8 }],
  ['transaction', { transactionHash: hashOf('05') }],
  ['topics', { topics: [hashOf('01')] }],
  ['data', { data: '0x06' }],
])('a log with another %s makes another fingerprint', (_, change) => {
  expect(fingerprint([{ ...log, ...change }])).not.toBe(fingerprint([log]));
  expect(fingerprint([log, { ...log, ...change }])).not.toBe(fingerprint([log, log]));
});
