import { expect } from 'vitest';
import { address, type Hash } from '../../../core/domain/account.ts';
import {
  type Checkpoints,
  contractsName,
  createCheckpoints,
  type HeadRange,
} from '../../../ingest/write/checkpoints.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import type { TestEngine } from '../../kit/engine.ts';
import { engineTest as test } from '../../kit/fixtures-ingest.ts';

const hash = (n: number): Hash => `0x${n.toString(16).padStart(64, '0')}`;
let chainId = 1_000;
const USDC_ONLY = contractsName([address(`0x${'1'.repeat(40)}`)]);
const checkpointsOf = (engine: TestEngine, chain: number, contracts = USDC_ONLY): Checkpoints =>
  createCheckpoints({ chain: `eip155:${chain}`, contracts }, engine.writer, createVersions(0n));
const fresh = (engine: TestEngine): Checkpoints => checkpointsOf(engine, ++chainId);
const head = (start: number, end: number): HeadRange => ({ start, end, hash: hash(end) });

test('a chain that was never indexed has no progress', async ({ engine }) => {
  expect(await fresh(engine).load()).toEqual({ head: null, backfilled: [] });
});

test('the head range moves, forward and back after a reorg, and only its last place is kept', async ({
  engine,
}) => {
  const checkpoints = fresh(engine);
  await checkpoints.saveHead(head(10, 20));
  await checkpoints.saveHead(head(10, 35));
  await checkpoints.saveHead(head(10, 31));
  expect((await checkpoints.load()).head).toEqual(head(10, 31));
});

test('finished windows are joined, and a retired head range counts as finished', async ({ engine }) => {
  const checkpoints = fresh(engine);
  await checkpoints.saveBackfill([
    { from: 50, to: 59, endHash: hash(59) },
    { from: 40, to: 49, endHash: hash(49) },
    { from: 10, to: 19, endHash: hash(19) },
  ]);
  await checkpoints.saveHead(head(60, 70));
  await checkpoints.restartHead(head(60, 70), head(90, 89));
  expect(await checkpoints.load()).toEqual({
    head: head(90, 89),
    backfilled: [
      { from: 10, to: 19 },
      { from: 40, to: 70 },
    ],
  });
});

test('retiring an empty head range claims no block as indexed', async ({ engine }) => {
  const checkpoints = fresh(engine);
  await checkpoints.saveHead(head(60, 59));
  await checkpoints.restartHead(head(60, 59), head(90, 89));
  expect(await checkpoints.load()).toEqual({ head: head(90, 89), backfilled: [] });
});

test('chains do not see each other', async ({ engine }) => {
  const [one, other] = [fresh(engine), fresh(engine)];
  await one.saveHead(head(1, 2));
  expect((await other.load()).head).toBeNull();
});

test('a block that was replaced by a reorg is remembered with its new hash', async ({ engine }) => {
  const checkpoints = fresh(engine);
  const block = (number: number, fork: number) => ({
    number,
    hash: hash(number + fork),
    parentHash: hash(0),
    time: 1_000 + number,
  });
  await checkpoints.saveBlocks([block(1, 0), block(2, 0), block(3, 0)]);
  await checkpoints.saveBlocks([block(2, 100)]);
  expect((await checkpoints.loadBlocks(2, 9)).map((one) => [one.number, one.hash, one.time])).toEqual([
    [2, hash(102), 1_002],
    [3, hash(3), 1_003],
  ]);
});

test('what was read for other contracts is no promise: a token configured later is read from the start', async ({
  engine,
}) => {
  const chain = ++chainId;
  const [one, other] = [address(`0x${'1'.repeat(40)}`), address(`0x${'2'.repeat(40)}`)];
  const before = checkpointsOf(engine, chain, contractsName([one]));
  await before.saveBackfill([{ from: 1, to: 9, endHash: hash(9) }]);
  await before.saveHead(head(10, 20));
  expect(await checkpointsOf(engine, chain, contractsName([one, other])).load()).toEqual({
    head: null,
    backfilled: [],
  });
  expect((await checkpointsOf(engine, chain, contractsName([one])).load()).head).toEqual(head(10, 20));
  expect(contractsName([one, other])).toBe(contractsName([other, one]));
});
