import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fastifyCompress from '@fastify/compress';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  buildConsole,
  CONSOLE_MANIFEST,
  type ConsoleBuild,
  readConsole,
} from '../../../../src/http/console/assets.ts';
import { installConsole } from '../../../../src/http/console/route.ts';
import { installFailures } from '../../../../src/http/failures.ts';
import { watchedLog } from '../../../kit/secrets-watch.ts';

const VISITOR_KEY = `six_live_${'a'.repeat(43)}`;
/** What visits may weigh, as they travel. */
const FIRST_PAGE_MAX_BYTES = 150_000;
const SQL_PAGE_MAX_BYTES = 300_000;

let build: ConsoleBuild;
let app: FastifyInstance;

function serve(visitorKey: string | null): FastifyInstance {
  const served = Fastify();
  installFailures(served, { log: watchedLog('console'), publicUrl: '', tokenMetadataUrl: null });
  served.register(fastifyCompress, { threshold: 1_024 });
  served.register((routes, _options, done) => {
    installConsole(routes, { visitorKey, load: () => Promise.resolve(build) });
    done();
  });
  return served;
}

beforeAll(async () => {
  build = await buildConsole();
  app = serve(null);
});

afterAll(() => app.close());

it('every address of the console serves one page, whose policy allows nothing inline and no other host', async () => {
  for (const url of ['/console', '/console/', '/console/sql', '/console/merchants/0xab?chain=eip155:1']) {
    const { statusCode, headers, body } = await app.inject({ url });
    expect(statusCode, url).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; frame-src 'self'",
    );
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(body).not.toMatch(/<script(?![^>]* src="\/console\/assets\/)|<style| style="| on\w+="/);
    for (const [, address] of body.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g))
      expect((await app.inject({ url: address ?? '' })).statusCode, address).toBe(200);
  }
});

it('a page that the browser has is answered with 304', async () => {
  const { headers } = await app.inject({ url: '/console' });
  expect(headers['cache-control']).toBe('no-cache');
  const again = await app.inject({ url: '/console', headers: { 'if-none-match': String(headers['etag']) } });
  expect([again.statusCode, again.body]).toEqual([304, '']);
});

it('files are cached for good, and compressed as the browser asks', async () => {
  const url = `/console/assets/${build.script}`;
  const plain = await app.inject({ url });
  expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect(plain.headers['content-encoding']).toBeUndefined();
  const brotli = await app.inject({ url, headers: { 'accept-encoding': 'gzip, br' } });
  expect([brotli.headers['content-encoding'], brotliDecompressSync(brotli.rawPayload).toString()]).toEqual([
    'br',
    plain.body,
  ]);
  const gzip = await app.inject({ url, headers: { 'accept-encoding': 'br;q=0, gzip' } });
  expect([gzip.headers['content-encoding'], gunzipSync(gzip.rawPayload).toString()]).toEqual([
    'gzip',
    plain.body,
  ]);
  expect(String(gzip.headers['vary'])).toContain('Accept-Encoding');
});

it('a file that is not there is 404, not the page', async () => {
  const { statusCode, headers } = await app.inject({ url: '/console/assets/app-OLD.js' });
  expect([statusCode, headers['content-type']]).toEqual([404, 'application/problem+json; charset=utf-8']);
});

it('HEAD gets the headers of GET and no body', async () => {
  for (const url of ['/console', `/console/assets/${build.script}`]) {
    const [head, get] = [await app.inject({ method: 'HEAD', url }), await app.inject({ url })];
    expect([head.statusCode, head.body, head.headers['etag']]).toEqual([200, '', get.headers['etag']]);
    expect(head.headers['content-type']).toBe(get.headers['content-type']);
  }
});

it('other methods are refused', async () => {
  expect((await app.inject({ method: 'POST', url: '/console' })).statusCode).toBe(405);
});

/** The file of a chunk, and every file that it loads at once. */
function withImports(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  const text = Buffer.from(build.files.get(file) ?? []).toString();
  for (const [, name = ''] of text.matchAll(/(?:from|import)"\.\/([^"]+\.js)"/g)) withImports(name, found);
  return found;
}

function chunkOf(name: string): string {
  const file = [...build.files.keys()].find((one) => one.startsWith(`${name}-`) && one.endsWith('.js'));
  if (file === undefined) throw new Error(`the console has no chunk ${name}`);
  return file;
}

async function weightOf(chunks: readonly string[]): Promise<number> {
  const files = new Set([build.style, ...chunks.flatMap((chunk) => [...withImports(chunk)])]);
  const bytes = await Promise.all(
    [...files].map(async (name) => {
      const headers = { 'accept-encoding': 'br' };
      return (await app.inject({ url: `/console/assets/${name}`, headers })).rawPayload.length;
    }),
  );
  return bytes.reduce((sum, one) => sum + one, 0);
}

it('a first visit weighs less than 150 KB on any page but that of SQL, its chart included', async () => {
  const pages = [...build.files.keys()].filter((name) => /^[a-z]+-[A-Z0-9]+\.js$/.test(name));
  const own = new Set(['app', 'chunk', 'draw', 'editor', 'sql']);
  const names = pages.map((name) => name.split('-')[0] ?? '').filter((name) => !own.has(name));
  expect(names).toContain('wallet');
  for (const name of names) {
    const weight = await weightOf([build.script, chunkOf(name), chunkOf('draw')]);
    process.stdout.write(`console: ${name} ${weight} bytes\n`);
    expect(weight, name).toBeLessThan(FIRST_PAGE_MAX_BYTES);
  }
});

it('a first visit to the SQL page weighs less than 300 KB, editor and chart included', async () => {
  const weight = await weightOf([build.script, chunkOf('sql'), chunkOf('editor'), chunkOf('draw')]);
  process.stdout.write(`console: sql ${weight} bytes\n`);
  expect(weight).toBeLessThan(SQL_PAGE_MAX_BYTES);
  expect(weight).toBeGreaterThan(FIRST_PAGE_MAX_BYTES);
});

it('the build that is shipped has no page of the design system', () => {
  expect([...build.files.keys()].filter((name) => name.startsWith('parts'))).toEqual([]);
});

it('the page holds a visitor key where the deployment lends one, and no key otherwise', async () => {
  expect((await app.inject({ url: '/console' })).body).not.toContain('six-visitor-key');
  const lending = serve(VISITOR_KEY);
  expect((await lending.inject({ url: '/console' })).body).toContain(
    `<meta name="six-visitor-key" content="${VISITOR_KEY}">`,
  );
  await lending.close();
});

it('the files that the build writes are served as the sources are', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'settlement-index-console-'));
  for (const [name, bytes] of build.files) writeFileSync(join(directory, name), bytes);
  const { script, style } = build;
  writeFileSync(join(directory, CONSOLE_MANIFEST), JSON.stringify({ script, style }));
  const read = await readConsole(pathToFileURL(`${directory}/`));
  const sorted = ({ files }: ConsoleBuild) =>
    [...files].sort().map(([name, bytes]) => [name, Buffer.from(bytes).toString()]);
  expect(sorted(read)).toEqual(sorted(build));
  expect([read.script, read.style]).toEqual([script, style]);
  rmSync(directory, { recursive: true });
});
