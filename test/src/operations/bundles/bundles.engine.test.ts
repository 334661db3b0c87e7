import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseManifest, signedText } from '../../../../src/bundles/manifest.ts';
import { BUNDLE_TABLE_NAMES } from '../../../../src/bundles/tables.ts';
import { ANONYMOUS, type TestApi, testApi } from '../../../kit/api.ts';
import { type BundleWorld, bundleWorld, DAYS, fillWorld } from '../../../kit/bundles.ts';
import { type TestEngine, testEngine } from '../../../kit/engine.ts';
import { BASE, insertSettlements, settlement } from '../../../kit/rows.ts';

let engine: TestEngine;
let world: BundleWorld;
let api: TestApi;

beforeAll(async () => {
  engine = await testEngine();
  world = bundleWorld(engine.access);
  await fillWorld(engine.writer);
  await world.make();
  await insertSettlements(engine.writer, [
    settlement({ blockTime: Date.parse(DAYS[0]) / 1_000 + 30, blockNumber: 199 }),
  ]);
  await world.make();
  const { bundles, dataDir } = world.config;
  api = await testApi(engine.reader, { config: { bundles, dataDir } });
});
afterAll(async () => {
  await api.close();
  world.remove();
  await engine.close();
});

const FILE = `/v0/bundles/${BASE}/settlements/${DAYS[1]}.r1.parquet`;

/** Bytes of a request, whatever they are. */
async function fetched(url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') {
  const {
    statusCode,
    headers: sent,
    rawPayload,
  } = await api.app.inject({ method, url, headers: { ...api.keyed, ...headers } });
  return { status: statusCode, headers: sent, bytes: rawPayload };
}

test('the list has the newest revision of each day, newest day first, page by page', async () => {
  const seen: string[] = [];
  let before = '';
  do {
    const { status, body } = await api.get(`/v0/bundles?limit=4${before}`, ANONYMOUS);
    expect(status).toBe(200);
    seen.push(
      ...body.bundles.map(
        (one: Record<string, unknown>) => `${one['day']} ${one['table']} r${one['revision']}`,
      ),
    );
    before = body.next_before === null ? '' : `&before=${body.next_before}`;
  } while (before !== '');
  const revision = (day: string, table: string) => (day === DAYS[0] && table !== 'attestations' ? 2 : 1);
  expect(seen).toEqual(
    [DAYS[2], DAYS[1], DAYS[0]].flatMap((day) =>
      [...BUNDLE_TABLE_NAMES].sort().map((table) => `${day} ${table} r${revision(day, table)}`),
    ),
  );
});

test('the list is filtered by chain, table and days, and says what it takes', async () => {
  const days = async (query: string) =>
    (await api.get(`/v0/bundles?table=settlements&${query}`)).body.bundles.map(
      (one: { day: string }) => one.day,
    );
  expect(await days(`chain=${BASE}&since=${DAYS[1]}`)).toEqual([DAYS[2], DAYS[1]]);
  expect(await days(`until=${DAYS[0]}`)).toEqual([DAYS[0]]);
  expect(await days('chain=eip155:137')).toEqual([]);
  for (const query of ['since=yesterday', 'since=2026-02-30', 'table=agents', 'chain=eip155:1', 'before=x'])
    expect((await api.get(`/v0/bundles?${query}`)).body.code).toBe('invalid_parameter');
});

test('what the list says of a file is true of its bytes', async () => {
  const { body } = await api.get(`/v0/bundles?table=settlements&since=${DAYS[1]}&until=${DAYS[1]}`);
  const [listed] = body.bundles;
  const { status, headers, bytes } = await fetched(listed.url);
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('application/vnd.apache.parquet');
  expect(bytes.length).toBe(listed.bytes);
  expect(Number(headers['content-length'])).toBe(listed.bytes);
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(listed.sha256);
  expect(headers['etag']).toBe(`"${listed.sha256}"`);
});

test('an older revision can still be fetched, and says that it is one', async () => {
  const old = `/v0/bundles/${BASE}/settlements/${DAYS[0]}.r1.parquet`;
  expect((await fetched(old)).status).toBe(200);
  expect((await api.get(`${old}?describe=true`)).body).toMatchObject({
    is_current: false,
    revision: 1,
    rows: 60,
  });
});

