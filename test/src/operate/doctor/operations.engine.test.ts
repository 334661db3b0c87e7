import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readAccessFile } from '../../../../clickhouse/embedded/directory.ts';
import { hasFileWall } from '../../../../clickhouse/embedded/walls.ts';
import type { EngineAccess } from '../../../../clickhouse/engine/engine.ts';
import { createReader, createWriter } from '../../../../clickhouse/engine/http-engine.ts';
import { sql } from '../../../../clickhouse/engine/sql.ts';
import { createGuest } from '../../../../clickhouse/guest/engine.ts';
import { loadConfig } from '../../../../core/config/load.ts';
import { FAMILIES, METRIC_PREFIX } from '../../../../core/metric-families.ts';
import { tryFiles, tryHostileSet } from '../../../../src/operate/doctor/engine.ts';
import { runDoctor } from '../../../../src/operate/doctor/run.ts';
import { namedIn, readScrape, type Scraped } from '../../../kit/scraped.ts';
import { watchedLog, watchSecret } from '../../../kit/secrets-watch.ts';
import { startTestService, type TestService } from '../../../kit/service.ts';
import { waitUntil } from '../../../kit/wait-until.ts';

/** A running service as its operator sees it: metrics, traces, and the doctor next to it. */

const PATH_KEY = watchSecret('operations-rpc-path-key-7f31');
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

/** A worker that starts on a machine that is busy with other things. */
const PATIENCE_MS = 120_000;

let receiver: OtlpReceiver;
let service: TestService;

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  service = await startTestService({
    chains: [{ chain: 'base', rpcUrls: [`http://127.0.0.1:9/${PATH_KEY}`] }],
    metrics: { port: 0 },
    tracing: { endpoint: receiver.url },
  });
});
afterAll(async () => {
  await service?.remove();
  await receiver?.close();
});

async function scrape(): Promise<Scraped> {
  const answer = await fetch(service.metricsUrl ?? '');
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain.*version=0\.0\.4/);
  return readScrape(await answer.text());
}

async function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  const answer = await fetch(`${service.url}${path}`, { headers });
  await answer.arrayBuffer();
  return answer;
}

describe('metrics', () => {
  test('are not on the public listener, and nothing else is on theirs', async () => {
    expect((await get('/metrics')).status).toBe(404);
    expect((await fetch(new URL('/v0/account', service.metricsUrl ?? ''))).status).toBe(404);
    expect((await fetch(service.metricsUrl ?? '', { method: 'POST' })).status).toBe(405);
  });

  test('count every answer once by its operation, never by its path', async () => {
    const counted = async (operation: string, status: string): Promise<number> =>
      (await scrape()).value(`${METRIC_PREFIX}http_requests_total`, { operation, status }) ?? 0;
    const before = await counted('listEntitySettlements', '400');
    for (const wallet of ['0xabc', '0xdef']) await get(`/v0/entities/${wallet}/settlements`);
    await get(`/v0/unknown-path`);
    expect((await counted('listEntitySettlements', '400')) - before).toBe(2);
    expect(await counted('other', '404')).toBeGreaterThan(0);
    const text = JSON.stringify((await scrape()).samples);
    for (const chosen of [PATH_KEY, '0xabc', 'unknown-path']) expect(text).not.toContain(chosen);
  });

  test('say what the gate said, with the code and the lane', async () => {
    await get('/v0/account', { 'x-api-key': `six_live_${'n'.repeat(43)}` });
    await get('/v0/flows', { 'x-api-key': `six_live_${'n'.repeat(43)}` });
    const { value } = await scrape();
    const calls = `${METRIC_PREFIX}calls_total`;
    expect(value(calls, { operation: 'getAccount', lane: 'invalid_key', outcome: 'ok' })).toBeGreaterThan(0);
    expect(
      value(calls, { operation: 'listFlows', lane: 'none', outcome: 'invalid_api_key' }),
    ).toBeGreaterThan(0);
  });

  test('show the figures of telemetry', async () => {
    await waitUntil(
      'the chain is reported',
      async () => {
        const { value } = await scrape();
        return value(`${METRIC_PREFIX}chain_reported_timestamp_seconds`) !== undefined;
      },
      PATIENCE_MS,
    );
    const told = await (await fetch(`${service.url}/v0/telemetry`)).json();
    const { value } = await scrape();
    const [chain] = told.chains;
    const labels = { chain: chain.chain };
    expect(value(`${METRIC_PREFIX}rollup_open_slices`)).toBe(told.rollups.open_slices);
    expect(value(`${METRIC_PREFIX}chain_rows_written_total`, labels)).toBe(chain.rows_written);
    expect(value(`${METRIC_PREFIX}chain_reorgs_total`, labels)).toBe(chain.reorgs);
    expect(value(`${METRIC_PREFIX}chain_dead_letters_total`, labels)).toBe(chain.dead_letters);
    expect(value(`${METRIC_PREFIX}engine_up`)).toBe(1);
    expect(value(`${METRIC_PREFIX}control_store_up`)).toBe(1);
  });

  test('tell which walls the engine has, as the access file does', async () => {
    const walls = readAccessFile(join(service.dataDir, 'clickhouse'))?.walls;
    if (walls === undefined) throw new Error('the engine did not say');
    const { value } = await scrape();
    const shown = ['landlock', 'own_user', 'sockets', 'clean_environment'].map((wall) =>
      value(`${METRIC_PREFIX}engine_wall`, { wall }),
    );
    expect(shown).toEqual([
      'abi' in walls.landlock ? 1 : 0,
      'id' in walls.ownUser ? 1 : 0,
      'bounded' in walls.sockets ? 1 : 0,
      walls.cleanEnvironment ? 1 : 0,
    ]);
    expect(hasFileWall(walls)).toBe(true);
    expect(value(`${METRIC_PREFIX}engine_landlock_abi`)).toBe(
      'abi' in walls.landlock ? walls.landlock.abi : 0,
    );
  });
});

