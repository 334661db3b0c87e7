import { expect, test } from 'vitest';
import { knownChain } from '../../../../core/domain/networks.ts';
import { createChainStatus } from '../../../../ingest/follow/chain-status.ts';
import { judgeChain } from '../../../../src/operate/doctor/chains.ts';
import type { ChainStatus } from '../../../../src/operations/index-state/chain-status.ts';
import { chainFreshness, finalityOf, warningsOf } from '../../../../src/operations/index-state/freshness.ts';

/** A chain without a node holds what was imported: it is not behind, not broken, and not about to start. */

const CHAIN = 'eip155:8453';
const NOW_MS = 1_800_000_000_000;
const COUNTERS = {
  rowsWritten: 0,
  reorgs: 0,
  deepestReorg: 0,
  retries: 0,
  contradictions: 0,
  deadLetters: 0,
  lastWrittenAt: 0,
  indexedBlock: 0,
  indexedTime: 0,
  finalizedBlock: 0,
};

const status: ChainStatus = {
  chain: CHAIN,
  state: 'imported',
  indexedBlock: 500,
  indexedTime: NOW_MS / 1_000 - 86_400,
  headBlock: null,
  headSeenAt: null,
  finalizedBlock: 500,
  backfillBlocksDone: 0,
  backfillBlocksTotal: 0,
  backfillSource: null,
  rowsPerSecond: 0,
  blocksPerSecond: 0,
  rowsWritten: 0,
  reorgs: 0,
  deepestReorg: 0,
  retries: 0,
  contradictions: 0,
  deadLetters: 0,
  lastError: '',
  lastWrittenAt: null,
  feeHoursOpen: null,
  feeOldestOpen: null,
  updatedAt: NOW_MS / 1_000,
};

test('ingest says of it how far the imports reach, and that those blocks are final', () => {
  const source = { counters: () => ({ calls: 0, retries: 0, contradictions: 0, contradictedAtMs: 0 }) };
  const reported = createChainStatus({ chain: CHAIN, pollMs: 1_000 }, source, COUNTERS, () => NOW_MS);
  reported.imported(null);
  expect(reported.snapshot()).toMatchObject({ state: 'imported', indexedBlock: 0 });
  reported.imported({ number: 500, time: 1_700_000_000 });
  expect(reported.snapshot()).toMatchObject({
    state: 'imported',
    indexedBlock: 500,
    indexedTime: 1_700_000_000,
    finalizedBlock: 500,
    headBlock: 0,
    lastError: '',
  });
});

test('answers neither call it late nor warn of it, and its rows are final', () => {
  expect(chainFreshness(CHAIN, status, NOW_MS)).toMatchObject({ indexedBlock: 500, lagSeconds: null });
  expect(warningsOf([CHAIN], new Map([[CHAIN, status]]), NOW_MS)).toEqual([]);
  expect(finalityOf(500, status)).toBe('finalized');
});

test('the doctor finds nothing wrong with it', () => {
  const facts = knownChain('base');
  if (facts === undefined) throw new Error('Base is built in');
  expect(judgeChain({ chain: CHAIN, facts }, status, NOW_MS).verdict).toBe('ok');
});
