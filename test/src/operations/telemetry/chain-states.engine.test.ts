import { expect } from 'vitest';
import type { BlockRef } from '../../../../ingest/chain/block-source.ts';
import { createChainStatus } from '../../../../ingest/follow/chain-status.ts';
import { saveStatus } from '../../../../ingest/follow/status-report.ts';
import { createVersions } from '../../../../ingest/write/versions.ts';
import { ANONYMOUS } from '../../../kit/api.ts';
import { test } from '../../../kit/fixtures.ts';
import { BASE, hash, NOON, nextVer } from '../../../kit/rows.ts';

/** From what ingest notices to what telemetry says of the chain. */

const TIP: BlockRef = { number: 1_000, hash: hash(1), parentHash: hash(2), time: NOON };
const STORED = {
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

/** A chain whose worker has read everything up to its tip, at noon. */
function followed() {
  let nowMs = NOON * 1_000;
  const counters = { calls: 0, retries: 0, contradictions: 0, contradictedAtMs: 0 };
  const status = createChainStatus(
    { chain: BASE, pollMs: 1_000 },
    { counters: () => counters },
    STORED,
    () => nowMs,
  );
  status.sawTip({ head: TIP });
  status.indexed(TIP);
  status.backfill(1_000, 1_000);
  return {
    status,
    passes: (seconds: number) => {
      nowMs += seconds * 1_000;
    },
    contradicts: () => {
      counters.contradictions += 1;
      counters.contradictedAtMs = nowMs;
    },
  };
}

test.for([
  [
    'has dead letters is incomplete until all of them are rows',
    ({ status }: ReturnType<typeof followed>) => status.deadLetters(2),
    ({ status }: ReturnType<typeof followed>) => status.deadLetters(0),
    { chain: { state: 'incomplete', last_error: null, provider: 'answers' } },
  ],
  [
    'is answered with contradictions alone is contradicting, not unreachable, until blocks are indexed again',
    (chain: ReturnType<typeof followed>) => {
      chain.passes(11);
      chain.status.sawTip({ head: { ...TIP, number: TIP.number + 5 } });
      chain.contradicts();
    },
    ({ status }: ReturnType<typeof followed>) => {
      status.sourceAnswered();
      status.indexed({ ...TIP, number: TIP.number + 5 });
    },
    {
      status: 'degraded',
      chain: {
        state: 'contradicting',
        last_error: 'rpc_contradicting',
        contradictions: 1,
        provider: 'answers, but its answers contradict the chain or each other; ingest keeps trying',
      },
    },
  ],
] as const)('a chain that %s', async ([, happens, ends, expected], { engine, fileApi }) => {
  const chain = followed();
  const versions = createVersions(nextVer());
  const told = async () => {
    await saveStatus(engine.writer, versions, chain.status.snapshot(), NOON * 1_000);
    fileApi.clock.advanceSeconds(10); // statuses are kept for some seconds
    const { body } = await fileApi.get('/v0/telemetry', ANONYMOUS);
    const { status, chains } = body as { status: string; chains: { chain: string; state: string }[] }; // as declared
    return { status, chain: chains.find((one) => one.chain === BASE) };
  };
  happens(chain);
  expect(await told()).toMatchObject(expected);
  ends(chain);
  expect(await told()).toMatchObject({ chain: { state: 'following' } });
});