describe('dashboard and alerts', () => {
  const dashboard = JSON.parse(readFileSync('docs/grafana/settlement-index.json', 'utf8')) as {
    readonly panels: readonly {
      readonly title: string;
      readonly targets?: readonly { readonly expr: string }[];
    }[];
  };
  const panels = dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ where: title, expr })),
  );
  const alerts = [
    ...readFileSync('docs/prometheus-alerts.yml', 'utf8').matchAll(
      /- alert: (\w+)\n\s+expr: (?:\|\n((?: {10}.*\n)+)|(.*)\n)/g,
    ),
  ].map(([, where = '', block, line]) => ({ where, expr: block ?? line ?? '' }));
  /** Put there by the collector, or by the library for a histogram. */
  const COLLECTED = ['instance', 'job', 'le'];

  test('name only what the program exports', async () => {
    expect(panels.length).toBeGreaterThan(40);
    expect(alerts).toHaveLength(
      readFileSync('docs/prometheus-alerts.yml', 'utf8').match(/- alert:/g)?.length ?? 0,
    );
    const { families, samples } = await scrape();
    const wrong = [...panels, ...alerts].flatMap(({ where, expr }) => {
      const named = namedIn(expr);
      if (named.length === 0) return [`${where}: names nothing`];
      return named.flatMap(({ metric, labels }) => {
        const family = families.has(metric) ? metric : metric.replace(/_(?:bucket|sum|count)$/, '');
        if (!families.has(family)) return [`${where}: ${metric} is not exported`];
        const known = new Set([...COLLECTED, ...labelsOf(family, samples)]);
        return labels
          .filter((label) => !known.has(label))
          .map((label) => `${where}: ${metric} has no ${label}`);
      });
    });
    expect(wrong).toEqual([]);
  });

  /** As declared for ours; for metrics of the runtime as they were seen. */
  function labelsOf(family: string, samples: Scraped['samples']): readonly string[] {
    const declared = Object.entries(FAMILIES).find(([name]) => `${METRIC_PREFIX}${name}` === family);
    if (declared !== undefined) return declared[1].labels;
    return samples.filter(({ name }) => name === family).flatMap(({ labels }) => Object.keys(labels));
  }
});

describe('traces', () => {
  test('lead from the request through gate and operation to the engine’s statement, in the caller’s trace', async () => {
    const sent = { traceparent: `00-${TRACE}-${PARENT}-01`, 'x-request-id': 'traced-one' };
    expect((await get('/v0/flows?limit=3', sent)).headers.get('x-request-id')).toBe('traced-one');
    const ofTrace = (): ReceivedSpan[] => receiver.spans.filter(({ traceId }) => traceId === TRACE);
    // A request ends last: what lies below it was sent before it.
    await waitUntil(
      'the request arrives',
      () => ofTrace().some(({ parentSpanId }) => parentSpanId === PARENT),
      PATIENCE_MS,
    );
    const named = (name: string): ReceivedSpan | undefined => ofTrace().find((span) => span.name === name);
    const request = named('GET listFlows');
    expect(request).toMatchObject({
      parentSpanId: PARENT,
      facts: { 'http.response.status_code': '200', request_id: 'traced-one', operation: 'listFlows' },
    });
    const gate = named('gate');
    expect(gate?.parentSpanId).toBe(request?.spanId);
    const run = named('run listFlows');
    expect(run?.parentSpanId).toBe(gate?.spanId);
    const statements = ofTrace().filter(({ name }) => name.startsWith('engine '));
    expect(statements.map(({ parentSpanId }) => parentSpanId)).toContain(run?.spanId);
    expect(JSON.stringify(receiver.spans)).not.toMatch(/SELECT|INSERT|operations-rpc-path-key/);
  });

  test('go on into the engine: every statement carries them', async () => {
    const seen: (string | undefined)[] = [];
    const engine = createServer((request, response) => {
      seen.push(request.headers['traceparent'] as string | undefined); // sent once
      request.resume().on('end', () => response.end('{"meta":[],"data":[[1]],"rows":1}'));
    });
    await new Promise<void>((resolve) => void engine.listen(0, '127.0.0.1', resolve));
    const user = { user: 'u', password: 'p' };
    const access: EngineAccess = {
      url: `http://127.0.0.1:${(engine.address() as AddressInfo).port}`,
      database: 'd',
      writer: user,
      reader: user,
      guest: user,
      headers: () => ({ traceparent: `00-${TRACE}-${PARENT}-01` }),
    };
    const reader = createReader(access);
    await reader.ping();
    await reader.close();
    const writer = createWriter(access);
    await writer.run({ name: 'a-change', sql: sql`OPTIMIZE TABLE settlements`, maxSeconds: 5 });
    await writer.insert('rows', 'settlements', ['chain'], [Buffer.from([0])]);
    await writer.load(
      { name: 'a-file', sql: sql`INSERT INTO settlements FORMAT Parquet`, maxSeconds: 5 },
      Readable.from(['']),
    );
    await writer.close();
    await new Promise((resolve) => engine.close(resolve));
    expect(seen).toEqual(Array.from({ length: 4 }, () => `00-${TRACE}-${PARENT}-01`));
  });
});

