import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { reorg } from '../../demo/chain/anvil.ts';
import { caughtUp, expectTruth, telemetry } from '../kit/catch-up.ts';
import { indexedChainTest } from '../kit/fixtures-ingest.ts';
import { IS_NIGHTLY, lengthOf } from '../kit/lengths.ts';
import { killLive } from '../kit/service.ts';

/** After any run, what the API serves equals what a naive reader computes from the chain's own receipts, row for row. */

const test = indexedChainTest({ seed: 1, blocks: 150 });

test('history behind the tip and blocks at the tip are both served as the receipts tell them', async ({
  chain,
}) => {
  await chain.world.grow(20);
  await expectTruth(chain.world, chain.service().url);
});

const DEPTH_MAX = 20;
const DEPTHS = Array.from({ length: DEPTH_MAX }, (_, index) => index + 1).filter(
  (depth) => depth === DEPTH_MAX || (depth - 1) % lengthOf('reorgDepthStep') === 0,
);

test('reorgs of one block to twenty leave no row of the lost fork and miss none of the new one', async ({
  chain: { world: made, service: current },
}) => {
  const service = current();
  for (const depth of DEPTHS) {
    await made.grow(depth);
    await caughtUp(made, service.url);
    await made.reorganise(depth);
    if (depth % 4 === 0) await expectTruth(made, service.url);
  }
  await expectTruth(made, service.url);
  // Of a reorg whose lost blocks were not read yet nothing is seen.
  expect((await telemetry(service.url)).reorgs).toBeGreaterThanOrEqual(DEPTHS.length * 0.75);
  // The chain loses its newest blocks and nothing comes in their place.
  await reorg(made.chain, { depth: 5, blocks: 0 });
  await expectTruth(made, service.url);
});

/** A small pause of random length, so that the kill that follows hits any moment of the work. */
const MOMENT_MAX_MS = 400;
/**
 * A supervisor that sees its children end again and again waits longer each time, seconds in the end. A new service over the
 * same data does not know of that, and finds what the kills before left.
 */
const ROUNDS_PER_SERVICE = 6;
const KILL_ROUNDS = lengthOf('indexKills');

test('kill -9 of the engine, the worker and both, again and again in the middle of traffic and reorgs, loses and doubles nothing', async ({
  chain,
}) => {
  const made = chain.world;
  const victims = {
    engine: [() => chain.service().enginePid()],
    worker: [() => chain.service().ingestPid()],
    both: [() => chain.service().enginePid(), () => chain.service().ingestPid()],
  };
  let kills = 0;
  for (let round = 0; round < KILL_ROUNDS; round++) {
    if (round > 0 && round % ROUNDS_PER_SERVICE === 0) await chain.restart();
    const traffic = made.grow(4);
    await delay(made.random.below(MOMENT_MAX_MS));
    for (const pidOf of victims[(['engine', 'worker', 'both'] as const)[round % 3] ?? 'both']) {
      await killLive(pidOf);
      kills += 1;
    }
    await traffic;
    if (round % 4 === 1) await made.reorganise(1 + made.random.below(8));
    if (round % 6 === 5) await expectTruth(made, chain.service().url);
  }
  await expectTruth(made, chain.service().url);
  expect(kills).toBeGreaterThanOrEqual(KILL_ROUNDS);
});

test('killing service and chain follower while the chain reorganises leaves the new fork only', async ({
  chain,
}) => {
  await chain.restart();
  const [made, service] = [chain.world, chain.service()];
  for (const depth of IS_NIGHTLY ? [3, 12, 20] : [3, 20]) {
    await made.grow(depth);
    await caughtUp(made, service.url);
    for (const pidOf of [service.ingestPid, service.enginePid]) await killLive(pidOf);
    await made.reorganise(depth);
    await expectTruth(made, service.url);
  }
});
