import { defineConfig } from 'vitest/config';
import { FileSeconds } from './test/kit/file-seconds.ts';
import { LongestFirst } from './test/kit/longest-first.ts';
import { filesOf, ringOfRun } from './test/kit/rings.ts';
import { keepTemporaryFilesTogether } from './test/kit/run-directory.ts';

// Here, because global setups and workers look for the place.
keepTemporaryFilesTogether();

const ring = ringOfRun();

/** The files of a worker share what it has loaded, a second of each file otherwise: nothing of ours changes on being used. */
const SHARED_MODULES = { isolate: false };
/** No test asks the internet. Workers have this environment, and the services that they start. */
const env = { PUBLIC_FACILITATORS: 'false' };
/** For machines that are busy with other things; what takes longer by itself says so. */
const BUSY_MACHINE = {
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
};

/**
 * fast: pure code. engine: needs the real ClickHouse (one engine for the run, a database per file). redis: needs a redis-server, one per file. browser: the console in a real
 * Chromium. e2e: whole processes on a real chain node, killed and lied to. Forks everywhere: native code and child processes do not mix with threads.
 */
export default defineConfig({
  test: {
    // Files of all projects share these, one more than the cores of a small machine: most files wait now and then for a process
    // that they started. Many more would starve those.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new FileSeconds()],
    // For every project: what the run writes is searched for the secrets it used.
    globalSetup: ['test/kit/secrets-watch-setup.ts', 'test/kit/scratch-setup.ts'],
    projects: [
      {
        test: {
          name: 'fast',
          include: ['test/**/*.test.ts'],
          // test/peers has packages of its own (scripts/install-peers.mjs).
          exclude: ['test/**/*.{engine,redis,e2e,browser}.test.ts', 'test/nightly/**', '**/node_modules/**'],
          pool: 'forks',
          ...SHARED_MODULES,
          ...BUSY_MACHINE,
          env,
        },
      },
      {
        test: {
          name: 'engine',
          include: filesOf(ring, 'engine'),
          pool: 'forks',
          globalSetup: ['test/kit/engine-setup.ts'],
          ...SHARED_MODULES,
          ...BUSY_MACHINE,
          env,
        },
      },
      {
        test: {
          name: 'redis',
          include: filesOf(ring, 'redis'),
          pool: 'forks',
          ...SHARED_MODULES,
          ...BUSY_MACHINE,
          env,
        },
      },
      {
        test: {
          name: 'browser',
          include: filesOf(ring, 'browser'),
          pool: 'forks',
          ...BUSY_MACHINE,
          env,
        },
      },
      {
        test: {
          name: 'e2e',
          include: filesOf(ring, 'e2e'),
          pool: 'forks',
          testTimeout: 600_000,
          hookTimeout: 180_000,
          env,
        },
      },
    ],
  },
});
