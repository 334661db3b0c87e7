import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request as sendRequest } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fail } from '../../../../core/errors.ts';
import { createLog } from '../../../../core/log.ts';
import { QueryAbandoned, QueryFailed, type SqlSandbox } from '../../../../sandbox/sandbox.ts';
import { createGate } from '../../../../src/gate/call.ts';
import { JSON_BODY_MAX_BYTES } from '../../../../src/http/request-input.ts';
import type { Order, PaymentLane } from '../../../../src/payment/payment-lane.ts';
import { addKey, createOrganization } from '../../../kit/access.ts';
import { CLOSED_SANDBOX } from '../../../kit/closed-sandbox.ts';
import { openHandedLane } from '../../../kit/gate.ts';
import { type OwnApi, ownApi } from '../../../kit/own-api.ts';
import { openPour, streamed } from '../../../kit/pour.ts';
import { waitUntil } from '../../../kit/wait-until.ts';

/** Operations that are posted and answer with streams, through the real application to a real client. */

const pour = openPour();
const freePour = openPour({ free: true });
const sandbox: { -readonly [Name in keyof SqlSandbox]: SqlSandbox[Name] } = { ...CLOSED_SANDBOX };
const orders: Order[] = [];
let lane: ReturnType<typeof openHandedLane>;
let api: OwnApi;
let url: string;
let keyed: Record<string, string>;
let organizationId: string;

beforeAll(async () => {
  lane = openHandedLane();
  const watched: PaymentLane = {
    offer: (order) => {
      orders.push(order);
      return lane.offer(order);
    },
    recall: (sent) => lane.recall(sent),
    take: (sent) => lane.take(sent),
  };
  api = await ownApi({
    operations: [
      pour.operation,
      { ...freePour.operation, id: 'pourFree', path: '/pour-free' },
      { ...freePour.operation, id: 'getPourFree', method: 'GET', path: '/pour-free', params: {} },
    ],
    sandbox,
    parts: ({ store }, { access, plans, http }) => ({
      gate: createGate({
        store,
        lane: watched,
        bearer: null,
        plans,
        access: { ...access, requestsPerMinute: http.requestsPerMinute },
        clock: api?.clock ?? { nowMs: () => 0 },
        log: createLog('silent', 'test'),
      }),
    }),
  });
  url = await api.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => api?.close());

beforeEach(async () => {
  pour.answerWith(() => streamed(['poured']));
  organizationId = await createOrganization(api.store, { units: 1_000, plan: 'enterprise' });
  keyed = { 'x-api-key': await addKey(api.store, { organizationId }) };
});

interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** Sends a request over a connection of its own; the answer is not read. */
async function open({
  path = '/v0/pour',
  method = 'POST',
  headers = JSON_TYPE,
  body,
}: Sent): Promise<IncomingMessage> {
  const request = sendRequest(`${url}${path}`, { method, headers: { ...keyed, ...headers }, agent: false });
  request.end(body);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  return answer;
}

async function bytesOf(answer: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await answer.toArray());
}

async function send(sent: Sent) {
  const answer = await open(sent);
  const text = (await bytesOf(answer)).toString();
  const isJson = /json;|json$/.test(answer.headers['content-type'] ?? '') && text.startsWith('{');
  return {
    status: answer.statusCode,
    headers: answer.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
  };
}

