import fc from 'fast-check';
import { toEventSelector } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registryOperation } from '../../kit/registry-operations.ts';
import { type RegistryWorld, startRegistryWorld } from '../../kit/registry-world.ts';

let world: RegistryWorld;

beforeAll(async () => {
  world = await startRegistryWorld();
});
afterAll(() => world?.stop());

const EVENTS = [
  'Transfer(address,address,uint256)',
  'Approval(address,address,uint256)',
  'MetadataUpdate(uint256)',
  'Registered(uint256,string,address)',
  'URIUpdated(uint256,string,address)',
  'MetadataSet(uint256,string,string,bytes)',
  'NewFeedback(uint256,address,uint64,int128,uint8,string,string,string,string,string,bytes32)',
  'FeedbackRevoked(uint256,address,uint64)',
  'ResponseAppended(uint256,address,uint64,address,string,bytes32)',
  'ValidationRequest(address,uint256,string,bytes32)',
  'ValidationResponse(address,uint256,bytes32,uint8,string,bytes32,string)',
];

/** Few enough that owners of the block before are mostly still the owners. */
const BLOCK = 6;

/** Same seed, same operations: the result is asserted below. */
const [operations = []] = fc.sample(fc.array(registryOperation, { minLength: 240, maxLength: 240 }), {
  numRuns: 1,
  seed: 8_004,
});

test('random operations reach every event of the registries, and the views follow a reorg', async () => {
  const half = operations.length / 2;
  for (let at = 0; at < half; at += BLOCK) await world.block(operations.slice(at, at + BLOCK));
  const before = await world.truth();
  const height = await world.head();
  await world.reorg(3, operations.slice(half, half + 30));
  expect(await world.head()).toBe(height + 1);
  expect(await world.truth()).not.toEqual(before);
  for (let at = half + 30; at < operations.length; at += 15) await world.block(operations.slice(at, at + 15));

  const truth = await world.truth();
  const kinds = new Set((await world.logs()).map(({ topics }) => topics[0]));
  expect(EVENTS.filter((event) => !kinds.has(toEventSelector(event)))).toEqual([]);
  const zero = `0x${'0'.repeat(40)}`;
  expect(truth.filter(({ wallet }) => wallet === zero).length).toBeGreaterThan(0);
  expect(truth.filter(({ wallet, owner }) => wallet !== zero && wallet !== owner).length).toBeGreaterThan(0);
  expect(truth.filter(({ owner }) => owner.endsWith('beef')).length).toBeGreaterThan(0);
  expect(truth.flatMap(({ feedback }) => feedback).some(({ revoked }) => revoked)).toBe(true);
  expect(truth.some(({ meanE18 }) => meanE18 === null)).toBe(true);
});

test('a mean is the exact one of the feedback that is not revoked, and agrees with the contract’s rounded one as far as that fits', async () => {
  for (const { agentId, feedback, meanE18, feedbackCount } of await world.truth()) {
    if (meanE18 === null) continue;
    const clients = [...new Set(feedback.map(({ client }) => client))];
    const summary = await world.views.summary(agentId, clients);
    expect(summary.count).toBe(BigInt(feedbackCount));
    // The contract casts its mean to int128 without a check: with many decimals, great means wrap around.
    expect(summary.value).toBe(BigInt.asIntN(128, meanE18 / 10n ** BigInt(18 - summary.valueDecimals)));
  }
});