test('ranges are cut as RFC 9110 says', async () => {
  const whole = (await fetched(FILE)).bytes;
  const size = whole.length;
  const part = async (range: string, more: Record<string, string> = {}) => {
    const { status, headers, bytes } = await fetched(FILE, { range, ...more });
    return [status, headers['content-range'] ?? null, bytes.equals(whole) ? 'whole' : bytes.toString('hex')];
  };
  const hex = (from: number, to: number) => whole.subarray(from, to).toString('hex');
  expect(await part('bytes=0-3')).toEqual([206, `bytes 0-3/${size}`, hex(0, 4)]);
  expect(await part('bytes=-8')).toEqual([206, `bytes ${size - 8}-${size - 1}/${size}`, hex(size - 8, size)]);
  expect(await part(`bytes=${size - 4}-${size + 99}`)).toEqual([
    206,
    `bytes ${size - 4}-${size - 1}/${size}`,
    hex(size - 4, size),
  ]);
  expect(await part('bytes=10-')).toEqual([206, `bytes 10-${size - 1}/${size}`, hex(10, size)]);
  expect((await part(`bytes=${size}-`)).slice(0, 2)).toEqual([416, `bytes */${size}`]);
  const outside = await fetched(FILE, { range: 'bytes=-0' });
  expect(JSON.parse(outside.bytes.toString())).toMatchObject({ code: 'range_not_satisfiable', status: 416 });
  for (const odd of ['bytes=5-2', 'bytes=0-1,3-4', 'rows=0-1', 'bytes=a-b', 'bytes=-'])
    expect(await part(odd)).toEqual([200, null, 'whole']);
  const { headers } = await fetched(FILE);
  expect((await part('bytes=0-3', { 'if-range': String(headers['etag']) }))[0]).toBe(206);
  expect((await part('bytes=0-3', { 'if-range': '"another"' }))[0]).toBe(200);
});

test('who has the file gets 304, and HEAD gets its size alone', async () => {
  const { headers, bytes } = await fetched(FILE);
  const again = await fetched(FILE, { 'if-none-match': String(headers['etag']) });
  expect([again.status, again.bytes.length]).toEqual([304, 0]);
  const head = await fetched(FILE, {}, 'HEAD');
  expect([head.status, head.headers['content-length'], head.bytes.length]).toEqual([
    200,
    String(bytes.length),
    0,
  ]);
});

test('files take any key; list, manifest, description and keys take none', async () => {
  const status = async (url: string) => (await api.get(url, ANONYMOUS)).status;
  expect(await status(FILE)).toBe(401);
  expect(await status('/v0/bundles')).toBe(200);
  expect(await status(`/v0/bundles/${BASE}/settlements/manifest.json`)).toBe(200);
  expect(await status(`${FILE}?describe=true`)).toBe(200);
  expect(await status('/.well-known/bundle-keys.json')).toBe(200);
});

test('the manifest that is served is signed by a key that is published', async () => {
  const manifest = parseManifest((await api.get(`/v0/bundles/${BASE}/settlements/manifest.json`)).text);
  const { keys } = (await api.get('/.well-known/bundle-keys.json')).body;
  if (manifest === null) throw new Error('no manifest');
  const key = keys.find((one: { kid: string }) => one.kid === manifest.signature.key);
  const text = signedText(manifest, manifest.entries);
  const signature = Buffer.from(manifest.signature.value, 'base64url');
  expect(verify(null, Buffer.from(text), createPublicKey({ key, format: 'jwk' }), signature)).toBe(true);
});

test('only names that a manifest has lead to a file', async () => {
  writeFileSync(world.pathOf('settlements', 'secret.txt'), 'not for you');
  const names = [
    'secret.txt',
    'fingerprints.json',
    'bundle.key',
    '..%2f..%2f..%2fbundle.key',
    '%2e%2e%2fmanifest.json',
    `${DAYS[1]}.r1.parquet%00`,
    '.',
    '..',
    '%2fetc%2fpasswd',
    'constructor',
    '2026-11-18.r9.parquet',
  ];
  for (const name of names) {
    const { status, bytes } = await fetched(`/v0/bundles/${BASE}/settlements/${name}`);
    expect([name, status]).toEqual([name, status >= 400 && status < 500 ? status : 'served']);
    expect(bytes.toString()).not.toContain('not for you');
  }
  for (const path of [`${BASE}/..`, 'eip155-8453/settlements', `${BASE}/constructor`, '..%2f..'])
    expect((await fetched(`/v0/bundles/${path}/manifest.json`)).status).toBeGreaterThanOrEqual(400);
});

test('a file that is gone is 404 and not an empty answer, and a damaged manifest serves nothing', async () => {
  const gone = world.pathOf('payer_days', `${DAYS[1]}.r1.parquet`);
  rmSync(gone);
  expect((await api.get(`/v0/bundles/${BASE}/payer_days/${DAYS[1]}.r1.parquet`)).body.code).toBe('not_found');
  const path = world.pathOf('pair_days', 'manifest.json');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.slice(0, 100));
  api.clock.advanceSeconds(2);
  expect((await api.get('/v0/bundles?table=pair_days')).body.bundles).toEqual([]);
  writeFileSync(path, text);
  api.clock.advanceSeconds(2);
  expect((await api.get('/v0/bundles?table=pair_days')).body.bundles).toHaveLength(3);
});

test('without bundles the list is empty and the keys are none', async () => {
  const dataDir = join(world.directory, 'nothing');
  const bare = await testApi(engine.reader, {
    config: { bundles: { dir: join(dataDir, 'bundles'), signingSecrets: [] }, dataDir },
  });
  expect((await bare.get('/v0/bundles')).body.bundles).toEqual([]);
  expect((await bare.get('/.well-known/bundle-keys.json')).body).toEqual({ keys: [] });
  expect((await bare.get(FILE)).body.code).toBe('not_found');
  await bare.close();
});
