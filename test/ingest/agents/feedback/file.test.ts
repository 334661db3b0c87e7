import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readFeedbackFile } from '../../../../ingest/agents/feedback/row.ts';
import { hash, wallet } from '../../../kit/rows.ts';

const read = (value: unknown): unknown => readFeedbackFile(Buffer.from(JSON.stringify(value)));
const NOTHING = { agentId: null, agentRegistry: null, client: null, comment: '', proofOfPayment: null };
const PROOF = { fromAddress: wallet(1), toAddress: wallet(2), chainId: 8453, txHash: hash(3) };
const PAYMENT = { chain: 'eip155:8453', txHash: hash(3), from: wallet(1), to: wallet(2) };

test('a feedback file says whom it rates, who rates, and what was paid', () => {
  const registry = 'eip155:8453:0x8004a169fb4a3325136eb29fa0ceb6d2e539a432';
  const file = {
    agentRegistry: registry,
    agentId: 22,
    clientAddress: `eip155:8453:${wallet(7)}`,
    createdAt: '2026-01-01T00:00:00Z',
    value: 100,
    valueDecimals: 0,
    comment: 'Quick,\n  and right.',
    proofOfPayment: PROOF,
  };
  expect(read(file)).toEqual({
    agentId: 22n,
    agentRegistry: registry,
    client: wallet(7),
    comment: 'Quick, and right.',
    proofOfPayment: PAYMENT,
  });
});

test.each([8453, '8453', ' 8453 ', 'eip155:8453', '0x2105'])(
  'a payment’s chain may be written as %j',
  (chainId) => {
    expect(read({ proofOfPayment: { ...PROOF, chainId } })).toEqual({ ...NOTHING, proofOfPayment: PAYMENT });
  },
);

test('addresses and hashes may be in any case, with or without the chain', () => {
  const shouted = {
    ...PROOF,
    fromAddress: wallet(1).toUpperCase().replace('0X', '0x'),
    toAddress: `eip155:1:${wallet(2)}`,
  };
  expect(read({ proofOfPayment: shouted })).toEqual({ ...NOTHING, proofOfPayment: PAYMENT });
  expect(read({ clientAddress: wallet(0xabcdef).replace('abcdef', 'aBcDeF') })).toEqual({
    ...NOTHING,
    client: wallet(0xabcdef),
  });
});

test.each([
  { chainId: 1.5 },
  { chainId: -1 },
  { chainId: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' },
  { chainId: null },
  { chainId: 1e300 },
  { txHash: '0x12' },
  { txHash: 3 },
  { fromAddress: '0x12' },
  { toAddress: {} },
])('a proof of payment with %j is none', (broken) => {
  expect(read({ proofOfPayment: { ...PROOF, ...broken } })).toEqual(NOTHING);
});

test.each([
  [{ text: 'a' }, 'a'],
  [{ feedback: 5, review: ['x'], message: 'b', description: 'c' }, 'b'],
  [{ comment: '\u202e \u200b', text: 'under the empty one' }, 'under the empty one'],
  [{ comment: 'p\u0430ypal \u001b[31mred' }, 'p{U+0430}ypal [31mred'],
  [{ comment: { text: 'not read' } }, ''],
])('the comment of %j is %j', (file, comment) => {
  expect(read(file)).toEqual({ ...NOTHING, comment });
});

test('a comment of any length is kept to 2,000 characters', () => {
  const file = readFeedbackFile(Buffer.from(JSON.stringify({ comment: 'word '.repeat(40_000) })));
  if (typeof file === 'string') throw new Error(file);
  expect([...file.comment]).toHaveLength(2_000);
  expect(file.comment.endsWith('…')).toBe(true);
});

test('a file that cannot be read is refused with a reason or is as if it were not there, and nothing throws', () => {
  expect(read([])).toBe('not_an_object');
  expect(read({})).toEqual(NOTHING);
  const fields = ['agentId', 'agentRegistry', 'clientAddress', 'comment', 'text', 'proofOfPayment'];
  const anything = fc.jsonValue({ maxDepth: 2 });
  const file = fc.record(Object.fromEntries(fields.map((field) => [field, anything])));
  fc.assert(fc.property(file, (value) => void read(value)));
});
