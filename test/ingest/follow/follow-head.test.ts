import { expect, test } from 'vitest';
import type { Hash } from '../../../core/domain/account.ts';
import { createLog } from '../../../core/log.ts';
import { type FollowDeps, followHead, retractTo } from '../../../ingest/follow/head.ts';
import { createKnownBlocks } from '../../../ingest/follow/reorg.ts';
import type { HeadRange } from '../../../ingest/write/checkpoints.ts';
import { createModelChain, type ModelChain } from '../../kit/simulator/model-chain.ts';

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

/** Blocks 1 to 10 are ours when the chain replaces the newest three and grows on; three blocks can be undone at any time. */
async function lostForkBelowFinality(): Promise<
  ModelChain & { readonly lost: HeadRange; readonly known: FollowDeps['known'] }
> {
  const model = createModelChain({ chainId: 1, finalityDepth: 3, genesisTime: 1_000 });
  for (let number = 1; number <= 10; number++) model.append({ time: 1_000 + number, transactions: [] });
  const known = createKnownBlocks();
  const nothing = { addresses: [], topics: [], isCandidate: () => false };
  known.remember((await model.source.read(1, 10, nothing)).blocks);
  const lost = { start: 1, end: 10, hash: model.blockHash(10) };
  model.replace(3, (blocks) => blocks);
  for (let number = 11; number <= 12; number++) model.append({ time: 1_000 + number, transactions: [] });
  return { ...model, lost, known };
}

test('blocks of a lost fork are not taken for final because their heights are final on the chain by now', async () => {
  const { source, lost, known, blockHash } = await lostForkBelowFinality();
  const ending = new AbortController();
  const finals: number[] = [];
  const retracted: number[] = [];
  const saved: HeadRange[] = [];
  const done = () => undefined;
  const nothing = { addresses: [], topics: [], isCandidate: () => false };
  const deps = {
    config: { chain: 'eip155:1', pollMs: 1_000, logWindowMax: 100 },
    log: createLog('silent', 'test'),
    signal: ending.signal,
    heads: { next: done },
    source,
    known,
    status: {
      sourceAnswered: done,
      sawTip: done,
      reorged: done,
      indexed: done,
      finalized({ number }: { number: number }) {
        finals.push(number);
        ending.abort();
      },
    },
    acknowledged: (attempt: () => Promise<unknown>) => attempt(),
    checkpoints: { saveBlocks: done, saveHead: (range: HeadRange) => void saved.push(range) },
    pipeline: { read: (from: number, to: number) => source.read(from, to, nothing), store: done },
    retract: ({ number }: { number: number }) => Promise.resolve(void retracted.push(number)),
  } as unknown as FollowDeps; // the same seam
  await followHead(deps, lost);
  expect(retracted).toEqual([7]);
  expect(saved.at(-1)).toEqual({ start: 1, end: 12, hash: blockHash(12) });
  expect(finals).toEqual([9]);
});
