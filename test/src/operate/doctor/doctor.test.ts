import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EngineWalls } from '../../../../clickhouse/embedded/walls.ts';
import { loadConfig } from '../../../../core/config/load.ts';
import { mintApiKey } from '../../../../core/domain/caller.ts';
import { openSqliteStore } from '../../../../src/accounts/sqlite/store.ts';
import { checkAccounts, judgeDurability } from '../../../../src/operate/doctor/accounts.ts';
import { checkRpc, judgeChain } from '../../../../src/operate/doctor/chains.ts';
import {
  checkSql,
  closedFiles,
  judgeVersion,
  judgeWalls,
  liftsReadonly,
} from '../../../../src/operate/doctor/engine.ts';
import {
  checkConfiguration,
  checkNode,
  judgeClock,
  judgeSpace,
} from '../../../../src/operate/doctor/machine.ts';
import type { ChainStatus } from '../../../../src/operations/index-state/chain-status.ts';
import { addKey, createOrganization, ownTestStore } from '../../../kit/access.ts';
import { watchedLog } from '../../../kit/secrets-watch.ts';

/** Every check of the doctor with something broken on purpose; the parts that need an engine or Redis: test/engine, test/redis. */

const NOW_MS = 1_795_000_000_000;
const NOW = NOW_MS / 1_000;

test('builds with the fault are distinguished from builds in which it was mended', () => {
  const faulty = ['26.7.2.1', '26.7.6.48', '26.3.27.3', '26.4.9.9', '26.6.4.50', '25.12.1.1', '26.8.1.9'];
  const mended = ['26.7.6.49', '26.3.27.4', '26.6.4.51', '26.8.2.2', '26.9.1.1', '27.1.1.1', '26.7.7.1'];
  expect(faulty.map(liftsReadonly)).toEqual(faulty.map(() => true));
  expect(mended.map(liftsReadonly)).toEqual(mended.map(() => false));
  expect(judgeVersion('26.7.2.1')).toMatchObject({
    verdict: 'warning',
    remedy: expect.stringContaining('26.7.6.49'),
  });
  expect(judgeVersion('26.7.6.49').verdict).toBe('ok');
  expect(judgeVersion('head').verdict).toBe('warning');
});

test('walls are judged by whether one of them closes the service’s files, and each that is missing has its reason', () => {
  const landlock = { abi: 7 };
  const ownUser = { id: 60_842 };
  const missing = { missing: 'the kernel is old' };
  const sockets = { bounded: true } as const;
  const judge = (over: object) =>
    judgeWalls({ landlock, ownUser: missing, sockets, cleanEnvironment: true, ...over });
  expect(judge({})).toMatchObject({ verdict: 'ok', says: expect.stringContaining('the kernel is old') });
  expect(judge({ landlock: missing, ownUser })).toMatchObject({ verdict: 'ok' });
  expect(judge({ landlock: missing })).toMatchObject({
    verdict: 'warning',
    says: expect.stringContaining('organizations only'),
    remedy: expect.stringContaining('Linux 5.19'),
  });
  expect(judge({ sockets: missing })).toMatchObject({
    verdict: 'warning',
    says: expect.stringContaining('connecting to other machines'),
    remedy: expect.stringContaining('seccomp'),
  });
  expect(judge({ cleanEnvironment: false }).verdict).toBe('failure');
  expect(judgeWalls(undefined).verdict).toBe('skipped');
});

test('what must be closed follows from the walls: with a user of its own alone, files of every user stay open', () => {
  const missing = { missing: 'why' };
  const cleanEnvironment = true;
  const closed = (landlock: object, ownUser: object) =>
    closedFiles({ landlock, ownUser, cleanEnvironment } as EngineWalls, '/secret');
  expect(closed({ abi: 3 }, missing)).toContain('/etc/passwd');
  expect(closed({ abi: 3 }, missing)).toContain('/secret');
  expect(closed(missing, { id: 1 })).toEqual(['/secret']);
  expect(closed(missing, missing)).toEqual([]);
});