describe('the body of a request', () => {
  const NESTED = `{"what":${'['.repeat(40)}${']'.repeat(40)}}`;

  test.each([
    [
      'is an object of parameters',
      '{"what":"a\\u0000b","format":"csv"}',
      { what: 'a\u0000b', format: 'csv' },
    ],
    ['may hold lists and objects', '{"what":{"a":[1,{"a":2}]}}', { what: { a: [1, { a: 2 }] } }],
    [
      'may have names of everywhere',
      '{"what":{"constructor":1,"toString":2}}',
      { what: { constructor: 1, toString: 2 } },
    ],
    ['may hold braces and quotes in texts', '{"what":"{\\"a\\":[,\\\\"}', { what: '{"a":[,\\' }],
    ['may be empty of parameters', ' {} ', {}],
  ])('%s', async (_name, body, asked) => {
    expect((await send({ body })).text).toBe('poured');
    expect(pour.asked.at(-1)).toEqual(asked);
  });

  test.each([
    ['', 400, 'malformed_request', /empty/],
    ['{"what":', 400, 'malformed_request', /no.* JSON/],
    ['[1]', 400, 'malformed_request', /no JSON object/],
    ['null', 400, 'malformed_request', /no JSON object/],
    ['"sql"', 400, 'malformed_request', /no JSON object/],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400, 'malformed_request', /UTF-8/],
    ['{"what":1,"what":2}', 400, 'malformed_request', /same name/],
    ['{"what":1,"wh\\u0061t":2}', 400, 'malformed_request', /same name/],
    ['{"what":{"a":[{"b":1,"b":2}]}}', 400, 'malformed_request', /same name/],
    ['{"__proto__":{"what":1}}', 400, 'malformed_request', /__proto__/],
    ['{"what":{"\\u005f_proto__":1}}', 400, 'malformed_request', /__proto__/],
    [NESTED, 400, 'malformed_request', /levels deep/],
    ['{"constructor":1}', 400, 'invalid_parameter', /no parameter "constructor"/],
    ['{"wath":1}', 400, 'invalid_parameter', /Did you mean what/],
  ])('%j is %i %s', async (body, status, code, detail) => {
    const asked = pour.asked.length;
    const answer = await send({ body });
    expect(answer).toMatchObject({ status, body: { code, detail: expect.stringMatching(detail) } });
    expect(answer.headers['x-ratelimit-remaining']).toMatch(/^\d+$/);
    expect(pour.asked).toHaveLength(asked);
  });

  test.each([
    [{ 'content-type': 'application/x-www-form-urlencoded' }],
    [{ 'content-type': 'text/plain' }],
    [{ 'content-type': 'application/json; charset=utf-16' }],
    [{ 'content-type': 'application/jsonp' }],
    [{ ...JSON_TYPE, 'content-encoding': 'gzip' }],
    [{}],
  ])('with %j is 415', async (headers) => {
    expect(await send({ headers, body: '{}' })).toMatchObject({
      status: 415,
      body: { code: 'unsupported_media_type' },
    });
  });

  test.each(['application/json; charset=utf-8', 'Application/JSON;charset=UTF-8', 'application/json;'])(
    'is read as %s',
    async (type) => {
      expect((await send({ headers: { 'content-type': type }, body: '{}' })).status).toBe(200);
    },
  );

  test('has room for 64 KiB of text in escapes, and no more than its limit', async () => {
    const what = '\\u0061'.repeat(64 * 1024);
    expect((await send({ body: `{"what":"${what}"}` })).status).toBe(200);
    expect(pour.asked.at(-1)?.['what']).toBe('a'.repeat(64 * 1024));
    const large = await send({ body: `{"what":"${'a'.repeat(JSON_BODY_MAX_BYTES)}"}` });
    expect(large).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
  });

  test('is the only place for its parameters', async () => {
    for (const query of ['what=1', 'format=csv', 'nothing=1', 'wh%61t=1&what=2']) {
      expect(await send({ path: `/v0/pour?${query}`, body: '{"what":1}' })).toMatchObject({
        status: 400,
        body: { code: 'invalid_parameter', detail: expect.stringContaining('is in the URL') },
      });
    }
  });
});

describe('methods', () => {
  test.each([
    ['/v0/pour', 'GET', 'POST, OPTIONS'],
    ['/v0/pour', 'HEAD', 'POST, OPTIONS'],
    ['/api/v0/pour', 'PUT', 'POST, OPTIONS'],
    ['/v0/pour-free', 'DELETE', 'GET, HEAD, POST, OPTIONS'],
  ])('%s does not take %s and says what it takes', async (path, method, allow) => {
    const answer = await send({ path, method, headers: {} });
    expect([answer.status, answer.headers.allow]).toEqual([405, allow]);
  });

  test('two of one path are two operations', async () => {
    expect((await send({ path: '/v0/pour-free', method: 'GET', headers: {} })).text).toBe('poured');
    expect((await send({ path: '/v0/pour-free', body: '{}' })).text).toBe('poured');
  });

  test('a browser may post', async () => {
    const answer = await send({
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,idempotency-key',
      },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers['access-control-allow-methods']).toContain('POST');
    expect(answer.headers['access-control-allow-headers']).toBe('content-type,idempotency-key');
    const { headers } = await send({ headers: { ...JSON_TYPE, origin: 'https://app.example' }, body: '{}' });
    expect(headers['access-control-expose-headers']).toMatch(/Idempotent-Replayed.*x-poured/);
  });
});

