import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'libsql';
import { afterEach, expect, test, vi } from 'vitest';
import type { KeyDigest } from '../../../../core/domain/caller.ts';
import type { KeyRecord } from '../../../../src/accounts/account-store.ts';
import { PAYMENT_KEPT_MS } from '../../../../src/accounts/payment-store.ts';
import { copyDatabase } from '../../../../src/accounts/sqlite/database.ts';
import { openSqliteStore } from '../../../../src/accounts/sqlite/store.ts';
import { type ControlStore, OtherVersion, StoreUnavailable } from '../../../../src/accounts/store.ts';
import { compiledSources } from '../../../kit/compile-sources.ts';
import { expectBooks, readLedger } from '../../../kit/unit-books.ts';
import { waitUntil } from '../../../kit/wait-until.ts';

/** Only the SQLite adapter. What every adapter promises: test/src/accounts/control-store.ts. */

/** Every store starts a thread, and some tests a process, from source: a second each on a busy machine. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const GRANTED = 1_000_000;
const MIGRATIONS = new URL('../../../../src/accounts/sqlite/migrations/', import.meta.url);
const ending: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

function freshDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'settlement-index-sqlite-'));
  ending.push(() => rmSync(directory, { recursive: true }));
  return directory;
}

function open(path: string): ControlStore {
  const store = openSqliteStore({ path });
  ending.push(() => store.close());
  return store;
}

async function openFunded(path = join(freshDirectory(), 'control.db')): Promise<ControlStore> {
  const store = open(path);
  await store.accounts.createOrganization({ id: 'org', displayName: 'Org', plan: 'free', createdAtMs: 1 });
  await store.units.grant({ organizationId: 'org', grantId: 'g', units: GRANTED, note: 'test', atMs: 1 });
  return store;
}

function hold(store: ControlStore, holdId: string, units = 1) {
  return store.units.hold({
    organizationId: 'org',
    holdId,
    units,
    operation: 'op',
    heldAtMs: 1,
    overdueAtMs: 2,
  });
}

/** How many transactions the write-ahead log holds (sqlite.org/fileformat2.html#walformat): only a last page names a size. */
function commitsInLog(path: string): number {
  const log = readFileSync(`${path}-wal`);
  const frameBytes = 24 + log.readUInt32BE(8);
  const salt = log.subarray(16, 24);
  let commits = 0;
  for (let at = 32; at + frameBytes <= log.length; at += frameBytes) {
    if (!log.subarray(at + 8, at + 16).equals(salt)) break;
    if (log.readUInt32BE(at + 4) !== 0) commits += 1;
  }
  return commits;
}

interface Writer {
  readonly child: ChildProcess;
  readonly lines: string[];
  readonly exited: Promise<number | null>;
}

