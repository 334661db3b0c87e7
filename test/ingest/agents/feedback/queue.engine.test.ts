import { keccak_256 } from '@noble/hashes/sha3.js';
import { afterEach, expect } from 'vitest';
import { sql, text as textValue } from '../../../../clickhouse/engine/sql.ts';
import { ATTESTATIONS, type Attestation } from '../../../../clickhouse/tables/registries.ts';
import { insertRows } from '../../../../clickhouse/tables/table.ts';
import type { Hash } from '../../../../core/domain/account.ts';
import {
  type FeedbackQueueDeps,
  fetchDueFeedback,
  fetchFeedback,
} from '../../../../ingest/agents/feedback/queue.ts';
import { createVersions } from '../../../../ingest/write/versions.ts';
import { type TestEngine, testLog } from '../../../kit/engine.ts';
import { engineTest as test } from '../../../kit/fixtures-ingest.ts';
import { dataUri, emptyIdentityTables, identitiesConfig, loopbackFetcher } from '../../../kit/identities.ts';
import { attestation } from '../../../kit/registry-rows.ts';
import { BASE, hash, wallet } from '../../../kit/rows.ts';
import { type StrangerServer, strangerServer } from '../../../kit/stranger-server.ts';
import { waitUntil } from '../../../kit/wait-until.ts';

const NOW = 1_800_000_000;
const REGISTRY = `${BASE}:0x8004a169fb4a3325136eb29fa0ceb6d2e539a432`;
const PROOF = { fromAddress: wallet(1), toAddress: wallet(2), chainId: '8453', txHash: hash(3) };
const CLIENT = wallet(0xc1);

let now = NOW;
const versions = createVersions(0n);
const servers: StrangerServer[] = [];

test.beforeEach(async ({ engine }) => {
  now = NOW;
  await emptyIdentityTables(engine.writer);
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(...parameters: Parameters<typeof strangerServer>): Promise<StrangerServer> {
  const server = await strangerServer(...parameters);
  servers.push(server);
  return server;
}

function queue(engine: TestEngine, fields: Partial<FeedbackQueueDeps> = {}): FeedbackQueueDeps {
  const config = identitiesConfig();
  return {
    config,
    fetcher: loopbackFetcher(config.identities),
    writer: engine.writer,
    clock: { nowMs: () => now * 1_000 },
    log: testLog,
    signal: new AbortController().signal,
    limits: { hostPauseMs: 0 },
    ...fields,
  };
}

/** As ingest writes them: with the room between versions that the queue writes into. */
async function write(engine: TestEngine, rows: readonly Attestation[], del: 0 | 1 = 0): Promise<void> {
  await insertRows(engine.writer, {
    name: 'test-feedback',
    table: ATTESTATIONS,
    rows,
    fixed: { ver: versions.next(), del },
  });
}

/** Feedback logs, in blocks 2000, 2001, … */
async function rate(engine: TestEngine, ...logs: readonly Partial<Attestation>[]): Promise<void> {
  await write(
    engine,
    logs.map((log, at) => attestation({ blockNumber: 2_000 + at, agentId: 5n, client: CLIENT, ...log })),
  );
}

async function files(engine: TestEngine): Promise<Record<string, unknown>[]> {
  const { rows } = await engine.reader.rows({
    name: 'test-feedback-files',
    sql: sql`SELECT toString(status), problem, failures, toUnixTimestamp(next_try_at), hash_matches, proof_chain,
        concat('0x', lower(hex(proof_tx))), concat('0x', lower(hex(proof_from))), concat('0x', lower(hex(proof_to))), del, toString(agent_id), comment, comment_rule
      FROM feedback_files FINAL ORDER BY block_number`,
    maxSeconds: 10,
    maxRows: 100,
  });
  const names = [
    'status',
    'problem',
    'failures',
    'next',
    'matches',
    'chain',
    'tx',
    'from',
    'to',
    'del',
    'agent',
    'comment',
    'rule',
  ];
  return rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]])));
}

