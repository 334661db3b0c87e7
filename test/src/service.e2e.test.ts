import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test as base, expect } from 'vitest';
import { startEmbeddedEngine } from '../../clickhouse/embedded/supervisor.ts';
import { createLog } from '../../core/log.ts';
import { freePort } from '../../core/process/free-port.ts';
import { startDemoChain } from '../../demo/chain/anvil.ts';
import { expectTruth, telemetry } from '../kit/catch-up.ts';
import { startTestService, type TestService, until } from '../kit/service.ts';
import { startTruthWorld } from '../kit/truth-world.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** One service whose only node is not there yet. */
const test = base.extend<{
  $file: { waiting: { readonly service: TestService; readonly nodePort: number } };
}>({
  waiting: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names that a fixture uses from the pattern
    async ({}, use) => {
      const nodePort = await freePort();
      const service = await startTestService({
        chains: [
          { chain: 'base-sepolia', rpcUrls: [`http://127.0.0.1:${nodePort}`], startBlock: 0, pollMs: 50 },
        ],
      });
      await use({ service, nodePort });
      await service.remove();
    },
    { scope: 'file' },
  ],
});

// First, because the service says of a node that it is unreachable after ten seconds, which pass during the test.
test('telemetry is 200 while the engine is killed or stands still, says so, and is whole again by itself', async ({
  waiting: { service },
}) => {
  const statuses = new Set<number>();
  let slowestMs = 0;
  const engineStatus = async (): Promise<string> => {
    const startedMs = performance.now();
    const answer = await fetch(`${service.url}/v0/telemetry`);
    const { engine } = (await answer.json()) as { readonly engine: { readonly status: string } };
    slowestMs = Math.max(slowestMs, performance.now() - startedMs);
    statuses.add(answer.status);
    return engine.status;
  };
  const signal = (name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void => {
    const pid = service.enginePid();
    if (pid === undefined) throw new Error('the engine has no process');
    process.kill(pid, name);
  };
  await until('the engine answers', async () => (await engineStatus()) === 'ok');
  signal('SIGKILL');
  await until('it is seen to be away', async () => (await engineStatus()) === 'unreachable');
  await until('it answers again', async () => (await engineStatus()) === 'ok');
  signal('SIGSTOP');
  await until('it is seen to stand still', async () => (await engineStatus()) === 'unreachable');
  signal('SIGCONT');
  await until('it answers again', async () => (await engineStatus()) === 'ok');
  expect([...statuses]).toEqual([200]);
  // Six seconds were measured: the engine has three for the first question, and the client waits longer before it gives up.
  expect(slowestMs).toBeLessThan(15_000);
});

test('without a reachable node the service still serves, says so, keeps trying, and indexes once the node is there', async ({
  waiting: { service, nodePort },
}) => {
  const empty = await fetch(`${service.url}/v0/flows`);
  expect(empty.status).toBe(200);
  expect(await empty.json()).toMatchObject({
    flows: [],
    next_before: null,
    meta: { dataset_row_count: 0, dataset_last_written_at: null },
  });
  await until('telemetry says that the node does not answer', async () => {
    const { status, state, last_error } = await telemetry(service.url);
    return status === 'degraded' && state === 'unreachable' && last_error === 'rpc_unreachable';
  });
  const chain = await startDemoChain({ port: nodePort });
  cleanups.push(() => chain.stop());
  await until('the chain is followed', async () => (await telemetry(service.url)).state === 'following');
});

test('a node of another chain stops that chain with its reason and indexes nothing', async () => {
  const chain = await startDemoChain({ chainId: 31_337 });
  cleanups.push(() => chain.stop());
  const service = await startTestService({
    chains: [{ chain: 'base-sepolia', rpcUrls: [chain.url], startBlock: 0, pollMs: 50 }],
  });
  cleanups.push(() => service.remove());
  await until(
    'the chain is stopped',
    async () => (await telemetry(service.url)).last_error === 'wrong_chain',
  );
  expect((await telemetry(service.url)).state).toBe('stopped');
});

test('API and ingest as processes of their own over a ClickHouse that is not ours serve the same truth', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'settlement-index-remote-'));
  const database = `remote_${randomBytes(4).toString('hex')}`;
  const engine = await startEmbeddedEngine({
    dataDir,
    database,
    maxMemoryMegabytes: 2048,
    log: createLog('error', 'test'),
  });
  cleanups.push(async () => {
    await engine.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const made = await startTruthWorld(21);
  cleanups.push(() => made.stop());
  await made.grow(90);
  const { url, writer, reader } = engine.access;
  const parts = {
    chains: [made.serviceChain(made.chain.url)],
    catalogue: made.serviceCatalogue(),
    clickhouse: { url, database, writer, reader },
  };
  const api = await startTestService({ ...parts, role: 'api' });
  cleanups.push(() => api.remove());
  const ingest = await startTestService({ ...parts, role: 'ingest' });
  cleanups.push(() => ingest.remove());
  await expectTruth(made, api.url);
});
