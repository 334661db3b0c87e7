import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startEmbeddedEngine } from '../../clickhouse/embedded/supervisor.ts';
import { freePort } from '../../core/process/free-port.ts';
import { redisIsThere, startRedisServer } from '../kit/redis-server.ts';
import { watchedLog, watchSecret } from '../kit/secrets-watch.ts';
import { waitUntil } from '../kit/wait-until.ts';

/** Both packages as their users get them: built, packed, and installed from the tarballs into empty directories outside the repository. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const KB = 1_000;
const MB = 1_000 * KB;
const INSTALL_MAX_MS = 300_000;
const START_MAX_MS = 60_000;
const run = promisify(execFile);

interface Packed {
  readonly tarball: string;
  readonly unpackedSize: number;
  readonly size: number;
  readonly files: readonly string[];
}

let directory: string;
let service: Packed;
let client: Packed;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'settlement-index-packages-'));
  const tree = copyOfSources();
  await run(process.execPath, ['scripts/build.mjs'], { cwd: tree, timeout: INSTALL_MAX_MS });
  service = await pack(tree);
  client = await pack(join(tree, 'client'));
}, 2 * INSTALL_MAX_MS);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** What .dockerignore lets through: the image is built from the same files. */
function copyOfSources(): string {
  const tree = join(directory, 'tree');
  const lines = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
  const taken = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  const isTaken = (name: string): boolean =>
    ['LICENSE', 'README.md'].includes(name) || // npm packs them always
    taken.includes(name) ||
    (taken.includes('tsconfig*.json') && /^tsconfig.*\.json$/.test(name));
  for (const name of readdirSync(ROOT).filter(isTaken))
    cpSync(join(ROOT, name), join(tree, name), {
      recursive: true,
      filter: (source) => !['node_modules', 'dist'].includes(basename(source)),
    });
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
  return tree;
}

async function pack(from: string): Promise<Packed> {
  const words = ['pack', '--ignore-scripts', '--json', '--pack-destination', directory];
  const { stdout } = await run('npm', words, { cwd: from, maxBuffer: 100 * MB });
  const [packed] = JSON.parse(stdout) as [
    { filename: string; size: number; unpackedSize: number; files: { path: string }[] },
  ]; // printed by npm
  const { filename, size, unpackedSize, files } = packed;
  return { tarball: join(directory, filename), size, unpackedSize, files: files.map(({ path }) => path) };
}

/** What a process has printed so far. */
function listen({ stdout, stderr }: ChildProcessWithoutNullStreams): () => string {
  const printed: string[] = [];
  for (const stream of [stdout, stderr]) stream.on('data', (chunk: Buffer) => printed.push(chunk.toString()));
  return () => printed.join('');
}

/** Installs a tarball into an empty package; answers its directory. */
async function install(name: string, tarball: string, options: readonly string[]): Promise<string> {
  const at = join(directory, name);
  mkdirSync(at);
  writeFileSync(join(at, 'package.json'), '{ "private": true, "type": "module" }');
  await run('npm', ['install', '--no-audit', '--no-fund', ...options, tarball], {
    cwd: at,
    timeout: INSTALL_MAX_MS,
  });
  return at;
}

async function packagesOf(at: string): Promise<number> {
  const { stdout } = await run('npm', ['ls', '--all', '--parseable'], { cwd: at, maxBuffer: 10 * MB });
  return new Set(stdout.trim().split('\n')).size - 1; // the first is the directory itself
}

