import type { RequestListener } from 'node:http';
import { afterEach, describe, expect } from 'vitest';
import { sql, trustedText } from '../../../../clickhouse/engine/sql.ts';
import { AGENT_CARDS } from '../../../../clickhouse/tables/agents.ts';
import { columnNames } from '../../../../clickhouse/tables/table.ts';
import {
  type CardQueueDeps,
  fetchCards,
  fetchDueCards,
  remapCards,
} from '../../../../ingest/agents/cards/queue.ts';
import { deriveDue } from '../../../../ingest/agents/derive.ts';
import { createVersions } from '../../../../ingest/write/versions.ts';
import { type TestEngine, testLog } from '../../../kit/engine.ts';
import { engineTest as test } from '../../../kit/fixtures-ingest.ts';
import { dataUri, emptyIdentityTables, identitiesConfig, loopbackFetcher } from '../../../kit/identities.ts';
import { agentEvent, insertAgentEvents, registration } from '../../../kit/registry-rows.ts';
import { BASE } from '../../../kit/rows.ts';
import { type StrangerServer, strangerServer } from '../../../kit/stranger-server.ts';
import { waitUntil } from '../../../kit/wait-until.ts';

const NOW = 1_800_000_000;
const DAY = 86_400;
const NEVER = 4_294_967_295;

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

async function serve(listener: RequestListener): Promise<StrangerServer> {
  const server = await strangerServer(listener);
  servers.push(server);
  return server;
}

function queue(engine: TestEngine, fields: Partial<CardQueueDeps> = {}): CardQueueDeps {
  const config = fields.config ?? identitiesConfig();
  return {
    config,
    fetcher: loopbackFetcher(config.identities),
    writer: engine.writer,
    versions,
    clock: { nowMs: () => now * 1_000 },
    log: testLog,
    signal: new AbortController().signal,
    limits: { hostPauseMs: 0 },
    ...fields,
  };
}

async function derive(engine: TestEngine): Promise<void> {
  const deps = { writer: engine.writer, versions, log: testLog, signal: new AbortController().signal };
  while ((await deriveDue(deps)) > 0);
}

/** Agents 0, 1, … with these URIs, derived. */
async function register(engine: TestEngine, ...uris: readonly string[]): Promise<void> {
  const events = uris.flatMap((text, id) =>
    registration({ agentId: BigInt(id), blockNumber: 1_000 + id, text }),
  );
  await insertAgentEvents(engine.writer, events);
  await derive(engine);
}

async function changeUri(engine: TestEngine, id: number, text: string): Promise<void> {
  await insertAgentEvents(engine.writer, [
    agentEvent({ kind: 'uri_updated', agentId: BigInt(id), blockNumber: 2_000 + id, text }),
  ]);
  await derive(engine);
}

/** One batch, and what it makes of the agents. */
async function fetchAll(engine: TestEngine, fields: Partial<CardQueueDeps> = {}): Promise<number> {
  const { fetched } = await fetchDueCards(queue(engine, fields));
  await derive(engine);
  return fetched;
}

async function cards(engine: TestEngine): Promise<Record<string, unknown>[]> {
  const { rows } = await engine.reader.rows({
    name: 'test-cards',
    sql: sql`SELECT toString(agent_id), toString(status), problem, failures, toUnixTimestamp(next_try_at), name, capabilities,
               claims_agent, domain, toString(domain_proof), uri = good_uri
             FROM agent_cards FINAL ORDER BY agent_id`,
    maxSeconds: 10,
    maxRows: 1_000,
  });
  const names = [
    'id',
    'status',
    'problem',
    'failures',
    'next',
    'name',
    'capabilities',
    'claims',
    'domain',
    'proof',
    'current',
  ];
  return rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]])));
}

async function agentNames(engine: TestEngine): Promise<unknown[]> {
  const { rows } = await engine.reader.rows({
    name: 'test-agent-names',
    sql: sql`SELECT name, toString(card_status), card_problem FROM agents FINAL WHERE del = 0 ORDER BY agent_id`,
    maxSeconds: 10,
    maxRows: 1_000,
  });
  return rows.map((row) => [...row]);
}

const json =
  (file: unknown): RequestListener =>
  (_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(file));
  };

