import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { address } from '../../../core/domain/account.ts';
import { domainSeparator } from '../../../core/domain/eip712.ts';
import { KNOWN_CHAINS } from '../../../core/domain/known-chains.ts';
import { tokenFaults } from '../../../ingest/chain/token-facts.ts';
import { checkTokensAtStart } from '../../../src/check-tokens.ts';
import { watchedLog } from '../../kit/secrets-watch.ts';
import { waitUntil } from '../../kit/wait-until.ts';
import { startX402World, type X402World } from '../../kit/x402-world.ts';

/** Configured tokens against Circle's contract on a real node. */

let world: X402World;
beforeAll(async () => {
  world = await startX402World();
});
afterAll(() => world?.stop());

const facts = KNOWN_CHAINS.find(({ slug }) => slug === 'base-sepolia') as (typeof KNOWN_CHAINS)[number]; // of our table
const NEVER = new AbortController().signal;
const faults = (change: object, rpcUrls = [world.chain.url]) =>
  tokenFaults({ chain: facts, rpcUrls, tokens: [{ ...world.accepted.token, ...change }] }, NEVER);

test('the separator is that of USDC on Base', () => {
  const contract = address('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'.toLowerCase());
  expect(domainSeparator({ name: 'USD Coin', version: '2' }, { chainId: 8453, contract })).toBe(
    '0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f',
  );
});

describe('a configured token', () => {
  test('that is as its contract says has no fault', async () => {
    expect(await faults({})).toEqual([]);
  });

  test.each([
    [
      { domain: { name: 'USD Coin', version: '2' } },
      /another EIP-712 domain than name "USD Coin"/,
      /domain\.name/,
    ],
    [{ domain: { name: 'USDC', version: '1' } }, /version "1"/, /tokens of the chain base-sepolia/],
    [{ decimals: 18 }, /has 6 decimals, not 18/, /Correct decimals/],
    [{ symbol: 'USDT' }, /calls itself "USDC"/, /Correct symbol/],
  ])('%j is found, and its key named', async (change, detail, advice) => {
    expect(await faults(change)).toEqual([
      expect.objectContaining({
        detail: expect.stringMatching(detail),
        advice: expect.stringMatching(advice),
      }),
    ]);
  });

  test('is not judged by a node that is silent, and the next one is asked', async () => {
    const wrong = { decimals: 18 };
    expect(await faults(wrong, ['http://127.0.0.1:1'])).toEqual([]);
    expect(await faults(wrong, ['http://127.0.0.1:1', world.chain.url])).toHaveLength(1);
  });

  test('that is no contract, or one without a domain, has no fault', async () => {
    expect(await faults({ address: world.relayer })).toEqual([]);
  });
});

test('a service learns at its start which token it must not offer', async () => {
  const { token, chain } = world.accepted;
  const wrong = { ...token, domain: { name: 'Other', version: '2' } };
  const chains = [{ chain, facts, rpcUrls: [world.chain.url], tokens: [wrong] }];
  const isFaulty = checkTokensAtStart(chains, { log: watchedLog('tokens'), signal: NEVER });
  await waitUntil('the token was compared', () => isFaulty(chain, token.address));
  expect(isFaulty(chain, world.relayer)).toBe(false);
});
