import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Writer } from '../../../../clickhouse/engine/engine.ts';
import { sql } from '../../../../clickhouse/engine/sql.ts';
import { loadConfig } from '../../../../core/config/load.ts';
import { decodeContextOf } from '../../../../ingest/decode/context.ts';
import { createChainStatus } from '../../../../ingest/follow/chain-status.ts';
import { createEvmWindows } from '../../../../ingest/follow/evm-windows.ts';
import { createPipeline, type Pipeline } from '../../../../ingest/follow/pipeline.ts';
import { regrade } from '../../../../ingest/grading/regrade/command.ts';
import { type FollowedCatalogue, openCatalogue } from '../../../../ingest/grading/regrade/follow.ts';
import { createBatchWriter } from '../../../../ingest/write/batch-writer.ts';
import { createVersions } from '../../../../ingest/write/versions.ts';
import { batchOf, TOKENS, transfer, used, wallet } from '../../../kit/chain-logs.ts';
import { type TestEngine, testEngine, testLog } from '../../../kit/engine.ts';
import { BASE, NO_COUNTERS, reportChain } from '../../../kit/rows.ts';
import { waitUntil } from '../../../kit/wait-until.ts';

let engine: TestEngine;
let directory: string;
let ending: AbortController;
const running: Promise<unknown>[] = [];
beforeEach(async () => {
  engine = await testEngine();
  directory = mkdtempSync(join(tmpdir(), 'settlement-index-catalogue-'));
  ending = new AbortController();
  write('config.json', { catalogue: { file: join(directory, 'catalogue.json') } });
  write('catalogue.json', {});
});
afterEach(async () => {
  ending.abort();
  await Promise.allSettled(running.splice(0));
  await engine?.close();
  rmSync(directory, { recursive: true, force: true });
});

const [ALICE, SHOP, ANN] = [wallet(0xa1), wallet(0x51), wallet(0xa22)];
const ANN_NAMED = {
  facilitators: [{ id: 'ann', relayers: [{ chain: 'base', address: ANN, firstSeen: '2026-01-01' }] }],
};

/** As an editor saves: the file is replaced as a whole. */
function write(name: string, content: unknown): void {
  const path = join(directory, name);
  writeFileSync(`${path}.new`, typeof content === 'string' ? content : JSON.stringify(content));
  renameSync(`${path}.new`, path);
}

const config = () =>
  loadConfig({ file: join(directory, 'config.json'), env: { PUBLIC_FACILITATORS: 'false' } });

/** Soon, so that the tests do not wait for the second that an ingest process takes. */
const LOOK_EVERY_MS = 50;

async function follow(followConfig = config()): Promise<FollowedCatalogue> {
  const followed = await openCatalogue({
    config: followConfig,
    writer: engine.writer,
    versions: createVersions(0n),
    log: testLog,
    signal: ending.signal,
    lookEveryMs: LOOK_EVERY_MS,
  });
  running.push(followed.follow());
  running.at(-1)?.catch(() => undefined);
  return followed;
}

const payments = (from: number) =>
  batchOf([[{ from: ANN, events: [used(ALICE), transfer(ALICE, SHOP, 5)] }]], from);

/** The real pipeline over blocks that need no node: one payment of Alice each, relayed by Ann. */
function pipelineWith({ holder }: FollowedCatalogue, blocks = payments, writer = engine.writer): Pipeline {
  const context = decodeContextOf({ chain: BASE, tokens: TOKENS, registries: {} }, holder.current());
  return createPipeline({
    catalogues: holder,
    windows: createEvmWindows({
      source: { read: (from) => Promise.resolve(blocks(from)), receipts: async () => [] },
      context,
      writer,
    }),
    batches: createBatchWriter({
      chain: BASE,
      writer,
      versions: createVersions(0n),
      log: testLog,
      signal: ending.signal,
    }),
    status: createChainStatus(
      { chain: BASE, pollMs: 1_000 },
      { counters: () => ({ calls: 0, retries: 0, contradictions: 0, contradictedAtMs: 0 }) },
      NO_COUNTERS,
    ),
  });
}