describe('an agent’s card', () => {
  test('is fetched from data, https and ipfs, once', async ({ engine }) => {
    const server = await serve(json({ name: 'Served' }));
    const config = identitiesConfig({ ipfsGateways: [`http://127.0.0.1:${server.port}`] });
    const ipfs = 'ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi';
    await register(engine, dataUri({ name: 'Data' }), `http://127.0.0.1:${server.port}/card.json`, ipfs, '');
    expect(await fetchAll(engine, { config, fetcher: loopbackFetcher(config.identities) })).toBe(3);
    expect(await agentNames(engine)).toEqual([
      ['Data', 'good', ''],
      ['Served', 'good', ''],
      ['Served', 'good', ''],
      ['', 'none', 'empty_uri'],
    ]);
    expect(await fetchAll(engine)).toBe(0);
    expect(server.asked.sort()).toEqual([
      '/.well-known/agent-registration.json',
      '/card.json',
      expect.stringContaining('/ipfs/bafy'),
    ]);
  });

  test('is not fetched again before the derivation has seen it', async ({ engine }) => {
    await register(engine, dataUri({ name: 'Data' }));
    expect(await fetchDueCards(queue(engine))).toMatchObject({ fetched: 1, total: 1 });
    expect(await fetchDueCards(queue(engine))).toMatchObject({ fetched: 0, total: 1 });
  });

  test('that cannot change is left alone, one on a server is read again after a day', async ({ engine }) => {
    let name = 'First';
    const server = await serve((_request, response) => response.end(JSON.stringify({ name })));
    await register(engine, dataUri({ name: 'Data' }), `http://127.0.0.1:${server.port}/`);
    await fetchAll(engine);
    const [data, served] = await cards(engine);
    expect(data).toMatchObject({ next: NEVER });
    expect(Number(served?.['next'])).toBeGreaterThanOrEqual(NOW + DAY);
    name = 'Second';
    now = NOW + 1.2 * DAY + 1;
    expect(await fetchAll(engine)).toBe(1);
    expect((await agentNames(engine))[1]).toEqual(['Second', 'good', '']);
  });

  test('that fails keeps the last good one and the reason, and is tried less and less often', async ({
    engine,
  }) => {
    let status = 200;
    const server = await serve((_request, response) => response.writeHead(status).end('{"name":"Good"}'));
    await register(engine, `http://127.0.0.1:${server.port}/`);
    await fetchAll(engine);
    status = 500;
    const waits: number[] = [];
    for (let failures = 1; failures <= 3; failures++) {
      const [before] = await cards(engine);
      now = Math.max(now, Number(before?.['next']));
      await fetchAll(engine);
      const [card] = await cards(engine);
      expect(card).toMatchObject({ status: 'failed', problem: 'refused', failures, name: 'Good' });
      waits.push(Number(card?.['next']) - now);
    }
    expect(await agentNames(engine)).toEqual([['Good', 'failed', 'refused']]);
    for (const [index, wait] of waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual(600 * 2 ** index);
      expect(wait).toBeLessThanOrEqual(720 * 2 ** index);
    }
    status = 200;
    now = NOW + 365 * DAY;
    await fetchAll(engine);
    expect(await cards(engine)).toMatchObject([{ status: 'good', problem: '', failures: 0 }]);
  });

  test('is fetched at once when its URI changes, and a new one that fails leaves the old card', async ({
    engine,
  }) => {
    await register(engine, dataUri({ name: 'Old' }));
    await fetchAll(engine);
    await changeUri(engine, 0, 'data:application/json,{broken');
    expect(await fetchAll(engine)).toBe(1);
    expect(await cards(engine)).toMatchObject([
      { status: 'failed', problem: 'not_json', failures: 1, name: 'Old', current: 0, next: NEVER },
    ]);
    await changeUri(engine, 0, dataUri({ name: 'New' }));
    expect(await fetchAll(engine)).toBe(1);
    expect(await cards(engine)).toMatchObject([
      { status: 'good', problem: '', failures: 0, name: 'New', current: 1 },
    ]);
  });

  test('that is hostile costs a reason and nothing else', async ({ engine }) => {
    const secret = await serve(json({ name: 'Secret' }));
    const hostile = await serve((request, response) => {
      const answers: Record<string, () => void> = {
        '/endless': () => {
          const more = (): void => {
            while (!response.destroyed && response.write('x'.repeat(60_000)));
          };
          response.on('drain', more);
          more();
        },
        '/html': () => response.setHeader('content-type', 'text/html').end('<script>'),
        '/deep': () => response.end(`{"name":${'['.repeat(100_000)}`),
        '/loop': () => response.writeHead(302, { location: '/loop' }).end(),
        '/inward': () => response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
        '/slow': () => response.write('{"name":'),
        '/utf8': () => response.end(Buffer.from('7b226e616d65223a22ff227d', 'hex')),
        '/list': () => response.end('[]'),
      };
      answers[request.url ?? '']?.();
    });
    const paths = ['endless', 'html', 'deep', 'loop', 'inward', 'slow', 'utf8', 'list'];
    await register(
      engine,
      ...paths.map((path) => `http://127.0.0.1:${hostile.port}/${path}`),
      'http://10.0.0.1/',
      'http://inner.test/',
      'file:///etc/passwd',
      'not a uri',
    );
    const config = identitiesConfig();
    const fetcher = loopbackFetcher(config.identities, { 'inner.test': ['192.168.0.1'] });
    await fetchAll(engine, { config, fetcher });
    expect((await cards(engine)).map((card) => card['problem'])).toEqual([
      'too_large',
      'wrong_media_type',
      'too_deep',
      'too_many_redirects',
      'forbidden_address',
      'timeout',
      'not_utf8',
      'not_an_object',
      'forbidden_address',
      'forbidden_address',
      'unsupported_scheme',
      'malformed_uri',
    ]);
    expect(secret.asked).toEqual([]);
  });

  test('on loopback is not fetched where the configuration does not open it', async ({ engine }) => {
    const server = await serve(json({ name: 'Inside' }));
    await register(engine, `http://127.0.0.1:${server.port}/`, `https://127.0.0.1:${server.port}/`);
    const config = identitiesConfig({ allowPrivateHosts: false, allowHttp: true, ports: [server.port] });
    await fetchAll(engine, { config, fetcher: loopbackFetcher(config.identities) });
    expect((await cards(engine)).map((card) => card['problem'])).toEqual([
      'forbidden_address',
      'forbidden_address',
    ]);
    expect(server.connections()).toBe(0);
  });

  test('is mapped onto capabilities, and anew when the rule has changed', async ({ engine }) => {
    const services = [
      { name: 'MCP', endpoint: 'https://a.invalid/mcp', skills: ['web search', 'search the web'] },
    ];
    await register(engine, dataUri({ name: 'Seeker', description: 'web search for agents', services }));
    await fetchAll(engine);
    const [card] = await cards(engine);
    expect(card?.['capabilities']).toContain('web-search');
    // As an older program would have left it.
    const columns = columnNames(AGENT_CARDS);
    const changed = columns.map((column) => {
      if (column === 'ver') return 'ver + 1';
      if (column === 'rule_version') return '0';
      return column === 'capabilities' ? '[]' : column;
    });
    await engine.writer.run({
      name: 'test-older-rule',
      sql: sql`INSERT INTO agent_cards (${trustedText(columns.join(', '))}) SELECT ${trustedText(changed.join(', '))} FROM agent_cards FINAL`,
      maxSeconds: 10,
    });
    expect((await cards(engine))[0]?.['capabilities']).toEqual([]);
    expect(await remapCards(queue(engine))).toBe(1);
    expect(await cards(engine)).toEqual([card]);
    expect(await remapCards(queue(engine))).toBe(0);
  });
});