describe('the doctor next to a running service', () => {
  test('finds the engine, its faulty build and its kept-in guest, and the node that is away', async () => {
    const config = loadConfig({ file: join(service.dataDir, 'config.json'), env: {} });
    const findings = await runDoctor({ config, log: watchedLog('doctor') });
    const verdicts = (check: string): string[] =>
      findings.filter((finding) => finding.check === check).map(({ verdict }) => verdict);
    expect(verdicts('engine')).toEqual(['ok']);
    expect(verdicts('engine_version')).toEqual(['warning']);
    expect(verdicts('guest')).toEqual(['ok']);
    expect(verdicts('walls')).toEqual(['ok']);
    expect(verdicts('files')).toEqual(['ok']);
    expect(verdicts('clock')).toEqual(['ok']);
    expect(verdicts('control_store')).toEqual(['ok']);
    expect(verdicts('ledger')).toEqual(['ok']);
    expect(verdicts('rpc')).toEqual(['failure']);
    expect(JSON.stringify(findings)).not.toContain(PATH_KEY);
  });

  test('finds a file that the guest can read past the inspector, and shows nothing of it', async () => {
    const record = readAccessFile(join(service.dataDir, 'clickhouse'));
    if (record === null) throw new Error('no engine');
    const { database } = loadConfig({ file: join(service.dataDir, 'config.json'), env: {} }).clickhouse;
    const guest = createGuest({ ...record, database });
    // The second is one that the walls leave open, in place of one that they should close.
    const finding = await tryFiles(guest, ['/etc/hostname', '/proc/meminfo']);
    expect(finding).toMatchObject({ verdict: 'failure', says: expect.stringContaining('/proc/meminfo') });
    expect(finding.says).not.toContain('/etc/hostname');
    expect(JSON.stringify(finding)).not.toContain('MemTotal');
    await guest.close();
  });

  test('sees a guest with more rights than it may have', async () => {
    const record = readAccessFile(join(service.dataDir, 'clickhouse'));
    if (record === null) throw new Error('no engine');
    const { database } = loadConfig({ file: join(service.dataDir, 'config.json'), env: {} }).clickhouse;
    const guest = createGuest({ ...record, database, guest: record.reader });
    expect(await tryHostileSet(guest, database)).toMatchObject({
      verdict: 'failure',
      says: expect.stringContaining('it was not refused'),
    });
    await guest.close();
  });
});

/** A receiver of traces: OTLP over HTTP, JSON, on loopback. */
interface OtlpReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  close(): Promise<void>;
}

interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  /** Every attribute, as text. */
  readonly facts: Readonly<Record<string, string>>;
}

interface OtlpBody {
  readonly resourceSpans?: readonly {
    readonly scopeSpans?: readonly { readonly spans?: readonly OtlpSpan[] }[];
  }[];
}

interface OtlpSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes?: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
}

async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url !== '/v1/traces') return void response.writeHead(404).end();
      const body = JSON.parse(Buffer.concat(chunks).toString()) as OtlpBody; // what the exporter sends
      spans.push(...spansOf(body));
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function spansOf({ resourceSpans = [] }: OtlpBody): ReceivedSpan[] {
  return resourceSpans
    .flatMap(({ scopeSpans = [] }) => scopeSpans)
    .flatMap(({ spans = [] }) => spans)
    .map(({ name, traceId, spanId, parentSpanId = '', attributes = [] }) => ({
      name,
      traceId,
      spanId,
      parentSpanId,
      facts: Object.fromEntries(attributes.map(({ key, value }) => [key, String(Object.values(value)[0])])),
    }));
}
