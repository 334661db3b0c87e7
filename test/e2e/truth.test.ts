import { afterEach, expect, test } from 'vitest';
import { readNaively } from '../support/naive-reader.ts';
import { expectSameRows, readServed } from '../support/served-rows.ts';
import { startTestService, type TestService, until } from '../support/service.ts';
import { startTruthWorld, type TruthWorld } from '../support/truth-world.ts';

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

async function serviceOver(made: TruthWorld, rpcUrl = made.chain.url): Promise<TestService> {
  const service = await startTestService({
    chains: [made.serviceChain(rpcUrl)],
    catalogue: made.serviceCatalogue(),
  });
  cleanups.push(() => service.remove());
  return service;
}

/** Waits until the index says it is at the chain's tip with nothing left to fill, then compares everything. */
async function expectTruth(made: TruthWorld, service: TestService): Promise<void> {
  await caughtUp(made, service);
  const truth = await readNaively(made.chain.rpc, made.catalogue);
  await until(
    'the served rows are those of the chain',
    async () => (await readServed(service.url)).length === truth.length,
    20_000,
  ).catch(() => undefined);
  expectSameRows(await readServed(service.url), truth);
  expect(truth.length).toBeGreaterThan(0);
}

interface Telemetry {
  readonly chains: readonly {
    readonly indexed_block: number | null;
    readonly state: string;
    readonly reorgs: number;
  }[];
}

async function telemetry(service: TestService): Promise<Telemetry['chains'][number]> {
  const answer = await fetch(`${service.url}/v0/telemetry`);
  const [chain] = ((await answer.json()) as Telemetry).chains; // the part this test looks at
  if (!chain) throw new Error('no chain in telemetry');
  return chain;
}

async function caughtUp(made: TruthWorld, service: TestService): Promise<void> {
  await until('the index is at the tip', async () => {
    const head = Number(await made.chain.rpc.call<string>('eth_blockNumber'));
    const chain = await telemetry(service);
    return chain.indexed_block === head && chain.state === 'following';
  });
}

test('history behind the tip and blocks at the tip are both served as the receipts tell them', async () => {
  const made = await world(1);
  await made.grow(150);
  const service = await serviceOver(made);
  await made.grow(20);
  await expectTruth(made, service);
});

test('reorgs of every depth from 1 to 20 leave no row of the lost fork and miss none of the new one', async () => {
  const made = await world(2);
  await made.grow(100);
  const service = await serviceOver(made);
  for (let depth = 1; depth <= 20; depth++) {
    await made.grow(depth);
    await caughtUp(made, service);
    await made.reorganise(depth);
    if (depth % 4 === 0) await expectTruth(made, service);
  }
  await expectTruth(made, service);
  expect((await telemetry(service)).reorgs).toBeGreaterThanOrEqual(15);
});