test.each([
  ['text/csv', 'csv'],
  ['application/x-ndjson', 'ndjson'],
  ['application/vnd.apache.parquet', 'parquet'],
  ['application/vnd.apache.arrow.stream', 'arrow'],
  ['application/json', 'json'],
  ['TEXT/CSV ; header=present', 'csv'],
  ['application/json;q=0.5, text/csv', 'csv'],
  ['text/csv;q=0, application/x-ndjson;q=0.1', 'ndjson'],
  ['text/csv, application/x-ndjson', 'csv'],
  ['*/*', undefined],
  ['image/png', undefined],
  ['text/csv;q=x', undefined],
])('Accept: %s asks for %s, where the body names no format', async (accept, format) => {
  await send({ headers: { ...JSON_TYPE, accept }, body: '{}' });
  expect(pour.asked.at(-1)?.['format']).toBe(format);
  await send({ headers: { ...JSON_TYPE, accept }, body: '{"format":"json_compact"}' });
  expect(pour.asked.at(-1)?.['format']).toBe('json_compact');
});

describe('an offer', () => {
  const offered = async (body: string, path = '/v0/pour'): Promise<Order> => {
    const answer = await send({ path, headers: { ...JSON_TYPE, 'x-api-key': '' }, body });
    expect(answer).toMatchObject({ status: 402 });
    const order = orders.at(-1);
    if (order === undefined) throw new Error('a 402 without an offer');
    return order;
  };

  test('is for these bytes, and for no others', async () => {
    const [one, same, spaced, other] = [
      await offered('{"what":"a"}'),
      await offered('{"what":"a"}'),
      await offered('{"what": "a"}'),
      await offered('{"what":"b"}'),
    ];
    expect(same.binding).toBe(one.binding);
    expect(new Set([one, spaced, other].map(({ binding }) => binding)).size).toBe(3);
  });

  test('asks the price of the tier, settled for the use where that can be', async () => {
    expect(await offered('{}')).toMatchObject({
      resource: 'POST /v0/pour',
      priceUsdMicros: 30_000n,
      settledByUse: true,
      description: 'Pour (tier standard, max_qu 3)',
    });
    const dear = await send({ headers: { ...JSON_TYPE, 'x-api-key': '' }, body: '{"tier":"deep"}' });
    expect(dear).toMatchObject({ status: 403, body: { code: 'upgrade_required' } });
  });
});

test('the headers carry the tier’s window and the caller’s own, which the older headers keep naming', async () => {
  const { headers } = await send({ body: '{"tier":"deep"}' });
  expect(headers).toMatchObject({
    'ratelimit-policy': '"default";q=6000;w=60, "sql-deep";q=2;w=60',
    ratelimit: '"default";r=5999;t=60, "sql-deep";r=1;t=60',
    'x-ratelimit-limit': '6000',
    'x-ratelimit-remaining': '5999',
  });
});

test('an answer that was kept for its Idempotency-Key says so, byte for byte the same', async () => {
  pour.answerWith(() =>
    streamed([`{"at":${performance.now()}}`], { mediaType: 'application/json', headers: { 'x-one': '1' } }),
  );
  const headers = { ...JSON_TYPE, 'idempotency-key': 'a key' };
  const [first, again] = [await send({ headers, body: '{}' }), await send({ headers, body: '{ }' })];
  expect(again.text).toBe(first.text);
  expect([first, again].map((answer) => answer.headers['idempotent-replayed'])).toEqual([undefined, 'true']);
  expect(again.headers).toMatchObject({ 'content-type': 'application/json', 'x-one': '1' });
  expect((await send({ headers, body: '{"what":1}' })).body.code).toBe('idempotency_conflict');
});

test('a failure says where in the query, and what it cost', async () => {
  pour.answerWith(() => {
    const query = { reason: 'timeout', position: { line: 2, column: 7 }, near: 'FORM', hint: 'Write FROM.' };
    throw fail('query_failed', { detail: 'Too long.', query, usedQu: 2 });
  });
  const { body } = await send({ body: '{}' });
  expect(body).toMatchObject({
    code: 'query_failed',
    reason: 'timeout',
    position: { line: 2, column: 7 },
    near: 'FORM',
    hint: 'Write FROM.',
    usage: { units_held: 3, units_charged: 2, balance: 998 },
  });
});

const CHUNK = Buffer.alloc(64 * 1024, '{"a":1}\n');

/** Gives `total` bytes in chunks, and counts what was taken of it. */
function well(total: number, chunk: () => Buffer = () => CHUNK) {
  let taken = 0;
  const body = new Readable({
    read() {
      taken += CHUNK.length;
      this.push(taken > total ? null : chunk());
    },
  });
  return { body, taken: () => taken };
}

