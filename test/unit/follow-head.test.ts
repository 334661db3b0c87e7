import { expect, test } from 'vitest';
import type { HeadRange } from '../../ingest/checkpoints.ts';
import { type FollowDeps, retractTo } from '../../ingest/follow-head.ts';
import type { Hash } from '../../src/domain/settlement.ts';
import { createLog } from '../../src/log.ts';

const hash = (n: number): Hash => `0x${n.toString(16).padStart(64, '0')}`;
const ancestor = { number: 5, hash: hash(5), parentHash: hash(4), time: 1_005 };
const head: HeadRange = { start: 1, end: 9, hash: hash(9) };

/** Only what retractTo touches; the rest of the deps is never looked at. */
function depsThat(steps: string[], retract: () => Promise<void>): FollowDeps {
  const done = () => undefined;
  return {
    config: { chain: 'eip155:1' },
    log: createLog('silent', 'test'),
    status: { reorged: done, indexed: done },
    known: { forgetAbove: done },
    acknowledged: (attempt: () => Promise<unknown>) => attempt(),
    checkpoints: {
      saveHead: (range: HeadRange) => {
        steps.push(`checkpoint ${range.end}`);
        return Promise.resolve();
      },
    },
    retract,
  } as unknown as FollowDeps; // a marked seam: a whole chain would hide the order that is tested here
}

test('a promise is withdrawn before its rows are: a crash between the two leaves no promise without rows', async () => {
  const steps: string[] = [];
  const crash = (): Promise<void> => Promise.reject(new Error('killed here'));
  await expect(retractTo(depsThat(steps, crash), head, ancestor)).rejects.toThrow('killed here');
  expect(steps).toEqual(['checkpoint 5']);
});

test('the range ends at the ancestor once its rows are retracted', async () => {
  const steps: string[] = [];
  const retract = (): Promise<void> => {
    steps.push('retract');
    return Promise.resolve();
  };
  expect(await retractTo(depsThat(steps, retract), head, ancestor)).toEqual({
    start: 1,
    end: 5,
    hash: hash(5),
  });
  expect(steps).toEqual(['checkpoint 5', 'retract']);
});