async function grades(): Promise<readonly (readonly unknown[])[]> {
  const { rows } = await engine.reader.rows({
    name: 'grades',
    sql: sql`SELECT facilitator, toString(method), toUInt32(count()) FROM settlements FINAL WHERE del = 0 GROUP BY 1, 2 ORDER BY 1`,
    maxSeconds: 10,
    maxRows: 10,
  });
  return rows;
}

const openPasses = async () =>
  (
    await engine.reader.rows({
      name: 'open',
      sql: sql`SELECT max(pass), countIf(pass NOT IN (SELECT pass FROM (SELECT * FROM regrade_progress FINAL) WHERE finished = 1)) FROM catalogue_passes`,
      maxSeconds: 10,
      maxRows: 1,
    })
  ).rows[0]?.map(Number) ?? [];
const isSettled = async (pass: number) => {
  const [newest = 0, open = 1] = await openPasses();
  return newest >= pass && open === 0;
};

test('a catalogue that changes while blocks are being indexed leaves no row graded by the old one', async () => {
  const followed = await follow();
  await waitUntil('the first catalogue is settled', () => isSettled(1));
  const pipeline = pipelineWith(followed);
  let stop = false;
  let block = 0;
  const work = async () => {
    while (!stop) {
      block += 1;
      await pipeline.store(await pipeline.read(block, block));
    }
  };
  const workers = [work(), work(), work()];
  await waitUntil('rows of the old catalogue', () => block > 50);
  write('catalogue.json', ANN_NAMED);
  await waitUntil('the new catalogue is settled', () => isSettled(2), 30_000);
  stop = true;
  await Promise.all(workers);
  expect(await grades()).toEqual([['ann', 'facilitator_relay', block]]);
}, 60_000);

test('a regrade waits for rows that were graded by the old catalogue and are still under way', async () => {
  const followed = await follow();
  await waitUntil('the first catalogue is settled', () => isSettled(1));
  const gate = { open: (): void => undefined };
  const opened = new Promise<void>((resolve) => (gate.open = resolve));
  const slow: Writer = {
    ...engine.writer,
    insert: (...insert) => opened.then(() => engine.writer.insert(...insert)),
  };
  const late = pipelineWith(followed, payments, slow);
  const storing = late.store(await late.read(1, 1));
  write('catalogue.json', ANN_NAMED);
  await waitUntil('the new catalogue is in force', () =>
    followed.holder.current().relayers.some(({ address }) => address === ANN),
  );
  const other = pipelineWith(followed);
  for (let block = 2; block <= 30; block++) {
    await other.store(await other.read(block, block));
    expect(await isSettled(2)).toBe(false);
  }
  gate.open();
  await storing;
  await waitUntil('the new catalogue is settled', () => isSettled(2));
  expect(await grades()).toEqual([['ann', 'facilitator_relay', 30]]);
}, 60_000);

test('a bare transfer is not kept when its payee left the catalogue between the reading and the writing', async () => {
  const bare = (from: number) => batchOf([[{ from: ANN, events: [transfer(ALICE, SHOP, 5)] }]], from);
  write('catalogue.json', { payees: [{ chain: 'base', address: SHOP }] });
  const { holder, ...followed } = await follow();
  const pipeline = pipelineWith({ holder, ...followed }, bare);
  await pipeline.store(await pipeline.read(1, 1));
  const late = await pipeline.read(2, 2);
  write('catalogue.json', {});
  await waitUntil('the payee is gone', () => isSettled(2));
  const early = await pipeline.read(3, 3);
  await pipeline.store(late);
  write('catalogue.json', { payees: [{ chain: 'base', address: SHOP }] });
  await waitUntil('the payee is back', () => isSettled(3));
  // The payee was not catalogued when `early` was read, so the transaction of the transfer was not fetched.
  await pipeline.store(early);
  expect(await grades()).toEqual([]);
});

