import { expect, test } from 'vitest';
import { isWider, nextOfAnswer } from '../../../src/mcp/next-call.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';

/** What a tool offers next after an answer about one chain. */

const callOf = (id: string, given: Readonly<Record<string, unknown>>) => {
  const operation = OPERATIONS.find((one) => one.id === id);
  if (operation === undefined) throw new Error(`no operation ${id}`);
  return { operation, operations: OPERATIONS, given };
};
const BASE = 'eip155:8453';
const EMPTY = { wallets: [], next_before: null, meta: { warnings: ['other_chains_left_out'] } };
const PAID_ELSEWHERE = { elsewhere: [{ chain: 'eip155:137', settlement_count: 12 }], meta: {} };

test.each([
  ['listWallets', { limit: 5, chain: BASE, before: 'c' }, EMPTY, { limit: 5 }],
  ['listFlows', { chain: BASE, after: 'c' }, { ...EMPTY, wallets: undefined, flows: [] }, {}],
  ['listMerchants', { chain: BASE, offset: 10 }, { ...EMPTY, next_offset: null }, {}],
  ['getEntitySummary', { wallet: '0x1', chain: BASE }, PAID_ELSEWHERE, { wallet: '0x1' }],
])('%s with %j offers the same of every chain', (id, given, body, wider) => {
  const call = callOf(id, given);
  const next = nextOfAnswer(call, body);
  expect(next?.arguments).toEqual(wider);
  expect(isWider(call, next)).toBe(true);
});

test.each([
  ['listWallets', { chain: BASE }, { wallets: [{}], next_before: null, meta: {} }, null],
  [
    'listWallets',
    { chain: BASE },
    { wallets: [{}], next_before: 'd', meta: {} },
    { chain: BASE, before: 'd' },
  ],
  ['getEntitySummary', { wallet: '0x1', chain: BASE }, { elsewhere: [], meta: {} }, null],
  ['getEntitySummary', { wallet: '0x1' }, { meta: {} }, null],
])('%s with %j stays with what was asked where nothing is left out', (id, given, body, next) => {
  expect(nextOfAnswer(callOf(id, given), body)?.arguments ?? null).toEqual(next);
});