describe('a domain', () => {
  const REGISTRY = `${BASE}:0x8004a169fb4a3325136eb29fa0ceb6d2e539a432`;

  test('is proven when its file names the agent, refuted when it names others, and asked once for all of them', async ({
    engine,
  }) => {
    const file = { registrations: [{ agentId: 0, agentRegistry: REGISTRY }] };
    const server = await serve(json(file));
    const web = { name: 'web', endpoint: `http://127.0.0.1:${server.port}/app` };
    await register(engine, dataUri({ services: [web] }), dataUri({ services: [web], ...file }));
    await fetchAll(engine);
    const domain = `127.0.0.1:${server.port}`;
    expect(await cards(engine)).toMatchObject([
      { domain, proof: 'proven', claims: 0 },
      // It claims to be agent 0, which it is not.
      { domain, proof: 'refuted', claims: 0 },
    ]);
    expect(server.asked).toEqual(['/.well-known/agent-registration.json']);
    now = NOW + 1.2 * DAY + 1;
    expect(await fetchAll(engine)).toBe(2);
  });

  test('is unreachable when it has no such file, and unchecked when the card names none', async ({
    engine,
  }) => {
    const page = await serve((_request, response) =>
      response.setHeader('content-type', 'text/html').end('<p>'),
    );
    const empty = await serve((_request, response) => response.writeHead(404).end());
    const at = ({ port }: StrangerServer): string => `http://127.0.0.1:${port}`;
    const own = {
      name: 'Own',
      registrations: [
        {
          agentId: '3',
          agentRegistry: REGISTRY.toUpperCase().replace('EIP155', 'eip155').replace('0X', '0x'),
        },
      ],
    };
    await register(
      engine,
      dataUri({ services: [at(page)] }),
      dataUri({ services: [at(empty)] }),
      dataUri({ name: 'None', services: { email: 'a@b.example', ENS: 'a.eth' } }),
      dataUri(own),
    );
    await fetchAll(engine);
    expect(await cards(engine)).toMatchObject([
      { proof: 'unreachable' },
      { proof: 'unreachable' },
      { proof: 'unchecked', domain: '', next: NEVER },
      { proof: 'unchecked', claims: 1 },
    ]);
  });
});