function bytesOf(at: string): number {
  return readdirSync(at, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

describe('the client', () => {
  test('is small, has no dependency, and holds code, types and words alone', () => {
    const besides = client.files.filter((path) => !/^dist\/[a-z0-9-]+(\.d\.ts|\.js)$/.test(path));
    expect(besides.toSorted()).toEqual(['LICENSE', 'README.md', 'package.json']);
    expect(client.unpackedSize).toBeLessThan(400 * KB);
    expect(client.size).toBeLessThan(84 * KB);
    const manifest = JSON.parse(readFileSync(join(ROOT, 'client/package.json'), 'utf8')) as object;
    expect(Object.keys(manifest)).not.toContain('dependencies');
    expect(Object.keys(manifest)).not.toContain('peerDependencies');
  });

  test('is installed without a registry, runs, and its types say what an answer holds', async () => {
    const at = await install('client', client.tarball, ['--offline']);
    expect(await packagesOf(at)).toBe(1);
    writeFileSync(
      join(at, 'use.ts'),
      `import { createClient, SettlementIndexError } from '@settlement-index/client';
const client = createClient({ url: 'http://127.0.0.1:1', retry: false });
export const amount = async (): Promise<bigint> => BigInt((await client.listFlows({ limit: 1 })).flows[0]?.amount ?? 0);
// @ts-expect-error there is no such parameter
export const mistyped = () => client.listFlows({ limits: 1 });
const failure: unknown = await client.getAccount().then(() => null, (error: unknown) => error);
console.log(failure instanceof SettlementIndexError && failure.code);
`,
    );
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const strict = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023,dom'];
    await run(process.execPath, [tsc, ...strict, 'use.ts'], { cwd: at }).catch(
      (error: { stdout: string }) => {
        throw new Error(error.stdout);
      },
    );
    const { stdout } = await run(process.execPath, ['use.js'], { cwd: at });
    expect(stdout.trim()).toBe('connection_failed');
  });
});

describe('the service without development and optional packages', () => {
  let at: string;
  beforeAll(async () => {
    // The packages of npm ci are in npm's cache.
    at = await install('service', service.tarball, ['--omit=dev', '--omit=optional', '--prefer-offline']);
  }, INSTALL_MAX_MS);

  /** `npx settlement-index …`, and how it ended. */
  async function program(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const { npm_config_cache: cache, HOME } = process.env;
    const child = spawn('npx', ['--no', '--', 'settlement-index', ...words], {
      cwd: at,
      env: { PATH: process.env['PATH'], HOME, ...(cache && { npm_config_cache: cache }), ...env },
    });
    const said = listen(child);
    const [code] = await once(child, 'close');
    return { code: code as number, said: said() };
  }

  test('holds what was built and nothing of the sources, tests or the client', () => {
    const besides = service.files.filter(
      (path) => !/^dist\/(core|src|clickhouse|ingest|sandbox|console|docs)\//.test(path),
    );
    expect(besides.toSorted()).toEqual(['LICENSE', 'README.md', 'package.json']);
    expect(service.files.filter((path) => path.endsWith('.ts'))).toEqual([]);
    expect(service.files).toContain('dist/console/assets/manifest.json');
    expect(service.files.filter((path) => path.endsWith('.cjs')).toSorted()).toEqual(
      ['bigquery', 'mysql', 'postgresql', 'trino'].map(
        (dialect) => `dist/sandbox/dialects/grammars/${dialect}.cjs`,
      ),
    );
  });

  test('takes less than 120 MB and 130 packages', async () => {
    expect(await packagesOf(at)).toBeLessThan(130);
    expect(bytesOf(join(at, 'node_modules'))).toBeLessThan(120 * MB);
  });

  test('runs by its name', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(await program(['--version'])).toEqual({ code: 0, said: `${version}\n` });
    const help = await program(['--help']);
    expect(help).toMatchObject({ code: 0, said: expect.stringContaining('Usage: settlement-index') });
  });

  test.each([
    {
      needs: 'the embedded engine',
      words: ['start'],
      env: {},
      packages: 'chdb',
      otherwise: 'CLICKHOUSE_URL',
    },
    {
      needs: 'a SQLite file',
      words: ['admin', 'organization', 'list'],
      env: {},
      packages: '@libsql/',
      otherwise: 'REDIS_URL',
    },
    {
      needs: 'traces',
      words: ['start'],
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' },
      packages: '@opentelemetry/',
      otherwise: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    },
  ])(
    'what needs $needs says which packages are missing, and ends with 2',
    async ({ words, env, packages, otherwise }) => {
      const { code, said } = await program(words, env);
      expect(code).toBe(2);
      expect(said).toContain(packages);
      expect(said).toContain('--omit=optional');
      expect(said).toContain(otherwise);
      expect(said).not.toContain('    at '); // no stack
    },
  );

  test.skipIf(!redisIsThere())(
    'with a ClickHouse and a Redis it serves the API, the documentation and the console',
    async () => {
      const redis = await startRedisServer();
      onTestFinished(() => redis.stop());
      const engine = await startEmbeddedEngine({
        dataDir: join(directory, 'engine'),
        database: 'packed',
        maxMemoryMegabytes: 1_024,
        log: watchedLog('engine', 'error'),
      });
      onTestFinished(async () => void (await engine.stop()));
      for (const { password } of [engine.access.writer, engine.access.reader, engine.access.guest])
        watchSecret(password);
      const { url, database, writer, reader, guest } = engine.access;
      const port = await freePort();
      const main = join(at, 'node_modules/settlement-index/dist/src/main.js');
      const child = spawn(process.execPath, [main, 'start'], {
        cwd: at,
        env: {
          ROLE: 'api',
          PORT: String(port),
          CLICKHOUSE_URL: url,
          CLICKHOUSE_DATABASE: database,
          CLICKHOUSE_USER: writer.user,
          CLICKHOUSE_PASSWORD: writer.password,
          CLICKHOUSE_READER_USER: reader.user,
          CLICKHOUSE_READER_PASSWORD: reader.password,
          CLICKHOUSE_GUEST_USER: guest.user,
          CLICKHOUSE_GUEST_PASSWORD: guest.password,
          REDIS_URL: redis.url,
        },
      });
      const said = listen(child);
      const ended = once(child, 'close');
      try {
        const origin = `http://127.0.0.1:${port}`;
        const isReady = async (): Promise<boolean> => {
          if (child.exitCode !== null) throw new Error(said());
          return fetch(`${origin}/healthz`).then(
            ({ ok }) => ok,
            () => false,
          );
        };
        await waitUntil('it answers', isReady, START_MAX_MS);
        expect((await fetch(`${origin}/v0/account`)).status).toBe(200);
        expect(await (await fetch(`${origin}/docs/client`)).text()).toContain('@settlement-index/client');
        const script = /src="([^"]+\.js)"/.exec(await (await fetch(`${origin}/console`)).text())?.[1] ?? '';
        expect((await fetch(new URL(script, `${origin}/console`))).headers.get('content-type')).toContain(
          'javascript',
        );
      } finally {
        child.kill('SIGTERM');
      }
      expect((await ended)[0]).toBe(0);
    },
  );
});
