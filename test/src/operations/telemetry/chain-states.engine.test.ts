import { expect } from 'vitest';
import { DEAD_LETTERS } from '../../../../clickhouse/tables/ingest-state.ts';
import { insertRows } from '../../../../clickhouse/tables/table.ts';
import { loadConfig } from '../../../../core/config/load.ts';
import type { BlockRef } from '../../../../ingest/chain/block-source.ts';
import { createChainStatus } from '../../../../ingest/follow/chain-status.ts';
import { retryDeadLetters } from '../../../../ingest/follow/repair.ts';
import { saveStatus } from '../../../../ingest/follow/status-report.ts';
import { createVersions } from '../../../../ingest/write/versions.ts';
import { checkIndex } from '../../../../src/operate/doctor/chains.ts';
import { ANONYMOUS, type TestApi } from '../../../kit/api.ts';
import { type TestEngine, testLog } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { BASE, hash, NOON, nextVer } from '../../../kit/rows.ts';
import { waitUntil } from '../../../kit/wait-until.ts';

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

/** What telemetry says once ingest has reported the chain. */
async function toldOf(chain: ReturnType<typeof followed>, engine: TestEngine, api: TestApi) {
  await saveStatus(engine.writer, createVersions(nextVer()), chain.status.snapshot(), NOON * 1_000);
  api.clock.advanceSeconds(10); // statuses are kept for some seconds
  const { body } = await api.get('/v0/telemetry', ANONYMOUS);
  const { status, chains } = body as { status: string; chains: { chain: string; state: string }[] }; // as declared
  return { status, chain: chains.find((one) => one.chain === BASE) };
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
  const told = () => toldOf(chain, engine, fileApi);
  happens(chain);
  expect(await told()).toMatchObject(expected);
  ends(chain);
  expect(await told()).toMatchObject({ chain: { state: 'following' } });
});

test('a dead letter in the table makes its chain incomplete in telemetry and for the doctor, until it is taken back', async ({
  engine,
  fileApi,
}) => {
  const chain = followed();
  const [config] = loadConfig({ env: { CHAINS: 'base' } }).chains;
  if (config === undefined) throw new Error('Base is built in');
  const letter = {
    chain: BASE,
    blockNumber: 900,
    blockHash: hash(3),
    txHash: hash(4),
    logIndex: 7,
    reason: 'unpaired_authorization',
    rawLog: '{}',
  } as const;
  const write = (del: 0 | 1) =>
    insertRows(engine.writer, {
      name: 'test-dead-letter',
      table: DEAD_LETTERS,
      rows: [letter],
      fixed: { ver: nextVer(), del },
    });
  const doctor = async () => {
    const [finding] = await checkIndex(engine.reader, [config], () => NOON * 1_000);
    return finding?.verdict;
  };
  const stopping = new AbortController();
  await write(0);
  const { status } = chain;
  const running = retryDeadLetters({
    config,
    status,
    writer: engine.writer,
    log: testLog,
    signal: stopping.signal,
    // The node still does not show the transfer.
    repair: { reread: () => Promise.resolve(true) },
    limits: { pollMs: 10, firstRetryMs: 10 },
  });
  try {
    const is = (state: string) => waitUntil(`it is ${state}`, () => status.snapshot().state === state);
    await is('incomplete');
    expect(await toldOf(chain, engine, fileApi)).toMatchObject({ chain: { state: 'incomplete' } });
    expect(await doctor()).toBe('warning');
    await write(1);
    await is('following');
    expect(await toldOf(chain, engine, fileApi)).toMatchObject({ chain: { state: 'following' } });
    expect(await doctor()).toBe('ok');
  } finally {
    stopping.abort();
    await running;
  }
});
