import { describe, expect, test, vi } from 'vitest';
import { CallerLeft, createWatchdog, StoppedLate } from '../../../sandbox/run/watchdog.ts';
import { waitUntil } from '../../kit/wait-until.ts';

/** An engine whose obedience is scripted; a real one is in test/sandbox/run/sandbox-run.engine.test.ts. */

const OBEY_MAX_MS = 100;
const MAX_MS = 50;
const POLL_MS = 5;
const PLACE_KEPT_MAX_MS = 200;

/** A query that runs until the engine obeys a KILL, or for ever. */
function stage({
  obeysAfterKills,
  ours = true,
  idleMs = 0,
}: {
  obeysAfterKills: number;
  ours?: boolean;
  /** How long its threads have waited, and may. */
  idleMs?: number;
}) {
  const seen = {
    kills: 0,
    restarts: 0,
    unstoppable: 0,
    gone: false,
    free: false,
    goneWhenTold: true,
    outcome: undefined as unknown,
  };
  let isRunning = true;
  let fail: (error: Error) => void = () => undefined;
  const stop = (): void => {
    isRunning = false;
    fail(new Error('killed'));
  };
  const log = { warn: vi.fn(), error: vi.fn() };
  const watchdog = createWatchdog({
    killer: {
      async kill() {
        seen.kills += 1;
        if (seen.kills >= obeysAfterKills) stop();
      },
      isRunning: async () => isRunning,
      progress: async () => ({
        ...{ readRows: 0, readBytes: 0, totalRows: 0, memoryBytes: 0, cpuMs: 1 },
        elapsedMs: 1 + idleMs,
      }),
      close: async () => undefined,
    },
    restartEngine: ours
      ? async () => {
          seen.restarts += 1;
          stop();
        }
      : null,
    log,
    obeyMaxMs: OBEY_MAX_MS,
    pollMs: POLL_MS,
    placeKeptMaxMs: PLACE_KEPT_MAX_MS,
    unstoppablePollMs: POLL_MS,
  });
  const leaving = new AbortController();
  const order = {
    queryId: 'q',
    maxMs: MAX_MS,
    idleMaxMs: idleMs,
    caller: leaving.signal,
    onUnstoppable: () => {
      seen.unstoppable += 1;
    },
  };
  const { outcome, gone, free } = watchdog.watch(
    order,
    (signal) =>
      new Promise<never>((_, reject) => {
        fail = reject;
        signal.addEventListener('abort', () => reject(new Error('given up')), { once: true });
      }),
  );
  outcome.catch((error: unknown) => {
    seen.outcome = error;
    seen.goneWhenTold = seen.gone;
  });
  void gone.then(() => {
    seen.gone = true;
  });
  void free.then(() => {
    seen.free = true;
  });
  return { seen, leaving, log, stop };
}

describe('the clock', () => {
  test('ends a query that is late, and not before', async () => {
    const began = performance.now();
    const { seen } = stage({ obeysAfterKills: 1 });
    await waitUntil('it is gone', () => seen.gone);
    expect(performance.now() - began).toBeGreaterThanOrEqual(MAX_MS - 1);
    expect(seen).toMatchObject({ kills: 1, restarts: 0, unstoppable: 0 });
    expect(seen.outcome).toBeInstanceOf(StoppedLate);
    expect(seen.outcome).toMatchObject({ obeyed: true });
  });

  test('waits longer for one whose threads waited for cores, but not for ever', async () => {
    const began = performance.now();
    const { seen } = stage({ obeysAfterKills: 1, idleMs: 2 * MAX_MS });
    await waitUntil('it is gone', () => seen.gone);
    expect(performance.now() - began).toBeGreaterThanOrEqual(3 * MAX_MS - 1);
    expect(seen.outcome).toMatchObject({ obeyed: true });
  });

  test('tells the engine again: a KILL may come before its query', async () => {
    const { seen } = stage({ obeysAfterKills: 3 });
    await waitUntil('it is gone', () => seen.gone);
    expect(seen).toMatchObject({ kills: 3, restarts: 0, unstoppable: 0 });
  });

  test('has the engine started anew, once, when it does not obey', async () => {
    const began = performance.now();
    const { seen } = stage({ obeysAfterKills: Number.POSITIVE_INFINITY });
    await waitUntil('it is gone', () => seen.gone);
    expect(performance.now() - began).toBeGreaterThanOrEqual(MAX_MS + OBEY_MAX_MS - 1);
    expect(seen).toMatchObject({ restarts: 1, unstoppable: 1 });
    expect(seen.outcome).toMatchObject({ obeyed: false });
  });

  test('answers the caller where the engine is not ours, and gives the place back after a while though the query runs on', async () => {
    const { seen, log, stop } = stage({ obeysAfterKills: Number.POSITIVE_INFINITY, ours: false });
    await waitUntil('the caller is answered', () => seen.outcome !== undefined);
    expect(seen.outcome).toMatchObject({ obeyed: false });
    const kills = seen.kills;
    await waitUntil('it goes on', () => seen.kills > kills + 5);
    expect(seen).toMatchObject({ gone: false, free: false });
    expect(log.error).toHaveBeenCalledTimes(1);
    await waitUntil('its place is free', () => seen.free);
    expect(seen.gone).toBe(false);
    expect(log.error).toHaveBeenCalledTimes(2);
    stop();
    await waitUntil('it is gone', () => seen.gone);
  });
});

test('a caller who leaves is not waited for; the place is, until the engine has stopped', async () => {
  const { seen, leaving } = stage({ obeysAfterKills: 4 });
  leaving.abort();
  await waitUntil('the caller is let go', () => seen.outcome !== undefined);
  expect(seen.outcome).toBeInstanceOf(CallerLeft);
  expect(seen.goneWhenTold).toBe(false);
  await waitUntil('it is gone', () => seen.gone);
  expect(seen).toMatchObject({ kills: 4, restarts: 0 });
});

describe('a query that runs while another has the engine started anew', () => {
  test('is run once more on the new engine', async () => {
    let endRestart: () => void = () => undefined;
    let isStuck = true;
    const runs: string[] = [];
    const fails: ((error: Error) => void)[] = [];
    const watchdog = createWatchdog({
      killer: {
        kill: async () => undefined,
        isRunning: async () => isStuck,
        progress: async () => null,
        close: async () => undefined,
      },
      restartEngine: () =>
        new Promise((resolve) => {
          endRestart = resolve;
        }),
      log: { warn: vi.fn(), error: vi.fn() },
      obeyMaxMs: OBEY_MAX_MS,
      pollMs: POLL_MS,
      placeKeptMaxMs: PLACE_KEPT_MAX_MS,
      unstoppablePollMs: POLL_MS,
    });
    const order = (queryId: string, maxMs: number) => ({
      queryId,
      maxMs,
      caller: new AbortController().signal,
      onUnstoppable: () => undefined,
    });
    const until = (name: string) => () => {
      runs.push(name);
      if (runs.filter((one) => one === name).length > 1) return Promise.resolve(name);
      return new Promise<string>((_, reject) => fails.push(reject));
    };
    const stuck = watchdog
      .watch(order('stuck', MAX_MS), until('stuck'))
      .outcome.catch((error: unknown) => error);
    const other = watchdog.watch(order('other', 60_000), until('other')).outcome;
    await waitUntil('the engine is being started anew', () => endRestart.length === 1);
    isStuck = false;
    for (const fail of fails) fail(new Error('the connection broke'));
    endRestart();
    expect(await other).toBe('other');
    expect(await stuck).toBeInstanceOf(StoppedLate);
    expect(runs).toEqual(['stuck', 'other', 'other']);
  });
});
