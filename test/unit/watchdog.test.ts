import { describe, expect, test, vi } from 'vitest';
import { CallerLeft, createWatchdog, StoppedLate } from '../../sandbox/watchdog.ts';
import { waitUntil } from '../support/wait-until.ts';

/** An engine whose obedience is scripted; a real one is in test/engine/sandbox-run.test.ts. */

const OBEY_MAX_MS = 100;
const MAX_MS = 50;
const POLL_MS = 5;

/** A query that runs until the engine obeys a KILL, or for ever. */
function stage({ obeysAfterKills, ours = true }: { obeysAfterKills: number; ours?: boolean }) {
  const seen = {
    kills: 0,
    restarts: 0,
    deaf: 0,
    gone: false,
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
  });
  const leaving = new AbortController();
  const order = {
    queryId: 'q',
    maxMs: MAX_MS,
    caller: leaving.signal,
    onDeaf: () => {
      seen.deaf += 1;
    },
  };
  const { outcome, gone } = watchdog.watch(
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
  return { seen, leaving, log, stop };
}

describe('the clock', () => {
  test('ends a query that is late, and not before', async () => {
    const began = performance.now();
    const { seen } = stage({ obeysAfterKills: 1 });
    await waitUntil('it is gone', () => seen.gone);
    expect(performance.now() - began).toBeGreaterThanOrEqual(MAX_MS - 1);
    expect(seen).toMatchObject({ kills: 1, restarts: 0, deaf: 0 });
    expect(seen.outcome).toBeInstanceOf(StoppedLate);
    expect(seen.outcome).toMatchObject({ obeyed: true });
  });

  test('tells the engine again: a KILL may come before its query', async () => {
    const { seen } = stage({ obeysAfterKills: 3 });
    await waitUntil('it is gone', () => seen.gone);
    expect(seen).toMatchObject({ kills: 3, restarts: 0, deaf: 0 });
  });

  test('has the engine started anew, once, when it does not obey', async () => {
    const began = performance.now();
    const { seen } = stage({ obeysAfterKills: Number.POSITIVE_INFINITY });
    await waitUntil('it is gone', () => seen.gone);
    expect(performance.now() - began).toBeGreaterThanOrEqual(MAX_MS + OBEY_MAX_MS - 1);
    expect(seen).toMatchObject({ restarts: 1, deaf: 1 });
    expect(seen.outcome).toMatchObject({ obeyed: false });
  });

  test('answers the caller and keeps the place where the engine is not ours, until the query is gone', async () => {
    const { seen, log, stop } = stage({ obeysAfterKills: Number.POSITIVE_INFINITY, ours: false });
    await waitUntil('the caller is answered', () => seen.outcome !== undefined);
    expect(seen.outcome).toMatchObject({ obeyed: false });
    const kills = seen.kills;
    await waitUntil('it goes on', () => seen.kills > kills + 5);
    expect(seen.gone).toBe(false);
    expect(log.error).toHaveBeenCalledTimes(1);
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