describe('the queue', () => {
  test('asks one host for one file at a time, and many hosts at once', async ({ engine }) => {
    const busy = new Set<number>();
    let isTwice = false;
    const waiting: (() => void)[] = [];
    // The first answers wait until every host has been asked: a fetcher that asks one host after the other never gets them.
    const host =
      (at: number): RequestListener =>
      (_request, response) => {
        isTwice ||= busy.has(at);
        busy.add(at);
        waiting.push(() => {
          busy.delete(at);
          response.end('{"name":"x"}');
        });
        if (busy.size === 3 || isOpen) for (const answer of waiting.splice(0)) answer();
        isOpen ||= busy.size === 0;
      };
    let isOpen = false;
    const hosts = await Promise.all([0, 1, 2].map((at) => serve(host(at))));
    await register(
      engine,
      ...hosts.flatMap(({ port }) => [1, 2, 3].map((n) => `http://127.0.0.1:${port}/${n}`)),
    );
    expect(await fetchAll(engine, { config: identitiesConfig({ fetchConcurrency: 10 }) })).toBe(9);
    expect((await cards(engine)).map((card) => card['status'])).toEqual(
      Array.from({ length: 9 }, () => 'good'),
    );
    expect(isTwice).toBe(false);
  });

  test('gives a host with many agents its share of a batch, and stops asking one that is down', async ({
    engine,
  }) => {
    const gone = await serve(() => undefined);
    await gone.close();
    const server = await serve(json({ name: 'x' }));
    const many = Array.from({ length: 30 }, (_, n) => `http://127.0.0.1:${server.port}/${n}`);
    const dead = Array.from({ length: 10 }, (_, n) => `http://gone.test:${gone.port}/${n}`);
    await register(engine, ...many, ...dead);
    const { identities } = identitiesConfig();
    const fetcher = loopbackFetcher(identities, { 'gone.test': ['127.0.0.1'] });
    expect(await fetchAll(engine, { fetcher })).toBe(30);
    expect((await cards(engine)).filter((card) => card['problem'] === 'unreachable')).toHaveLength(10);
    expect(server.asked.filter((path) => path.length < 4)).toHaveLength(20);
    expect(await fetchAll(engine)).toBe(10);
  });

  test('finds recent registrations without looking at everything, and older ones by looking at everything', async ({
    engine,
  }) => {
    const at = (afterMs: number): Partial<CardQueueDeps> => ({
      clock: { nowMs: () => Date.now() + afterMs },
    });
    await register(engine, dataUri({ name: 'New' }), dataUri({ name: 'Also' }));
    expect(await fetchDueCards(queue(engine, at(3_600_000)), 'recent')).toMatchObject({ fetched: 0 });
    expect(await fetchDueCards(queue(engine, at(0)), 'recent')).toMatchObject({ fetched: 2, total: 2 });
    expect(await fetchDueCards(queue(engine, at(0)), 'recent')).toMatchObject({ fetched: 0 });
    await changeUri(engine, 1, dataUri({ name: 'Changed' }));
    // The row that said that agent 0 was due is still there; the newest one says that it is not.
    expect(await fetchDueCards(queue(engine, at(0)), 'recent')).toMatchObject({ fetched: 1, total: 1 });
    await changeUri(engine, 0, dataUri({ name: 'Old' }));
    expect(await fetchDueCards(queue(engine, at(3_600_000)), 'all')).toMatchObject({ fetched: 1 });
  });

  test('runs until it is stopped, and takes up cards that are registered during it', async ({ engine }) => {
    const ending = new AbortController();
    const running = fetchCards(
      queue(engine, { signal: ending.signal, limits: { pollMs: 10, fullEveryMs: 0, restFactor: 0 } }),
    );
    await register(engine, dataUri({ name: 'Later' }));
    await waitUntil('it is fetched', async () => (await cards(engine)).length === 1);
    ending.abort();
    await running;
  });

  test('that is stopped in the middle leaves the rest due', async ({ engine }) => {
    const server = await serve(() => undefined);
    await register(engine, `http://127.0.0.1:${server.port}/`);
    const ending = new AbortController();
    const running = fetchCards(queue(engine, { signal: ending.signal }));
    await waitUntil('it is asked', () => server.asked.length === 1);
    ending.abort();
    await running;
    expect(await cards(engine)).toEqual([]);
    await waitUntil('the connection is closed', () => server.open() === 0);
  });
});