test('a catalogue file that cannot be used leaves the old one in force, also over a restart, until it is mended', async () => {
  write('catalogue.json', ANN_NAMED);
  const atStart = config();
  const isAnn = ({ holder }: FollowedCatalogue) =>
    holder.current().facilitatorOf(BASE, ANN, 1_790_000_000) === 'ann';
  const followed = await follow(atStart);
  await waitUntil('settled', () => isSettled(1));
  write('catalogue.json', '{ "facilitators": [ ');
  const restarted = await follow(atStart);
  expect(isAnn(restarted)).toBe(true);
  expect((await openPasses())[0]).toBe(1);
  write('catalogue.json', { payees: [{ chain: 'base', address: SHOP }] });
  await waitUntil('the mended file counts', () => !isAnn(followed) && !isAnn(restarted));
  await waitUntil('settled again', () => isSettled(2));
});

test('the command waits until a running ingest process has followed the catalogue', async () => {
  const followed = await follow();
  await waitUntil('settled', () => isSettled(1));
  const pipeline = pipelineWith(followed);
  await pipeline.store(await pipeline.read(1, 1));
  const beat = setInterval(() => {
    void reportChain(engine.writer, BASE, { updated_at: 'now64(3)' }).catch(() => undefined);
  }, 200);
  try {
    await reportChain(engine.writer, BASE, { updated_at: 'now64(3)' });
    write('catalogue.json', ANN_NAMED);
    const said: string[] = [];
    await regrade(
      {
        config: config(),
        access: engine.access,
        log: testLog,
        signal: ending.signal,
        say: (line) => said.push(line),
      },
      {},
    );
    expect(said[0]).toContain('the running service takes the change');
    expect(await grades()).toEqual([['ann', 'facilitator_relay', 1]]);
    expect((await openPasses())[0]).toBe(2);
  } finally {
    clearInterval(beat);
  }
});

test('the command alone previews and then does the same, in one JSON object each', async () => {
  const followed = await follow();
  await waitUntil('settled', () => isSettled(1));
  const pipeline = pipelineWith(followed);
  await pipeline.store(await pipeline.read(1, 1));
  ending.abort();
  await Promise.allSettled(running.splice(0));
  write('catalogue.json', ANN_NAMED);
  const run = async (given: { dryRun?: boolean; json?: boolean }) => {
    const said: string[] = [];
    const signal = new AbortController().signal;
    await regrade(
      { config: config(), access: engine.access, log: testLog, signal, say: (line) => said.push(line) },
      given,
    );
    return said;
  };
  const [preview] = await run({ dryRun: true, json: true });
  expect(JSON.parse(preview ?? '')).toMatchObject({
    rows: 1,
    lines: [{ rows: 1, change: `relayer ${BASE} ${ANN}` }],
  });
  expect((await run({ dryRun: true })).at(-1)).toBe('total: 1 rows would be regraded; nothing was written');
  expect(await grades()).toEqual([['', 'gasless_authorization', 1]]);
  expect(await run({ json: true })).toEqual(['{"pass":2,"rows":1}']);
  expect(await run({})).toEqual(['nothing to do: every row follows the catalogue']);
});

test('signers that a facilitator shows are named from that day on, and no other facilitator’s', async () => {
  const today = new Date().toISOString().slice(0, 10);
  const taken = wallet(0x7a);
  const server = createServer((_request, response) =>
    response.end(JSON.stringify({ signers: { 'eip155:*': [ANN, taken] } })),
  );
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  try {
    write('catalogue.json', {
      facilitators: [
        { id: 'ann', url: `http://127.0.0.1:${port}` },
        { id: 'owner', relayers: [{ chain: 'base', address: taken, firstSeen: '2026-01-01' }] },
      ],
    });
    const { holder } = await follow();
    await waitUntil('the signer is named', () =>
      holder.current().relayers.some((entry) => entry.address === ANN),
    );
    expect(holder.current().relayers.find((entry) => entry.address === ANN)).toMatchObject({
      facilitator: 'ann',
      firstSeen: today,
      source: 'supported',
    });
    expect(holder.current().facilitatorOf(BASE, taken, Date.now() / 1_000)).toBe('owner');
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
