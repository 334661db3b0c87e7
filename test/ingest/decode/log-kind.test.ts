import { expect, test } from 'vitest';
import { address, type Hash } from '../../../core/domain/account.ts';
import { chainOf } from '../../../core/domain/chains.ts';
import { BATCH_EVENTS } from '../../../ingest/decode/channels/events.ts';
import { type DecodeContext, decodeContextOf } from '../../../ingest/decode/context.ts';
import { CHANNEL_TOPICS, logFilterOf, TOPIC } from '../../../ingest/decode/log-kind.ts';
import { buildCatalogue } from '../../../ingest/grading/catalogue.ts';
import {
  batchOf,
  EURC,
  type Event,
  PROXY,
  ROUTER,
  settled,
  TOKENS,
  transfer,
  USDC,
  used,
  wallet,
  word,
} from '../../kit/chain-logs.ts';

const CAFE = wallet(0xcafe);
const contextOn = (chainId: number): DecodeContext =>
  decodeContextOf(
    { chain: chainOf(chainId), tokens: TOKENS, registries: {} },
    buildCatalogue({
      facilitators: [],
      payees: [{ chain: chainOf(8453), address: CAFE, name: '', resource: '' }],
    }),
  );
const [, , CLAIMED = word(0)] = Object.keys(BATCH_EVENTS) as Hash[];
const BATCH = address('0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003');
const ESCROW = address('0xf96815976523E00e65Be8f34cA5e64b4f41EB19c');
const filter = logFilterOf(contextOn(8453));

const isCandidate = (event: Event, chosen = filter): boolean | undefined =>
  batchOf([[{ events: [event] }]]).logs.map(chosen.isCandidate)[0];

test('tokens and proxies are asked for their four events, and channel contracts for theirs', () => {
  expect(filter.addresses).toEqual(expect.arrayContaining([USDC, EURC, PROXY, BATCH, ESCROW]));
  expect(new Set(filter.topics)).toEqual(new Set([...Object.values(TOPIC), ...CHANNEL_TOPICS]));
  expect(filter.matters).toContainEqual({ addresses: [BATCH], topics: Object.keys(BATCH_EVENTS) });
});

test('routers emit nothing that is asked for, but calls through them are recognised', () => {
  expect(filter.addresses).not.toContain(ROUTER);
  expect(contextOn(8453).x402Contracts.has(ROUTER)).toBe(true);
  expect(contextOn(1).x402Contracts.has(ROUTER)).toBe(false);
});

test('the older upto proxy counts on Base Sepolia only', () => {
  const older = address('0x402039b3d6E6BEC5A02c2C9fd937ac17A6940002');
  expect([84532, 8453].map((id) => contextOn(id).proxies.has(older))).toEqual([true, false]);
});

test.each([
  ['an authorization of a token', used(wallet(1)), true],
  ['a proxy’s Settled', settled(), true],
  ['a proxy’s SettledWithPermit', settled(TOPIC.permit2SettledWithPermit), true],
  ['a transfer to a catalogued payee', transfer(wallet(1), CAFE, 1), true],
  ['any other transfer', transfer(wallet(1), wallet(2), 1), false],
  ['an authorization of a stranger', used(wallet(1), 1, ROUTER), false],
  ['a transfer of a stranger', transfer(wallet(1), CAFE, 1, ROUTER), false],
  ['Settled of a token', settled(TOPIC.permit2Settled, USDC), false],
  ['a claim of a channel', { address: BATCH, topics: [CLAIMED], data: '0x' }, true],
  ['a claim of a stranger', { address: ROUTER, topics: [CLAIMED], data: '0x' }, false],
  ['a log without topics', { address: USDC, topics: [], data: '0x' }, false],
])('%s: candidate %s', (_, event, expected) => {
  expect(isCandidate(event)).toBe(expected);
});

test('a payee is catalogued on its own chain only', () => {
  expect(isCandidate(transfer(wallet(1), CAFE, 1), logFilterOf(contextOn(137)))).toBe(false);
});