function hashOf(text: string): Hash {
  return `0x${Buffer.from(keccak_256(Buffer.from(text))).toString('hex')}`;
}

test('a file is read once, its payment kept, and its bytes held against the hash on chain', async ({
  engine,
}) => {
  const file = {
    agentRegistry: REGISTRY,
    agentId: 5,
    clientAddress: `${BASE}:${CLIENT}`,
    comment: 'Paid,  and\tserved.',
    proofOfPayment: PROOF,
  };
  const text = JSON.stringify(file);
  const server = await serve((_request, response) => response.end(text));
  const uri = `http://127.0.0.1:${server.port}/f.json`;
  await rate(
    engine,
    { uri: dataUri(file), fileHash: hashOf(text) },
    { uri, fileHash: hashOf(`${text} `) },
    { uri, fileHash: hash(0) },
    { uri: '' },
  );
  expect(await fetchDueFeedback(queue(engine))).toMatchObject({ fetched: 3, total: 3 });
  const proof = { chain: BASE, tx: hash(3), from: wallet(1), to: wallet(2) };
  const good = {
    status: 'good',
    problem: '',
    failures: 0,
    next: 4_294_967_295,
    del: 0,
    agent: '5',
    rule: 1,
    ...proof,
  };
  expect(await files(engine)).toEqual([
    { ...good, matches: 1, comment: 'Paid, and served.' },
    { ...good, matches: 0, comment: '' }, // not the file that was logged
    { ...good, matches: 1, comment: 'Paid, and served.' },
  ]);
  expect(await fetchDueFeedback(queue(engine))).toMatchObject({ fetched: 0, total: 0 });
});

test('a file that names another agent or another client than the log is kept as that', async ({ engine }) => {
  await rate(
    engine,
    { uri: dataUri({ agentId: 6, proofOfPayment: PROOF }) },
    { uri: dataUri({ agentId: 5, agentRegistry: REGISTRY.replace('8453', '1') }) },
    { uri: dataUri({ agentId: '5', clientAddress: wallet(9) }) },
    { uri: dataUri({}) },
  );
  await fetchDueFeedback(queue(engine));
  expect((await files(engine)).map(({ status, problem }) => [status, problem])).toEqual([
    ['good', 'other_agent'],
    ['good', 'other_agent'],
    ['good', 'other_client'],
    ['good', ''],
  ]);
});

test('a file that cannot be had is tried less and less often, and in the end no more', async ({ engine }) => {
  let status = 404;
  const server = await serve((_request, response) => response.writeHead(status).end('{}'));
  await rate(
    engine,
    { uri: `http://127.0.0.1:${server.port}/` },
    { uri: 'data:application/json,nothing' },
    { uri: 'ftp://a.invalid/' },
  );
  await fetchDueFeedback(queue(engine));
  const [first, data, ftp] = await files(engine);
  expect(first).toMatchObject({ status: 'failed', problem: 'refused', failures: 1, matches: 0 });
  expect(Number(first?.['next'])).toBeGreaterThanOrEqual(NOW + 600);
  expect(data).toMatchObject({ status: 'failed', problem: 'not_json', next: 4_294_967_295 });
  expect(ftp).toMatchObject({ status: 'failed', problem: 'unsupported_scheme', next: 4_294_967_295 });
  for (let tries = 2; tries <= 18; tries++) {
    now += 9 * 86_400;
    expect(await fetchDueFeedback(queue(engine))).toMatchObject({ fetched: 1 });
  }
  status = 200;
  now += 365 * 86_400;
  expect(await fetchDueFeedback(queue(engine))).toMatchObject({ fetched: 0 });
  expect(server.asked).toHaveLength(18);
  expect((await files(engine))[0]).toMatchObject({ failures: 18, next: 4_294_967_295 });
});

