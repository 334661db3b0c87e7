import { randomInt } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startEmbeddedEngine } from '../../../clickhouse/embedded/supervisor.ts';
import { migrate } from '../../../clickhouse/migrate/migrate.ts';
import { freePort } from '../../../core/process/free-port.ts';
import type { ControlStore } from '../../../src/accounts/store.ts';
import { addKey, createOrganization } from '../../kit/access.ts';
import { testLog } from '../../kit/engine.ts';
import { lengthOf } from '../../kit/lengths.ts';
import { openControl } from '../../kit/open-control.ts';
import { redisIsThere, startRedisServer } from '../../kit/redis-server.ts';
import { readLedger } from '../../kit/unit-books.ts';
import { waitUntil } from '../../kit/wait-until.ts';
import { type ApiProcess, startApiProcess } from '../api-process.ts';

const KILLS = lengthOf('jobKills');
const TIMEOUT_MS = 120_000 + KILLS * 30_000;
/** Far above the lease of a worker that died, twice. */
const ENDED_WITHIN_MS = 180_000;
const ROWS = 200_000;
const PREFIX = 'six';

/** About a second of work, and a result whose every row can be checked. */
const text = (seed: number): string =>
  `SELECT number + ${seed} AS n, max(cityHash64(number, number)) OVER (PARTITION BY number) AS h FROM numbers(${ROWS}) ORDER BY n`;

interface Job {
  readonly job: string;
  readonly state: string;
  readonly usage: { readonly units_charged: number | null };
  readonly failure: { readonly code: string } | null;
  readonly result: { readonly id: string; readonly row_count: number } | null;
}

describe.skipIf(!redisIsThere())('jobs of two API processes over Redis', () => {
  test('no kill -9 of an API process, the engine or Redis charges a job twice, loses it, or leaves half a result', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const root = mkdtempSync(join(tmpdir(), 'settlement-index-jobs-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const redis = await startRedisServer();
    onTestFinished(() => redis.stop());
    const engine = await startEmbeddedEngine({
      dataDir: join(root, 'engine'),
      database: 'index_of_test',
      maxMemoryMegabytes: 2_048,
      nice: 0,
      log: testLog,
    });
    onTestFinished(async () => void (await engine.stop()));
    await migrate(engine.access, testLog);
    const store = openControl({ kind: 'redis', url: redis.url, keyPrefix: PREFIX });
    onTestFinished(() => store.close());
    const organizationId = await createOrganization(store, { units: 1_000_000, plan: 'enterprise' });
    const key = await addKey(store, { organizationId });
    const { url, database, writer, reader, guest } = engine.access;
    const results = join(root, 'results');
    const open = async (name: string): Promise<ApiProcess> =>
      startApiProcess({
        dataDir: join(root, name),
        role: 'api',
        logLevel: 'fatal',
        http: { port: await freePort() },
        clickhouse: { url, database, writer, reader, guest },
        control: { redisUrl: redis.url, keyPrefix: PREFIX },
        cursorSecrets: ['a secret of two processes, of a test'],
        results: { directory: results },
        plans: {
          enterprise: {
            requestsPerMinute: 1_000_000,
            sqlTiers: ['standard', 'extended', 'deep'],
            lowBalanceQu: 1,
            monthlyGrantQu: 0,
          },
        },
      });
    const apis = [await open('a'), await open('b')];
    onTestFinished(async () => {
      for (const api of apis) await api.kill();
    });
    const faults = faultsOf({ apis, redis, enginePid: engine.pid });

    const accepted = new Map<string, number>();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const send = async (at: number): Promise<void> => {
        const seed = kill * 10 + at;
        const job = await create(apis[at % 2], key, seed);
        if (job !== null) accepted.set(job, seed);
      };
      await Promise.all([0, 1].map(send));
      // Its answer may be lost.
      const late = send(2);
      await sleep(randomInt(1_500));
      await faults[kill % faults.length]?.();
      await late;
      await sleep(randomInt(500));
    }
    expect(accepted.size).toBeGreaterThanOrEqual(KILLS);

    const jobs = await endedJobs(apis, key, accepted);
    expect(new Set(jobs.map(({ state }) => state)).size).toBeGreaterThan(0);
    for (const job of jobs) await expectOneEnd(job, { apis, key, seed: accepted.get(job.job) ?? 0 });
    expect(jobs.filter(({ state }) => state === 'succeeded').length).toBeGreaterThan(0);
    await expectBooksOf(store, organizationId, jobs);
    expect(readdirSync(results).filter((name) => !/^[0-9a-f]{64}(\..*\.part)?$/.test(name))).toEqual([]);
  });
});

