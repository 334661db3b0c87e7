import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Failure } from '../../../core/errors.ts';
import { ADMISSION_LIMITS, type AdmissionLimits, createAdmission } from '../../../src/gate/admission.ts';
import type { EngineLoad } from '../../../src/operations/define.ts';

const LINE = { waitingMax: 3, waitingMaxPerCaller: 2, waitMaxMs: 1_000, retryAfterSeconds: 7 };
const LIMITS: AdmissionLimits = {
  reads: { all: 2, heavy: 1, ...LINE },
  queries: { all: 2, heavy: 0, ...LINE, waitingMax: 0 },
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Lets calls in, and says of each by its name whether it is in, waits, or why it was refused. */
function door() {
  const admission = createAdmission(LIMITS);
  const standing = new Map<string, string>();
  const leaves = new Map<string, () => void>();
  return {
    standing: () => Object.fromEntries(standing),
    leave: (name: string) => leaves.get(name)?.(),
    async come(name: string, load: EngineLoad, signal = new AbortController().signal) {
      standing.set(name, 'waits');
      const request = { hasLeft: signal.aborted, left: () => signal };
      admission.enter({ load, callerName: name.replace(/\d+$/, '') }, request).then(
        (place) => {
          standing.set(name, 'in');
          if (place !== null) leaves.set(name, () => place.leave());
        },
        (error: unknown) => {
          const { code, context } = error as Failure;
          expect(error).toBeInstanceOf(Failure);
          standing.set(name, `${code} ${context.retryAfterSeconds ?? ''}`.trim());
        },
      );
      await vi.advanceTimersByTimeAsync(0);
    },
  };
}

describe('admission', () => {
  test('lets in as many reads as there are places, some wait, and the next are refused with a time to retry', async () => {
    const { come, standing, leave } = door();
    for (const name of ['a1', 'b1', 'a2', 'a3', 'a4', 'b2', 'c1']) await come(name, 'page');
    expect(standing()).toEqual({
      a1: 'in',
      b1: 'in',
      a2: 'waits',
      a3: 'waits',
      a4: 'overloaded 7', // its caller has two in the line
      b2: 'waits',
      c1: 'overloaded 7', // the line has three
    });
    leave('a1');
    await vi.advanceTimersByTimeAsync(0);
    expect(standing()).toMatchObject({ a2: 'in' });
  });

  test('a summary leaves a place to pages, and a query takes none of theirs', async () => {
    const { come, standing } = door();
    for (const name of ['a1', 'b1']) await come(name, 'summary');
    for (const name of ['q1', 'q2', 'q3']) await come(name, 'query');
    await come('c1', 'page');
    expect(standing()).toEqual({
      a1: 'in',
      b1: 'waits',
      q1: 'in',
      q2: 'in',
      q3: 'overloaded 7',
      c1: 'in',
    });
  });

  test('a call that needs no engine is let in whatever else waits', async () => {
    const { come, standing } = door();
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) await come(name, 'page');
    await come('b1', 'none');
    expect(standing()).toMatchObject({ a5: 'overloaded 7', b1: 'in' });
  });

  test('no call waits for ever, and a caller who leaves the queue makes room in it', async () => {
    const { come, standing } = door();
    const leaving = new AbortController();
    for (const name of ['a1', 'b1']) await come(name, 'page');
    await come('c1', 'page', leaving.signal);
    for (const name of ['d1', 'e1', 'f1']) await come(name, 'page');
    expect(standing()).toMatchObject({ c1: 'waits', e1: 'waits', f1: 'overloaded 7' });
    leaving.abort();
    await vi.advanceTimersByTimeAsync(0);
    await come('f2', 'page');
    expect(standing()).toMatchObject({ c1: 'request_timeout', f2: 'waits' });
    await vi.advanceTimersByTimeAsync(LINE.waitMaxMs);
    expect(standing()).toMatchObject({ d1: 'overloaded 7', e1: 'overloaded 7', f2: 'overloaded 7' });
  });
});

test('only who waits is asked for a signal, and who has left gets no place', async () => {
  const admission = createAdmission(LIMITS);
  const asked: string[] = [];
  const come = (callerName: string, { hasLeft }: { readonly hasLeft: boolean }) =>
    admission.enter(
      { load: 'page', callerName },
      {
        hasLeft,
        left: () => {
          asked.push(callerName);
          return hasLeft ? AbortSignal.abort() : new AbortController().signal;
        },
      },
    );
  const first = await come('a', { hasLeft: false });
  await expect(come('b', { hasLeft: true })).rejects.toMatchObject({ code: 'request_timeout' });
  await come('c', { hasLeft: false });
  const waits = come('d', { hasLeft: false });
  first?.leave();
  await waits;
  expect(asked).toEqual(['b', 'd']);
});

test('one caller can take no more than half the line of the product', () => {
  const { waitingMax, waitingMaxPerCaller } = ADMISSION_LIMITS.reads;
  expect(waitingMaxPerCaller * 2).toBeLessThanOrEqual(waitingMax);
});