test('a clock is judged by what lies outside of the way there and back', () => {
  const judge = (theirMs: number) =>
    judgeClock({ whose: 'it', theirMs, beforeMs: NOW_MS, afterMs: NOW_MS + 400 }).verdict;
  expect(judge(NOW_MS + 200)).toBe('ok');
  expect(judge(NOW_MS + 2_500)).toBe('warning');
  expect(judge(NOW_MS - 5_000)).toBe('warning');
  expect(judge(NOW_MS - 31_000)).toBe('failure');
});

test('a disk is judged by its free room, in bytes and as a share', () => {
  const judge = (free: number, total: number) =>
    judgeSpace({ whose: 'it', freeBytes: free * 1024 ** 3, totalBytes: total * 1024 ** 3 }).verdict;
  expect([judge(0.5, 100), judge(4, 8), judge(50, 1_000), judge(50, 100)]).toEqual([
    'failure',
    'warning',
    'warning',
    'ok',
  ]);
});

test('whose SQL is run is read from the service that runs', async () => {
  let value: number | null = 2;
  const service = createServer((_, response) => {
    response.end(
      value === null ? 'settlement_index_up 1\n' : `# TYPE x gauge\nsettlement_index_sql_open_to ${value}\n`,
    );
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  const { port } = service.address() as AddressInfo; // listens on TCP
  const verdictOf = async (of: number | null) => {
    value = of;
    return (await checkSql({ metrics: { host: '127.0.0.1', port } })).verdict;
  };
  expect([await verdictOf(2), await verdictOf(1), await verdictOf(0), await verdictOf(null)]).toEqual([
    'ok',
    'warning',
    'failure',
    'skipped',
  ]);
  await new Promise((resolve) => service.close(resolve));
  expect((await checkSql({ metrics: { host: '127.0.0.1', port } })).verdict).toBe('skipped');
  expect((await checkSql({ metrics: { host: '127.0.0.1', port: null } })).verdict).toBe('skipped');
});

test('Node is judged by the oldest that the program runs on', () => {
  expect(['v20.18.9', 'v18.20.0', 'v20.19.0', 'v22.1.0'].map((one) => checkNode(one).verdict)).toEqual([
    'failure',
    'failure',
    'ok',
    'ok',
  ]);
});

test('a Redis that loses or forgets is a failure, one that will not say is a warning', () => {
  const judge = (appendonly: string, appendfsync: string, evicts: string) =>
    judgeDurability({ appendonly, appendfsync, evicts }).map(({ verdict }) => verdict);
  expect(judge('yes', 'always', 'noeviction')).toEqual(['ok']);
  expect(judge('no', 'always', 'noeviction')).toEqual(['failure']);
  expect(judge('yes', 'everysec', 'allkeys-lru')).toEqual(['warning', 'failure']);
  expect(judgeDurability(null).map(({ verdict }) => verdict)).toEqual(['warning']);
});

const STATUS: ChainStatus = {
  chain: 'eip155:8453' as ChainStatus['chain'], // a chain of the configuration below
  state: 'following',
  indexedBlock: 10,
  indexedTime: NOW - 1,
  headBlock: 10,
  headSeenAt: NOW - 1,
  finalizedBlock: 5,
  backfillBlocksDone: 1,
  backfillBlocksTotal: 1,
  backfillSource: null,
  rowsPerSecond: 1,
  blocksPerSecond: 1,
  rowsWritten: 1,
  reorgs: 0,
  deepestReorg: 0,
  retries: 0,
  contradictions: 0,
  deadLetters: 0,
  lastError: '',
  feeHoursOpen: null,
  feeOldestOpen: null,
  lastWrittenAt: NOW,
  updatedAt: NOW,
};

test('a chain is judged by its state, its lag, and by whether anybody reports it', () => {
  const [chain] = loadConfig({ env: {} }).chains;
  if (chain === undefined) throw new Error('no chain');
  const judge = (over: Partial<ChainStatus> | null) =>
    judgeChain(chain, over === null ? undefined : { ...STATUS, ...over }, NOW_MS).verdict;
  expect(judge({})).toBe('ok');
  expect(judge(null)).toBe('warning');
  expect(judge({ state: 'stopped', lastError: 'wrong_chain' })).toBe('failure');
  expect(judge({ updatedAt: NOW - 61 })).toBe('warning');
  expect(judge({ headBlock: 500, indexedTime: NOW - 600 })).toBe('warning');
});

let nodes: Server;
let nodeUrl: string;

/** A node under `/chain-id/age-of-the-head/first-block-it-has`. */
beforeAll(async () => {
  nodes = createServer((request, response) => {
    const [, chainId = '', age = '', oldest = ''] = (request.url ?? '').split('/');
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', () => {
      const answer = ({ id, method, params }: { id: number; method: string; params: string[] }) => {
        if (method === 'eth_chainId')
          return { jsonrpc: '2.0', id, result: `0x${Number(chainId).toString(16)}` };
        const number = params[0] === 'latest' ? 1_000 : Number(params[0]);
        const timestamp = `0x${Math.floor(NOW - Number(age)).toString(16)}`;
        const block = number < Number(oldest) ? null : { number: `0x${number.toString(16)}`, timestamp };
        return { jsonrpc: '2.0', id, result: block };
      };
      const asked: unknown = JSON.parse(text);
      response.end(JSON.stringify(Array.isArray(asked) ? asked.map(answer) : answer(asked as never)));
    });
  });
  await new Promise<void>((resolve) => void nodes.listen(0, '127.0.0.1', resolve));
  nodeUrl = `http://127.0.0.1:${(nodes.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => nodes.close(resolve)));

const GONE = 'http://127.0.0.1:9/secret-path-key';

async function judgeNodes(...rpcUrls: string[]) {
  const [base] = loadConfig({ env: {} }).chains;
  if (base === undefined) throw new Error('no chain');
  return checkRpc({ ...base, rpcUrls, startBlock: 100 }, () => NOW_MS);
}

test('an RPC URL is judged by its chain, the age of its tip and the blocks it still has; only its host is printed', async () => {
  const good = `${nodeUrl}/8453/2/0/secret-path-key`;
  expect((await judgeNodes(good)).map(({ verdict }) => verdict)).toEqual(['ok']);
  expect(await judgeNodes(`${nodeUrl}/1/2/0`)).toMatchObject([
    { verdict: 'failure', says: expect.stringContaining('serves chain eip155:1, not eip155:8453') },
  ]);
  expect((await judgeNodes(`${nodeUrl}/8453/500/0`)).map(({ says }) => says)).toEqual([
    expect.stringContaining('500 s old'),
  ]);
  expect((await judgeNodes(`${nodeUrl}/8453/-90/0`)).map(({ says }) => says)).toEqual([
    expect.stringContaining('in the future'),
  ]);
  expect((await judgeNodes(`${nodeUrl}/8453/2/200`)).map(({ says }) => says)).toEqual([
    expect.stringContaining('does not have the block at startBlock'),
  ]);
  expect((await judgeNodes(GONE)).map(({ verdict }) => verdict)).toEqual(['failure']);
  const both = await judgeNodes(GONE, good);
  expect(both.map(({ verdict }) => verdict)).toEqual(['warning', 'ok']);
  expect(JSON.stringify(both)).not.toContain('secret-path-key');
});

test('settings that are allowed and unwise are warned of, each with what to do', () => {
  const whole = loadConfig({ env: { RPC_URL_8453: 'https://one.example,https://two.example' } });
  expect(checkConfiguration(whole)).toMatchObject([{ verdict: 'ok' }]);
  const remote = { ...whole.clickhouse, url: 'http://engine.example' };
  const shared = { ...whole, role: 'api' as const, clickhouse: remote };
  const found = checkConfiguration(shared);
  expect(found.map(({ verdict }) => verdict)).toEqual(found.map(() => 'warning'));
  expect(found.map(({ says }) => says).join('\n')).toMatch(
    /writer’s credentials[\s\S]*no guest user[\s\S]*this machine alone[\s\S]*cursors/,
  );
});

test.each([
  [
    'a newer version',
    (file: Database.Database) => file.pragma('user_version = 999'),
    /newer version[\s\S]*999/,
    /version that wrote it/,
  ],
  [
    'a table missing',
    (file: Database.Database) => file.exec('DROP TABLE payment'),
    /no such table/,
    /disk of the data/,
  ],
])('a control store of %s is reported with its reason', async (_what, spoil, says, remedy) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'settlement-index-doctor-'));
  const path = join(dataDir, 'control.db');
  writeFileSync(join(dataDir, 'config.json'), JSON.stringify({ dataDir }));
  const first = openSqliteStore({ path });
  await first.ping();
  await first.close();
  const file = new Database(path);
  spoil(file);
  file.close();
  const config = loadConfig({ file: join(dataDir, 'config.json'), env: {} });
  const store = openSqliteStore({ path });
  const found = await checkAccounts({ config, nowMs: () => NOW_MS, log: watchedLog('doctor'), store });
  await store.close();
  rmSync(dataDir, { recursive: true });
  expect(found[0]).toMatchObject({ check: 'control_store', verdict: 'failure' });
  expect(found[0]?.says).toMatch(says);
  expect(JSON.stringify(found[0])).toMatch(remedy);
});

test('a ledger that was tampered with is a failure that names whose it is', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'settlement-index-doctor-'));
  const path = join(dataDir, 'control.db');
  const file = join(dataDir, 'config.json');
  writeFileSync(file, JSON.stringify({ dataDir }));
  const config = loadConfig({ file, env: {} });
  const deps = { config, nowMs: () => NOW_MS, log: watchedLog('doctor') };
  const store = openSqliteStore({ path });
  await store.ping();
  const granted = { organizationId: 'acme', grantId: 'g', units: 100, note: 'n', atMs: NOW_MS };
  await store.accounts.createOrganization({ id: 'acme', displayName: 'A', plan: 'pro', createdAtMs: NOW_MS });
  await store.units.grant(granted);
  const healthy = await checkAccounts({ ...deps, store });
  expect(healthy.map(({ check, verdict }) => [check, verdict])).toEqual([
    ['control_store', 'ok'],
    ['ledger', 'ok'],
  ]);
  await store.close();
  const thief = new Database(path);
  const { changes } = thief
    .prepare('UPDATE organization SET balance = balance + 5, granted = granted + 5')
    .run();
  thief.close();
  expect(changes).toBe(1);
  const doctored = openSqliteStore({ path });
  const found = await checkAccounts({ ...deps, store: doctored });
  expect(found[1]).toMatchObject({
    check: 'ledger',
    verdict: 'failure',
    says: expect.stringContaining('acme'),
  });
  await doctored.close();
  expect((await checkAccounts({ ...deps, store: doctored }))[0]).toMatchObject({ verdict: 'failure' });
  rmSync(dataDir, { recursive: true, force: true });
});

test('a key that is lent to visitors is warned of where its record has more than they need', async () => {
  const { store, close } = ownTestStore();
  const none = { managesKeys: false, unitsPerDay: 5, operations: null, madeBy: null };
  const lent = async (over: Parameters<typeof addKey>[1] | null, organizationId?: string) => {
    const own = organizationId ?? (await createOrganization(store, { units: 1 }));
    const visitorKey =
      over === null ? mintApiKey('live') : await addKey(store, { organizationId: own, ...over });
    const config = loadConfig({ env: {} });
    const deps = { nowMs: () => NOW_MS, log: watchedLog('doctor'), store };
    return (
      await checkAccounts({ ...deps, config: { ...config, console: { ...config.console, visitorKey } } })
    )[2];
  };
  expect(await lent({ limits: none })).toMatchObject({ check: 'visitor_key', verdict: 'ok' });
  const shared = await createOrganization(store, { units: 1 });
  await addKey(store, { organizationId: shared });
  const faults = [
    [null, 'unknown'],
    [{ limits: none, revokedAtMs: 1 }, 'revoked'],
    [{}, 'no budget'],
    [{}, 'manage keys'],
    [{ limits: { ...none, rights: ['publishes'] } }, 'rights (publishes)'],
    [{ limits: none }, 'other keys', shared],
  ] as const;
  for (const [over, says, organizationId] of faults)
    expect(await lent(over, organizationId)).toMatchObject({
      verdict: 'warning',
      says: expect.stringContaining(says),
    });
  await close();
});
