import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { reorg } from '../../demo/chain/anvil.ts';
import { caughtUp, expectTruth, telemetry } from '../kit/catch-up.ts';
import { IS_NIGHTLY, lengthOf } from '../kit/lengths.ts';
import { type Lie, type LyingRpc, startLyingRpc } from '../kit/lying-rpc.ts';
import { startTestService, type TestService, until } from '../kit/service.ts';
import { startTruthWorld, type TruthWorld } from '../kit/truth-world.ts';
import { isRunning } from '../kit/wait-until.ts';

/** After any run, what the API serves equals what a naive reader computes from the chain's own receipts, row for row. */

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function world(seed: number): Promise<TruthWorld> {
  const made = await startTruthWorld(seed);
  cleanups.push(() => made.stop());
  return made;
}

async function serviceOver(made: TruthWorld, before?: TestService): Promise<TestService> {
  const service = await startTestService({
    chains: [made.serviceChain(made.chain.url)],
    catalogue: made.serviceCatalogue(),
    ...(before === undefined ? {} : { dataDir: before.dataDir }),
  });
  cleanups.push(() => service.remove());
  return service;
}

test('history behind the tip and blocks at the tip are both served as the receipts tell them', async () => {
  const made = await world(1);
  await made.grow(150);
  const service = await serviceOver(made);
  await made.grow(20);
  await expectTruth(made, service.url);
});

const DEPTH_MAX = 20;
const DEPTHS = Array.from({ length: DEPTH_MAX }, (_, index) => index + 1).filter(
  (depth) => depth === DEPTH_MAX || (depth - 1) % lengthOf('reorgDepthStep') === 0,
);

test('reorgs of one block to twenty leave no row of the lost fork and miss none of the new one', async () => {
  const made = await world(2);
  await made.grow(100);
  const service = await serviceOver(made);
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

test('kill -9 of the engine, the worker and both, again and again in the middle of traffic and reorgs, loses and doubles nothing', async () => {
  const made = await world(3);
  await made.grow(120);
  let service = await serviceOver(made);
  const victims = {
    engine: [() => service.enginePid()],
    worker: [() => service.ingestPid()],
    both: [() => service.enginePid(), () => service.ingestPid()],
  };
  let kills = 0;
  for (let round = 0; round < KILL_ROUNDS; round++) {
    if (round > 0 && round % ROUNDS_PER_SERVICE === 0) {
      await service.stop();
      service = await serviceOver(made, service);
    }
    const traffic = made.grow(4);
    await delay(made.random.below(MOMENT_MAX_MS));
    for (const pidOf of victims[(['engine', 'worker', 'both'] as const)[round % 3] ?? 'both']) {
      const pid = await liveProcess(pidOf);
      process.kill(pid, 'SIGKILL');
      kills += 1;
    }
    await traffic;
    if (round % 4 === 1) await made.reorganise(1 + made.random.below(8));
    if (round % 6 === 5) await expectTruth(made, service.url);
  }
  await expectTruth(made, service.url);
  expect(kills).toBeGreaterThanOrEqual(KILL_ROUNDS);
});

async function liveProcess(pidOf: () => number | undefined): Promise<number> {
  let pid: number | undefined;
  await until('the process to be killed is there', () => {
    pid = pidOf();
    return pid !== undefined && isRunning(pid);
  });
  return pid ?? 0;
}

test('killing service and chain follower while the chain reorganises leaves the new fork only', async () => {
  const made = await world(4);
  await made.grow(90);
  const service = await serviceOver(made);
  for (const depth of IS_NIGHTLY ? [3, 12, 20] : [3, 20]) {
    await made.grow(depth);
    await caughtUp(made, service.url);
    for (const pidOf of [service.ingestPid, service.enginePid])
      process.kill(await liveProcess(pidOf), 'SIGKILL');
    await made.reorganise(depth);
    await expectTruth(made, service.url);
  }
});

/** Chances per request; together about every third answer is a lie. */
const LIES_TOLD: Partial<Record<Lie, number>> = {
  'rate-limited': 0.04,
  'server-error': 0.04,
  truncated: 0.04,
  // Each costs a whole time-out of 20 s.
  hang: 0.003,
  'empty-logs': 0.1,
  'other-fork': 0.05,
  'duplicate-logs': 0.08,
  'dropped-block': 0.08,
  'cut-logs': 0.08,
  'too-many-results': 0.05,
  'broken-link': 0.01,
  'stale-head': 0.1,
};
/** Blocks that are mined together, so that some windows have several: only those give occasion to every lie. */
const OCCASION_BLOCKS = 8;
const OCCASIONS_MAX = 30;

/**
 * Insists on every lie while the chain grows by a few blocks at a time, and ends when each was told at least once in the whole
 * run: some need a question that is asked at the tip only, and catching up may have asked few of those. Not once more for
 * all: to a node that has refused several ranges for their size, the index puts no more than one block for a long time.
 */
async function tellEveryLie(made: TruthWorld, service: TestService, liar: LyingRpc): Promise<void> {
  const lies = Object.keys(LIES_TOLD) as Lie[]; // its keys, by its type
  const untold = () => lies.filter((lie) => liar.told[lie] === 0);
  for (const lie of lies) liar.insist(lie);
  let occasions = 0;
  do {
    expect(occasions++, `occasions without ${untold()}`).toBeLessThan(OCCASIONS_MAX);
    await made.grow(OCCASION_BLOCKS);
    // The chain must not outgrow an index that waits for an answer.
    await caughtUp(made, service.url);
  } while (untold().length > 0);
}

test('a node that lies in every way it can is found out, and the index is true all the same', async () => {
  const made = await world(5);
  await made.grow(150);
  const liar = await startLyingRpc({ target: made.chain.url, seed: 11, probabilities: LIES_TOLD });
  cleanups.push(() => liar.stop());
  // Small windows: every answer is another occasion to lie.
  const service = await startTestService({
    chains: [{ ...made.serviceChain(liar.url), logWindowMax: 8 }],
    catalogue: made.serviceCatalogue(),
  });
  cleanups.push(() => service.remove());
  for (let round = 0; round < 6; round++) {
    await made.grow(5);
    await made.reorganise(1 + made.random.below(6));
  }
  await expectTruth(made, service.url);
  await tellEveryLie(made, service, liar);
  await expectTruth(made, service.url);
  expect((await telemetry(service.url)).contradictions).toBeGreaterThan(0);
});

test('a second, honest node is enough when the first one is gone', async () => {
  const made = await world(6);
  await made.grow(100);
  const liar = await startLyingRpc({ target: made.chain.url, seed: 1, probabilities: { 'server-error': 1 } });
  cleanups.push(() => liar.stop());
  const service = await startTestService({
    chains: [{ ...made.serviceChain(liar.url), rpcUrls: [liar.url, made.chain.url] }],
    catalogue: made.serviceCatalogue(),
  });
  cleanups.push(() => service.remove());
  await expectTruth(made, service.url);
});
