import { test as base } from 'vitest';
import { type TestEngine, testEngine } from './engine.ts';
import { type RegradeWorld, regradeWorld } from './regrade-world.ts';
import { startTestService, type TestService } from './service.ts';
import { startTruthWorld, type TruthWorld } from './truth-world.ts';

/** A fresh database with the schema, on the engine of the run: one for the tests of a file. */
export const engineTest = base.extend(
  'engine',
  { scope: 'file' },
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures this one needs
  async ({}, { onCleanup }): Promise<TestEngine> => {
    const engine = await testEngine();
    onCleanup(() => engine.close());
    return engine;
  },
);

/** For each test a database of its own, and rows in it that any catalogue can be the judge of. */
export const regradeTest = base
  // biome-ignore lint/correctness/noEmptyPattern: as above
  .extend('engine', async ({}, { onCleanup }): Promise<TestEngine> => {
    const engine = await testEngine();
    onCleanup(() => engine.close());
    return engine;
  })
  .extend('world', ({ engine }): RegradeWorld => regradeWorld(engine));

/** Starts chains with random traffic, and services that index them; what a test has started ends with it. */
export interface TruthStage {
  world(seed: number): Promise<TruthWorld>;
  /** `chain`: over what the world says of itself. `before`: a service that was stopped, whose data this one takes over. */
  service(
    world: TruthWorld,
    parts?: { readonly chain?: object; readonly before?: TestService },
  ): Promise<TestService>;
}

async function openTruthStage(onCleanup: (cleanup: () => Promise<void>) => void): Promise<TruthStage> {
  const cleanups: (() => Promise<void>)[] = [];
  onCleanup(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
  });
  return {
    async world(seed) {
      const world = await startTruthWorld(seed);
      cleanups.push(() => world.stop());
      return world;
    },
    async service(world, { chain = {}, before } = {}) {
      const service = await startTestService({
        chains: [{ ...world.serviceChain(world.chain.url), ...chain }],
        catalogue: world.serviceCatalogue(),
        ...(before === undefined ? {} : { dataDir: before.dataDir }),
      });
      cleanups.push(() => service.remove());
      return service;
    },
  };
}

/** For each test worlds and services of its own. */
export const truthTest = base.extend(
  'stage',
  // biome-ignore lint/correctness/noEmptyPattern: as above
  ({}, { onCleanup }): Promise<TruthStage> => openTruthStage(onCleanup),
);

/** One chain and the service that indexes it, for the tests of a file one after another. */
export interface IndexedChain {
  readonly world: TruthWorld;
  /** The one that runs now. */
  service(): TestService;
  /** Stops the service and starts another one over the same data, whose supervisor knows nothing of what was killed before. */
  restart(): Promise<void>;
}

/** `blocks` of history are there before the service is. */
export const indexedChainTest = ({ seed, blocks }: { readonly seed: number; readonly blocks: number }) =>
  base.extend(
    'chain',
    { scope: 'file' },
    // biome-ignore lint/correctness/noEmptyPattern: as above
    async ({}, { onCleanup }): Promise<IndexedChain> => {
      const stage = await openTruthStage(onCleanup);
      const world = await stage.world(seed);
      await world.grow(blocks);
      let service = await stage.service(world);
      return {
        world,
        service: () => service,
        async restart() {
          await service.stop();
          service = await stage.service(world, { before: service });
        },
      };
    },
  );