function startWriter(path: string, prefix: string, count: number): Writer {
  const owner = join(compiledSources(), 'test/kit/sqlite-writer-owner.js');
  const child = spawn(process.execPath, [owner, path, prefix, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  ending.push(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  return { child, lines, exited };
}

test('a thousand holds at once cost a few commits, one alone costs one', async () => {
  const path = join(freshDirectory(), 'control.db');
  const store = await openFunded(path);
  const before = commitsInLog(path);
  const held = await Promise.all(Array.from({ length: 1_000 }, (_, i) => hold(store, `h${i}`)));
  expect(held.every(({ outcome }) => outcome === 'held')).toBe(true);
  const crowd = commitsInLog(path) - before;
  expect(crowd).toBeGreaterThan(0);
  expect(crowd).toBeLessThan(10);
  await hold(store, 'alone');
  expect(commitsInLog(path) - before - crowd).toBe(1);
});

test('holds that end without a charge leave the balance as it was, alone and in a crowd, and are ended for good', async () => {
  const path = join(freshDirectory(), 'control.db');
  const store = await openFunded(path);
  const end = (holdId: string) => store.units.capture({ organizationId: 'org', holdId, units: 0, atMs: 3 });
  for (const holdId of ['first', 'second']) {
    await hold(store, holdId, 5);
    expect(await end(holdId)).toMatchObject({
      outcome: 'captured',
      charged: 0,
      balance: { balance: GRANTED },
    });
  }
  const crowd = Array.from({ length: 50 }, (_, i) => `crowd-${i}`);
  await Promise.all(crowd.map((holdId) => hold(store, holdId)));
  const ended = await Promise.all(crowd.map(end));
  expect(ended.every(({ outcome }) => outcome === 'captured')).toBe(true);
  expect((await end('first')).outcome).toBe('replayed');
  // Another connection sees what was answered.
  const other = open(path);
  expect(await other.units.balance('org')).toEqual({ granted: GRANTED, balance: GRANTED, held: 0, spent: 0 });
  expect(await readLedger(other, 'org')).toHaveLength(1 + 2 * (2 + crowd.length));
});

test('a call that is refused undoes only itself, not those that were committed with it', async () => {
  const store = await openFunded();
  await hold(store, 'small', 2);
  const capture = { organizationId: 'org', holdId: 'small', atMs: 3 };
  const [first, refused, last] = await Promise.allSettled([
    hold(store, 'first'),
    store.units.capture({ ...capture, units: 3 }),
    hold(store, 'last'),
  ]);
  expect(first).toMatchObject({ status: 'fulfilled', value: { outcome: 'held' } });
  expect(refused).toMatchObject({ status: 'rejected', reason: expect.any(RangeError) });
  expect(last).toMatchObject({ status: 'fulfilled', value: { outcome: 'held' } });
  expect((await readLedger(store, 'org')).map(({ subject }) => subject)).toEqual([
    'g',
    'small',
    'first',
    'last',
  ]);
});

test('a change waits for a lock that another process holds for long', async () => {
  const path = join(freshDirectory(), 'control.db');
  const store = await openFunded(path);
  const other = new Database(path);
  other.exec('BEGIN IMMEDIATE');
  const held = hold(store, 'patient');
  setTimeout(() => other.exec('COMMIT'), 400);
  expect((await held).outcome).toBe('held');
  other.close();
});

/** Counts the system calls that wait for the disk. Linux only. */
const canTrace = spawnSync('strace', ['-e', 'trace=none', 'true']).status === 0;

test.runIf(canTrace)(
  'a metered call waits for the disk once: its capture is synced, its hold is not',
  async () => {
    const directory = freshDirectory();
    const path = join(directory, 'control.db');
    await (await openFunded(path)).close();
    const calls = 60;
    const owner = join(compiledSources(), 'test/kit/sqlite-writer-owner.js');
    const trace = join(directory, 'trace');
    const traced = ['-f', '-e', 'trace=fsync,fdatasync', '-o', trace, process.execPath, owner];
    const run = spawn('strace', [...traced, path, 'synced', String(calls), '1'], { stdio: 'ignore' });
    await new Promise((resolve) => run.once('close', resolve));
    const syncs = readFileSync(trace, 'utf8').match(/\bf(?:data)?sync\(/g)?.length ?? 0;
    expect((await open(path).units.balance('org'))?.spent).toBe(calls);
    expect(syncs).toBeGreaterThanOrEqual(calls);
    // Opening and closing the file cost some too.
    expect(syncs).toBeLessThan(calls + 20);
  },
);

test('a power cut loses the last holds at most: synced rows remain, and the books add up', async () => {
  const directory = freshDirectory();
  const path = join(directory, 'control.db');
  const store = await openFunded(path);
  for (const id of ['a', 'b']) await hold(store, id, 2);
  await store.units.capture({ organizationId: 'org', holdId: 'a', units: 2, atMs: 3 });
  const ends = [statSync(`${path}-wal`).size];
  for (const id of ['c', 'd']) {
    await hold(store, id, 3);
    ends.push(statSync(`${path}-wal`).size);
  }
  const whole = readFileSync(`${path}-wal`);
  const seen: string[] = [];
  // At the end of each commit, and within the next one.
  for (const bytes of ends.flatMap((end) => [end, end + 5_000])) {
    const cut = join(directory, `cut-${bytes}.db`);
    copyFileSync(path, cut);
    writeFileSync(`${cut}-wal`, whole.subarray(0, bytes));
    const left = open(cut);
    const { held, spent } = await expectBooks(left, 'org');
    seen.push(`${spent} spent, ${held} held`);
    await left.close();
  }
  const at = (held: number) => `2 spent, ${held} held`;
  expect(seen).toEqual([at(2), at(2), at(5), at(5), at(8), at(8)]);
});

test('a hold of another process counts at once, and one made while that process has the lock waits for it', async () => {
  const path = join(freshDirectory(), 'control.db');
  const [one, two] = [await openFunded(path), open(path)];
  for (let index = 0; index < 20; index++) {
    expect((await hold(one, `one-${index}`, GRANTED / 40)).outcome).toBe('held');
    expect((await hold(two, `two-${index}`, GRANTED / 40)).outcome).toBe('held');
  }
  expect((await hold(one, 'more')).outcome).toBe('insufficient');
  expect((await hold(two, 'more')).outcome).toBe('insufficient');
  const other = new Database(path);
  ending.push(() => void other.close());
  await one.units.release({ organizationId: 'org', holdId: 'one-0', kind: 'release', note: '', atMs: 1 });
  other.exec('BEGIN IMMEDIATE');
  const waiting = hold(two, 'waits');
  setTimeout(() => other.exec('COMMIT'), 100);
  expect((await waiting).outcome).toBe('held');
});

/** The limit of a file's size stands for a full disk: it can be raised again while the process runs. Linux only. */
const canLimit = spawnSync('prlimit', ['--version']).status === 0;

test.runIf(canLimit)(
  'a full disk refuses every change, loses none that was acknowledged, and is recovered from',
  async () => {
    const path = join(freshDirectory(), 'control.db');
    await (await openFunded(path)).close();
    const writer = startWriter(path, 'full', 300);
    await waitUntil('the process writes', () => writer.lines.length > 0);
    const limit = (bytes: string): void => {
      const done = spawnSync('prlimit', ['--pid', String(writer.child.pid), `--fsize=${bytes}:unlimited`]);
      expect(done.status).toBe(0);
    };
    limit('4096');
    await waitUntil('writes are refused', () => writer.lines.includes('unavailable'));
    const acknowledged = writer.lines.filter((line) => line !== 'unavailable').length;
    limit('unlimited');
    expect(await writer.exited).toBe(0);
    expect(acknowledged).toBeLessThan(600);
    const store = open(path);
    expect(await store.units.balance('org')).toEqual({
      granted: GRANTED,
      balance: GRANTED - 300,
      held: 0,
      spent: 300,
    });
  },
);

test('a file of a newer program is refused in words, and left as it was', async () => {
  const directory = freshDirectory();
  const path = join(directory, 'control.db');
  await (await openFunded(path)).close();
  const db = new Database(path);
  db.exec('PRAGMA user_version = 99');
  db.close();
  const store = open(path);
  const refusal = await store.ping().catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(OtherVersion);
  expect(refusal).toBeInstanceOf(StoreUnavailable);
  const newest = readdirSync(MIGRATIONS).length;
  expect(String(refusal)).toMatch(
    new RegExp(`newer version of this program: its schema is 99, the newest known here is ${newest}$`),
  );
  expect(String(refusal)).not.toContain(directory);
  await expect(store.units.balance('org')).rejects.toBeInstanceOf(OtherVersion);
  await expect(hold(store, 'h')).rejects.toBeInstanceOf(OtherVersion);
});

test.each([
  ['a directory', (path: string) => mkdirSync(path), (path: string) => rmdirSync(path)],
  [
    'below a file',
    (path: string) => writeFileSync(join(path, '..'), ''),
    (path: string) => rmSync(join(path, '..')),
  ],
  [
    'no database',
    (path: string) => writeFileSync(path, 'some text that is certainly no SQLite database '.repeat(100)),
    (path: string) => rmSync(path),
  ],
])('a path that is %s makes the store unavailable, until it is put right', async (kind, spoil, repair) => {
  const path = join(freshDirectory(), ...(kind === 'below a file' ? ['file'] : []), 'control.db');
  spoil(path);
  const store = open(path);
  await expect(store.ping()).rejects.toBeInstanceOf(StoreUnavailable);
  await expect(store.accounts.findOrganization('org')).rejects.toBeInstanceOf(StoreUnavailable);
  repair(path);
  await store.ping();
  expect(await store.accounts.findOrganization('org')).toBeNull();
});

test('only the owner can read the directory and the files', async () => {
  const directory = join(freshDirectory(), 'made');
  await openFunded(join(directory, 'control.db'));
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  for (const file of ['control.db', 'control.db-wal', 'control.db-shm']) {
    expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600);
  }
});

test('a read sees what was committed before it, also by another process', async () => {
  const path = join(freshDirectory(), 'control.db');
  const store = await openFunded(path);
  const digest = 'a'.repeat(64) as KeyDigest;
  const key: KeyRecord = {
    id: 'key_1',
    digest,
    kind: 'live',
    organizationId: 'org',
    label: 'label',
    createdAtMs: 1,
    expiresAtMs: null,
    revokedAtMs: null,
  };
  const seen = async () => {
    const [found, balance] = [await store.accounts.findKey(digest), await store.units.balance('org')];
    return [found?.organization?.plan, found?.key.revokedAtMs, balance?.balance];
  };
  expect(await seen()).toEqual([undefined, undefined, GRANTED]);
  await store.accounts.addKey(key);
  expect(await seen()).toEqual(['free', null, GRANTED]);
  await hold(store, 'h1', 7);
  expect(await seen()).toEqual(['free', null, GRANTED - 7]);
  const other = new Database(path);
  ending.push(() => void other.close());
  const elsewhere = (text: string): void => {
    other.exec(text);
  };
  elsewhere("UPDATE organization SET plan = 'pro'");
  expect(await seen()).toEqual(['pro', null, GRANTED - 7]);
  elsewhere('UPDATE api_key SET revoked_at_ms = 5');
  expect(await seen()).toEqual(['pro', 5, GRANTED - 7]);
  elsewhere('DELETE FROM api_key');
  expect(await seen()).toEqual([undefined, undefined, GRANTED - 7]);
});

test('a served payment is forgotten with a claim that comes PAYMENT_KEPT_MS after it expired', async () => {
  const { payments } = await openFunded();
  const idOf = (nonce: string) => ({ chain: 'eip155:1', asset: '0xa', payer: '0xb', nonce });
  const claimAt = (nonce: string, claimedAtMs: number) =>
    payments.claim({
      id: idOf(nonce),
      binding: 'b',
      resource: 'GET /v0/flows',
      payTo: '0xc',
      amount: '1',
      claimedAtMs,
      expiresAtMs: 1_000,
      leaseUntilMs: claimedAtMs,
    });
  await claimAt('served', 0);
  await payments.recordSettlement({ id: idOf('served'), transaction: '0xd' });
  const { attempt } = await payments.beginServing({
    id: idOf('served'),
    nowMs: 0,
    leaseUntilMs: 1,
    attemptsMax: 1,
  });
  await payments.finishServing({ id: idOf('served'), attempt, answered: true });
  await claimAt('before', 999 + PAYMENT_KEPT_MS);
  expect(await payments.find(idOf('served'))).toMatchObject({ state: 'served' });
  await claimAt('after', 1_000 + PAYMENT_KEPT_MS);
  expect(await payments.find(idOf('served'))).toBeNull();
  expect(await payments.find(idOf('before'))).toMatchObject({ state: 'settling' });
});

test('an error names no digest and no id', async () => {
  const store = await openFunded();
  const key: KeyRecord = {
    id: 'key_secret',
    digest: 'd19e57'.repeat(10) as KeyDigest,
    kind: 'neither' as KeyRecord['kind'],
    organizationId: 'org',
    label: 'label',
    createdAtMs: 1,
    expiresAtMs: null,
    revokedAtMs: null,
  };
  const error = await store.accounts.addKey(key).catch((caught: Error) => caught);
  expect(error).toBeInstanceOf(Error);
  expect(`${error} ${(error as Error).stack} ${(error as Error).cause}`).not.toMatch(/d19e57|key_secret/);
});

test('closing finishes what was asked for before', async () => {
  const path = join(freshDirectory(), 'control.db');
  const store = await openFunded(path);
  const outcomes: string[] = [];
  const asked = Array.from({ length: 50 }, async (_, i) => {
    outcomes.push((await hold(store, `h${i}`)).outcome);
  });
  await store.close();
  expect(outcomes).toEqual(Array.from({ length: 50 }, () => 'held'));
  await Promise.all(asked);
  expect((await open(path).units.balance('org'))?.held).toBe(50);
});

test('a file from before usage was counted has the usage that its ledger knows', async () => {
  const path = join(freshDirectory(), 'control.db');
  const db = new Database(path);
  for (const name of ['0001-control.sql', '0002-retention.sql', '0003-payment-left-open.sql'])
    db.exec(readFileSync(new URL(name, MIGRATIONS), 'utf8'));
  db.exec(`
    PRAGMA user_version = 3;
    INSERT INTO organization (id, display_name, plan, created_at_ms, granted, balance, spent, ledger_sequence)
    VALUES ('org', 'Org', 'free', 1, 100, 91, 9, 5);
    INSERT INTO ledger VALUES ('org', 1, 1, 'grant', 100, 0, 'g', '', 100, 0),
      ('org', 2, 1, 'hold', 5, 0, 'h', 'runSql', 95, 5), ('org', 3, 1, 'capture', 5, 0, 'h', 'runSql', 95, 0),
      ('org', 4, 1, 'hold', 4, 0, 'i', 'runSql', 91, 4), ('org', 5, 90000000, 'capture', 4, 0, 'i', 'runSql', 91, 0);
    INSERT INTO api_key VALUES ('k', '${'a'.repeat(64)}', 'live', 'org', 'old', 1, NULL, NULL);`);
  db.close();
  const store = open(path);
  await store.ping();
  await expectBooks(store, 'org');
  const key = await store.accounts.findKey('a'.repeat(64) as KeyDigest);
  expect(key?.key).not.toHaveProperty('limits');
});

test('a copy has the usage and not the texts of queries, and a forgotten text is gone from the file', async () => {
  const path = join(freshDirectory(), 'control.db');
  const store = await openFunded(path);
  await hold(store, 'h');
  await store.units.capture({ organizationId: 'org', holdId: 'h', units: 1, atMs: 1 });
  const text = `SELECT 'a secret question', '${'x'.repeat(9_000)}'`;
  const run = {
    id: 'q',
    organizationId: 'org',
    keyId: 'k',
    startedAtMs: 5,
    durationMs: 1,
    surface: 'http',
    tier: 'standard',
    budgetQu: 1,
    chargedQu: 1,
    rows: 1,
    status: 'succeeded',
    text,
    textCut: false,
  } as const;
  await store.usage.addQueries([run]);
  const copy = `${path}.copy`;
  copyDatabase(path, copy);
  expect(readFileSync(copy).includes('secret question')).toBe(false);
  const copied = open(copy);
  await expectBooks(copied, 'org');
  expect(await copied.usage.queries({ organizationId: 'org', keyId: null, before: null, limit: 9 })).toEqual(
    [],
  );
  const forget = { organizationId: 'org', keyId: null, id: 'q', atMs: 5 };
  expect(await store.usage.forgetQueries(forget)).toBe(1);
  await store.close();
  // The last to close the file copies its log into it.
  expect(readFileSync(path).includes('secret question')).toBe(false);
});