type Fault = () => Promise<void>;

function faultsOf({
  apis,
  redis,
  enginePid,
}: {
  readonly apis: readonly ApiProcess[];
  readonly redis: { kill(): Promise<void>; start(): Promise<void> };
  readonly enginePid: () => number | undefined;
}): readonly Fault[] {
  const killApi = async (api: ApiProcess | undefined): Promise<void> => {
    await api?.kill();
    await api?.start();
  };
  return [
    () => killApi(apis[0]),
    async () => {
      const pid = enginePid();
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    },
    async () => {
      await redis.kill();
      await sleep(randomInt(500));
      await redis.start();
    },
    () => killApi(apis[1]),
    async () => {
      await Promise.all(apis.map((api) => api.kill()));
      await Promise.all(apis.map((api) => api.start()));
    },
  ];
}

/** Null where the call was not answered, or refused because something was being killed. */
async function create(api: ApiProcess | undefined, key: string, seed: number): Promise<string | null> {
  const answer = await fetch(`${api?.url}/v0/sql/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({ sql: text(seed) }),
  }).catch(() => null);
  if (answer?.status !== 202) return null;
  const body = await answer.json().catch(() => null);
  return (body as Job | null)?.job ?? null;
}

async function read(api: ApiProcess | undefined, key: string, path: string): Promise<Response | null> {
  return fetch(`${api?.url}${path}`, { headers: { 'x-api-key': key } }).catch(() => null);
}

async function endedJobs(
  apis: readonly ApiProcess[],
  key: string,
  accepted: ReadonlyMap<string, number>,
): Promise<readonly Job[]> {
  const jobs: Job[] = [];
  for (const id of accepted.keys()) {
    await waitUntil(
      `job ${id} has ended`,
      async () => {
        const answer = await read(apis[0], key, `/v0/sql/jobs/${id}`);
        if (answer?.status !== 200) return false;
        const job = (await answer.json()) as Job;
        if (job.state === 'queued' || job.state === 'running') return false;
        jobs.push(job);
        return true;
      },
      ENDED_WITHIN_MS,
    );
  }
  return jobs;
}

async function expectOneEnd(
  job: Job,
  { apis, key, seed }: { readonly apis: readonly ApiProcess[]; readonly key: string; readonly seed: number },
): Promise<void> {
  expect(['succeeded', 'failed']).toContain(job.state);
  if (job.state === 'failed') {
    // Begun twice, and each time something was killed.
    expect(job).toMatchObject({ result: null, usage: { units_charged: 0 } });
    return;
  }
  expect(job.usage.units_charged).toBeGreaterThan(0);
  // Both processes have it whole.
  for (const api of apis) {
    const answer = await read(api, key, `/v0/results/${job.result?.id}?format=csv`);
    expect(answer?.status).toBe(200);
    const lines = ((await answer?.text()) ?? '').trimEnd().split('\n').slice(1);
    expect([lines.length, lines[0]?.split(',')[0], lines.at(-1)?.split(',')[0]]).toEqual([
      ROWS,
      String(seed),
      String(seed + ROWS - 1),
    ]);
  }
}

/** Every hold was captured once, or given back, or its call was never answered; and the charges are those that the jobs say. */
async function expectBooksOf(
  store: ControlStore,
  organizationId: string,
  jobs: readonly Job[],
): Promise<void> {
  const ledger = await readLedger(store, organizationId);
  const captures = ledger.filter(({ kind }) => kind === 'capture');
  expect(new Set(captures.map(({ subject }) => subject)).size).toBe(captures.length);
  const listed = await store.jobs.list({ organizationId, offset: 0, limit: 10_000 });
  const holdOf = new Map(
    listed.map(({ id, request }) => [id, (JSON.parse(request) as { hold: { holdId: string } }).hold.holdId]),
  );
  for (const { job, usage } of jobs) {
    const captured = captures.filter(({ subject }) => subject === holdOf.get(job));
    expect(captured.reduce((sum, { units }) => sum + units, 0)).toBe(usage.units_charged);
  }
  const balance = await store.units.balance(organizationId);
  expect(balance?.spent).toBe(captures.reduce((sum, { units }) => sum + units, 0));
}