test('a log that a reorg takes back, or replaces, while its file is fetched stays taken back or replaced', async ({
  engine,
}) => {
  const answers: (() => void)[] = [];
  const server = await serve((_request, response) => void answers.push(() => response.end('{"agentId":5}')));
  const uri = (n: number): string => `http://127.0.0.1:${server.port}/${n}`;
  const logs = [
    attestation({ blockNumber: 2_000, agentId: 5n, client: CLIENT, uri: uri(0) }),
    attestation({ blockNumber: 2_001, agentId: 5n, client: CLIENT, uri: uri(1) }),
  ];
  await write(engine, logs);
  const fetching = fetchDueFeedback(queue(engine));
  await waitUntil('it is asked', () => answers.length > 0);
  await write(engine, logs, 1);
  await write(engine, [attestation({ blockNumber: 2_001, agentId: 6n, client: CLIENT, uri: uri(2) })]);
  const pump = setInterval(() => {
    for (const answer of answers.splice(0)) answer();
  }, 5);
  await fetching;
  expect(await files(engine)).toMatchObject([{ del: 1 }, { del: 0, status: 'new', agent: '6' }]);
  expect(await fetchDueFeedback(queue(engine))).toMatchObject({ fetched: 1 });
  clearInterval(pump);
  expect((await files(engine))[1]).toMatchObject({ status: 'good', problem: 'other_agent', agent: '6' });
});

test('a file that was read before comments were is fetched once more for its comment, and keeps what was found then', async ({
  engine,
}) => {
  let status = 503;
  const text = JSON.stringify({ agentId: 6, comment: 'Still here.' });
  const server = await serve((_request, response) => response.writeHead(status).end(text));
  const uri = `http://127.0.0.1:${server.port}/`;
  await rate(engine, { uri, fileHash: hashOf(text) }, { uri: dataUri({ comment: 'In the URI.' }) });
  await engine.writer.run({
    name: 'test-older-release',
    maxSeconds: 10,
    sql: sql`INSERT INTO feedback_files SELECT * REPLACE('good' AS status, 1 AS hash_matches, 4294967295 AS next_try_at, ver + 1 AS ver,
      ${textValue(BASE)} AS proof_chain, unhex(repeat('00', 32)) AS proof_tx, unhex(repeat('00', 20)) AS proof_from, unhex(repeat('00', 20)) AS proof_to, if(block_number = 2000, 'other_agent', '') AS problem) FROM feedback_files FINAL`,
  });
  expect(await fetchDueFeedback(queue(engine))).toMatchObject({ fetched: 2, total: 2 });
  const found = { status: 'good', matches: 1, chain: BASE };
  const done = { ...found, comment: 'In the URI.', rule: 1, failures: 0, next: 4_294_967_295 };
  expect(await files(engine)).toMatchObject([
    { ...found, problem: 'other_agent', comment: '', rule: 0, failures: 1 },
    done,
  ]);
  expect(await fetchDueFeedback(queue(engine))).toMatchObject({ fetched: 0, total: 0 });
  status = 200;
  now += 86_400;
  expect(await fetchDueFeedback(queue(engine))).toMatchObject({ fetched: 1, total: 1 });
  // It names another agent than the log: its words are not shown as the client's.
  expect(await files(engine)).toMatchObject([
    { ...found, problem: 'other_agent', comment: '', rule: 1, failures: 0, next: 4_294_967_295 },
    done,
  ]);
  expect(await fetchDueFeedback(queue(engine))).toMatchObject({ fetched: 0, total: 0 });
});

test('the queue runs until it is stopped', async ({ engine }) => {
  const ending = new AbortController();
  const running = fetchFeedback(
    queue(engine, { signal: ending.signal, limits: { pollMs: 10, fullEveryMs: 0, restFactor: 0 } }),
  );
  await rate(engine, { uri: dataUri({ proofOfPayment: PROOF }) });
  await waitUntil('it is fetched', async () => (await files(engine))[0]?.['status'] === 'good');
  ending.abort();
  await running;
});