/** Lines like ours compress to a few bytes; only bytes that do not compress show how many are kept. */
const noise = () => randomBytes(CHUNK.length);

/** Resolves when nothing more is taken, looked at over and over. */
async function untilItStops(taken: () => number): Promise<void> {
  let seen = -1;
  let same = 0;
  await waitUntil('nothing more is taken', () => {
    same = taken() === seen ? same + 1 : 0;
    seen = taken();
    return seen > 0 && same > 20;
  });
}

const MEBIBYTE = 1024 * 1024;

describe('a streamed answer', () => {
  test('carries its facts in headers, and is not stored', async () => {
    const body = well(300_000);
    pour.answerWith(() => streamed(body.body, { headers: { 'x-columns': 'a' } }));
    const answer = await open({ body: '{}' });
    const size = (await bytesOf(answer)).length;
    expect(answer.headers).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'cache-control': 'no-store',
      'x-columns': 'a',
      'server-timing': expect.stringContaining('engine;dur='),
    });
    expect(size).toBeGreaterThan(200_000);
  });

  test('that fails midway is no whole answer of HTTP/1.0 either, where the end of the connection is its end', async () => {
    pour.answerWith(() =>
      streamed(
        (async function* () {
          for (let part = 0; part < 100; part++) yield CHUNK;
          await nextTurn();
          throw new Error('too large');
        })(),
      ),
    );
    // libuv reports a reset with unread bytes as an end, so the reader is curl: CURLE_RECV_ERROR.
    const asked = ['-sS', '--http1.0', '-o', '/dev/null', '-d', '{}', '-H', 'Content-Type: application/json'];
    const key = `X-API-Key: ${keyed['x-api-key']}`;
    const curl = spawn('curl', [...asked, '-H', key, new URL('/v0/pour', url).href]);
    expect(await new Promise((resolve) => curl.once('close', resolve))).toBe(56);
  });

  test.each([['identity'], ['gzip'], ['br']])(
    'is not read ahead of a caller who reads slowly (%s)',
    async (encoding) => {
      const source = well(512 * MEBIBYTE, noise);
      pour.answerWith(() => streamed(source.body));
      const answer = await open({ headers: { ...JSON_TYPE, 'accept-encoding': encoding }, body: '{}' });
      expect(answer.headers['content-encoding'] ?? 'identity').toBe(encoding);
      await untilItStops(source.taken);
      // What the buffers hold: the kernel's for the connection, ours and the compressor's.
      expect(source.taken()).toBeLessThan(24 * MEBIBYTE);
      answer.destroy();
      await waitUntil('the body is destroyed', () => source.body.destroyed);
    },
  );

  test('arrives whole when its caller reads on, compressed or not', async () => {
    for (const encoding of ['identity', 'gzip']) {
      const source = well(8 * MEBIBYTE);
      pour.answerWith(() => streamed(source.body));
      const answer = await open({ headers: { ...JSON_TYPE, 'accept-encoding': encoding }, body: '{}' });
      const bytes = await bytesOf(answer);
      expect(answer.complete).toBe(true);
      const plain = encoding === 'gzip' ? gunzipSync(bytes) : bytes;
      expect(plain.equals(Buffer.alloc(8 * MEBIBYTE, '{"a":1}\n'))).toBe(true);
    }
  });

  test.each([
    ['application/x-ndjson; charset=utf-8', 'gzip'],
    ['text/csv; charset=utf-8; header=present', 'gzip'],
    ['application/json; charset=utf-8', 'gzip'],
    ['application/vnd.apache.parquet', undefined],
    ['application/vnd.apache.arrow.stream', undefined],
  ])('of %s is compressed as %s', async (mediaType, encoding) => {
    pour.answerWith(() => streamed([Buffer.alloc(4_096, 'a')], { mediaType }));
    const answer = await open({ headers: { ...JSON_TYPE, 'accept-encoding': 'gzip, br;q=0.5' }, body: '{}' });
    await bytesOf(answer);
    expect(answer.headers['content-encoding']).toBe(encoding);
  });

  test.each([['identity'], ['gzip']])(
    'that fails midway never ends as if it were whole (%s)',
    async (encoding) => {
      pour.answerWith(() =>
        streamed(
          (async function* () {
            for (let part = 0; part < 100; part++) yield Buffer.alloc(64 * 1024, String(Math.random()));
            await nextTurn();
            throw new Error('the engine went away');
          })(),
        ),
      );
      const answer = await open({ headers: { ...JSON_TYPE, 'accept-encoding': encoding }, body: '{}' });
      await expect(bytesOf(answer)).rejects.toThrow('aborted');
      expect(answer.complete).toBe(false);
    },
  );

  test('that fails before its first byte is a problem, not an empty answer', async () => {
    pour.answerWith(() =>
      streamed(
        (async function* () {
          await nextTurn();
          yield* [];
          throw new Error('the engine went away');
        })(),
      ),
    );
    expect(await send({ body: '{}' })).toMatchObject({
      status: 500,
      headers: { 'content-type': 'application/problem+json; charset=utf-8' },
      body: { code: 'internal_error' },
    });
  });

  test('of a paid call is reported once: whether all of it left', async () => {
    const paid = { ...JSON_TYPE, 'x-payment': 'signed' };
    lane.finished.length = 0;
    await send({ headers: paid, body: '{}' });
    await waitUntil('the first is reported', () => lane.finished.length === 1);
    const source = well(512 * MEBIBYTE);
    pour.answerWith(() => streamed(source.body));
    const answer = await open({ headers: paid, body: '{}' });
    await once(answer, 'readable');
    answer.destroy();
    await waitUntil('the second is reported', () => lane.finished.length === 2);
    await waitUntil('its body is destroyed', () => source.body.destroyed);
    expect(lane.finished).toEqual([true, false]);
  });
});

describe('a caller who leaves', () => {
  /** Posts, waits until the run has begun, and hangs up. */
  async function leaveDuring(begun: () => boolean): Promise<void> {
    const request = sendRequest(`${url}/v0/pour`, {
      method: 'POST',
      headers: { ...keyed, ...JSON_TYPE },
      agent: false,
    });
    request.on('error', () => undefined);
    request.end('{}');
    await waitUntil('the run has begun', begun);
    request.destroy();
  }

  test('stops the query, is charged for what it used, and is no fault of ours', async () => {
    let signal: AbortSignal | undefined;
    sandbox.run = (_query, given) => {
      signal = given;
      return new Promise((_resolve, reject) => {
        given.addEventListener('abort', () => reject(new QueryAbandoned(6_000)));
      });
    };
    pour.answerWith(async ({ sql }) => {
      await sql.run({} as Parameters<typeof sql.run>[0]).catch(() => {
        throw fail('request_timeout', { detail: 'The caller left.', usedQu: 2 });
      });
      return streamed([]);
    });
    await leaveDuring(() => signal !== undefined);
    await waitUntil(
      'it is charged',
      async () => (await api.store.units.balance(organizationId))?.spent === 2,
    );
    expect(signal?.aborted).toBe(true);
    expect(await api.store.units.balance(organizationId)).toMatchObject({ held: 0, balance: 998 });
  });

  test('after the run and before the answer leaves its body destroyed', async () => {
    const source = well(MEBIBYTE);
    const state = { begun: false, left: false };
    pour.answerWith(async () => {
      state.begun = true;
      await waitUntil('the caller is gone', () => state.left);
      return streamed(source.body);
    });
    await leaveDuring(() => state.begun);
    state.left = true;
    await waitUntil('the body is destroyed', () => source.body.destroyed);
  });
});

test('engine time is counted as the engine counts it, and waiting for a turn as waiting', async () => {
  const timings = async () => {
    const { headers } = await send({ body: '{}' });
    const [, queue, engine] =
      /queue;dur=([\d.]+), engine;dur=([\d.]+)/.exec(String(headers['server-timing'])) ?? [];
    return { queue: Number(queue), engine: Number(engine) };
  };
  pour.answerWith(async ({ sql }) => {
    const { body } = await sql.run({} as Parameters<typeof sql.run>[0]);
    return streamed(body);
  });
  const figures = { engineMs: 1_234, chargedMs: 1_000, rowsRead: 1, bytesRead: 1, memoryBytes: 1 };
  sandbox.run = async () => ({
    ...figures,
    resultRows: 1,
    hasMore: false,
    queuedMs: 5_678,
    body: Readable.from([Buffer.from('x')]),
  });
  const good = await timings();
  expect(good.engine).toBe(1_234);
  expect(good.queue).toBeGreaterThanOrEqual(5_678);
  sandbox.run = () => Promise.reject(new QueryFailed({ reason: 'timeout', detail: 'No.', figures }));
  expect((await timings()).engine).toBe(1_234);
});
