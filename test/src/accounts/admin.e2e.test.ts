import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import Database from 'libsql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../../core/config/load.ts';
import { type ApiKey, keyDigest } from '../../../core/domain/caller.ts';
import { skeletonOf } from '../../../core/domain/saved-query.ts';
import { loadCursorKeys } from '../../../core/secret-file.ts';
import { openSqliteStore } from '../../../src/accounts/sqlite/store.ts';
import type { ControlStore } from '../../../src/accounts/store.ts';
import { identify, readCredential } from '../../../src/gate/caller.ts';
import { compiledSources } from '../../kit/compile-sources.ts';
import { watchSecret, watchText } from '../../kit/secrets-watch.ts';

/** The real commands, as processes of their own, while this process has the store open as the service does. */

/** Eight commands one after the other, each a process: moments, or a minute each on a machine that is busy with other things. */
const TIMEOUT_MS = 600_000;

let dataDir: string;
let store: ControlStore;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'settlement-index-admin-'));
  store = openSqliteStore({ path: join(dataDir, 'control.db') });
  await store.ping();
});
afterAll(async () => {
  await store?.close();
  rmSync(dataDir, { recursive: true, force: true });
});

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function admin(...args: string[]): Promise<Ran> {
  const child = spawn(process.execPath, [join(compiledSources(), 'src', 'main.js'), 'admin', ...args], {
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await ended;
  watchText('admin-errors', err);
  return { code: Number(code), out: out.trim(), err };
}

/**
 * Whatever a thief of the store would have. Copied by another process: one that opens and closes a database's file by itself
 * drops the locks that its own connections have on it.
 */
function storedBytes(): Buffer {
  const copy = mkdtempSync(join(tmpdir(), 'settlement-index-stolen-'));
  spawnSync('cp', ['-r', `${dataDir}/.`, copy]);
  const files = readdirSync(copy).filter((name) => name.startsWith('control.db'));
  const bytes = Buffer.concat(files.map((name) => readFileSync(join(copy, name))));
  rmSync(copy, { recursive: true });
  return bytes;
}

test('an organization, its key and its units, made and seen while the store runs', {
  timeout: TIMEOUT_MS,
}, async () => {
  const created = await admin(
    'organization',
    'create',
    '--id',
    'acme',
    '--name',
    'Acme Inc',
    '--plan',
    'pro',
  );
  expect([created.code, created.out], created.err).toEqual([0, 'created acme (Acme Inc), plan pro']);

  const {
    code,
    out: key,
    err,
  } = await admin('key', 'create', 'acme', '--label', 'ci', '--expires-days', '7');
  watchSecret(key);
  expect(code).toBe(0);
  expect(key).toMatch(/^six_live_[0-9A-Za-z]{43}$/);
  expect(err).toContain('shown once');
  expect(err).not.toContain(key);
  const found = await store.accounts.findKey(keyDigest(key as ApiKey));
  expect(found).toMatchObject({ key: { label: 'ci' }, organization: { id: 'acme', plan: 'pro' } });

  // The stored digest names the key and cannot be used as one.
  const bytes = storedBytes();
  expect(bytes.includes(found?.key.id ?? '')).toBe(true);
  expect(bytes.includes(key)).toBe(false);
  expect(bytes.includes(key.slice('six_live_'.length))).toBe(false);
  const listed = await admin('key', 'list');
  expect(listed.out).toContain(found?.key.id);
  expect(listed.out).not.toContain(key);
  expect(listed.out).not.toContain(found?.key.digest);

  for (const outcome of ['granted', 'replayed']) {
    const granted = await admin(
      'grant',
      'acme',
      '500',
      '--note',
      'paid by invoice',
      '--grant-id',
      'inv-1',
      '--json',
    );
    expect(JSON.parse(granted.out)).toMatchObject({ outcome, balance: 500 });
  }
  const ledger = JSON.parse((await admin('--json', 'ledger', 'acme')).out);
  expect(ledger.entries).toMatchObject([{ sequence: 1, kind: 'grant', units: 500, subject: 'inv-1' }]);

  const named = await admin('organization', 'handle', 'acme', 'acme');
  expect([named.code, named.out], named.err).toEqual([0, 'acme: handle acme']);
  expect(await store.saved.handle({ handle: 'acme' })).toMatchObject({ organizationId: 'acme' });

  const revoked = await admin('key', 'revoke', found?.key.id ?? '');
  expect([revoked.code, revoked.out]).toEqual([0, `${found?.key.id} is revoked`]);
  expect((await store.accounts.findKey(keyDigest(key as ApiKey)))?.key.revokedAtMs).not.toBeNull();
});

test('a mistake changes nothing, ends with 2 and names the right words', {
  timeout: TIMEOUT_MS,
}, async () => {
  await store.accounts.createOrganization({ id: 'bolt', displayName: 'Bolt', plan: 'free', createdAtMs: 0 });
  await store.accounts.createOrganization({ id: 'alike', displayName: 'A', plan: 'free', createdAtMs: 0 });
  const handle = 'aacme';
  await store.saved.claimHandle({ organizationId: 'alike', handle, skeleton: skeletonOf(handle) });
  const secret = `six_live_${'k'.repeat(43)}`;
  const mistakes: [string[], RegExp][] = [
    [['organization', 'create', '--id', 'x', '--name', 'X', '--plann', 'pro'], /Did you mean --plan/],
    [['organization', 'create', '--id', 'x', '--name', 'a\u202eb'], /visible characters/],
    [['key', 'create', 'bolt', '--label', 'a\u200bb'], /visible characters/],
    [['organization', 'plan', 'bolt', 'gold'], /no plan "gold".*free, pro, enterprise/],
    [['organization', 'handle', 'bolt', 'Official'], /cannot be a handle: 3 to 32 lower-case/],
    [['organization', 'handle', 'bolt', 'aacrne'], /another organization, or looks like one/],
    [['key', 'create', 'bolt', '--units-per-day', '0'], /--units-per-day/],
    [
      ['key', 'create', 'bolt', '--rights', 'changes,changes'],
      /some of changes,publishes,schedules, each once/,
    ],
    [['key', 'create', 'bold'], /no organization "bold".*bolt/],
    [['grant', 'bolt', '5', '--note', 'n', '--grant-id', 'monthly:2026-11'], /the service’s own/],
    [['key', 'revoke', secret], /never the key itself/],
  ];
  const made = mistakes.map(async ([args, expected]) => ({ args, expected, ...(await admin(...args)) }));
  for (const { args, expected, code, out, err } of await Promise.all(made)) {
    expect([args, code, out], err).toEqual([args, 2, '']);
    expect(err).toMatch(expected);
    expect(err).not.toContain(secret);
  }
  expect(await store.accounts.findOrganization('x')).toBeNull();
  expect(await store.units.balance('bolt')).toMatchObject({ granted: 0 });
});

test('reconcile ends with 0 over books in order, and with 1 over a ledger that was tampered with, naming the row', {
  timeout: TIMEOUT_MS,
}, async () => {
  const organizationId = 'books';
  await store.accounts.createOrganization({
    id: organizationId,
    displayName: 'Books',
    plan: 'free',
    createdAtMs: 0,
  });
  await store.units.grant({ organizationId, grantId: 'g', units: 10, note: 'n', atMs: 0 });
  const hold = { organizationId, holdId: 'h', units: 3, operation: 'getGraph' };
  await store.units.hold({ ...hold, heldAtMs: 0, overdueAtMs: 1 });
  await store.units.capture({ organizationId, holdId: 'h', units: 2, atMs: 0 });
  const inOrder = await admin('reconcile', 'books');
  expect([inOrder.code, inOrder.out], inOrder.err).toEqual([
    0,
    'books: granted 10 = balance 8 + held 0 + spent 2, 3 rows agree',
  ]);

  const db = new Database(join(dataDir, 'control.db'));
  db.exec(`UPDATE ledger SET units = 9 WHERE organization_id = 'books' AND sequence = 1`);
  db.close();
  const { code, out } = await admin('reconcile', '--json');
  expect(code).toBe(1);
  const told = JSON.parse(out);
  expect(told.ok).toBe(false);
  const books = told.organizations.find((one: { organization: string }) => one.organization === 'books');
  expect(books.differences).toContainEqual({
    sequence: 1,
    what: 'a grant of 9 leaves 9 free, the row says 10',
  });
  expect(books.differences).toContainEqual({ sequence: null, what: 'granted is 10, the ledger gives 9' });
});

test('a key is made with limits; rotated, it is good next to a successor of the same limits until the stated time', {
  timeout: TIMEOUT_MS,
}, async () => {
  await store.accounts.createOrganization({ id: 'turn', displayName: 'T', plan: 'pro', createdAtMs: 0 });
  const limits = ['--units-per-day', '25', '--rights', 'changes,publishes'];
  const old = watchSecret((await admin('key', 'create', 'turn', '--label', 'ci', ...limits)).out);
  const oldId = (await store.accounts.findKey(keyDigest(old as ApiKey)))?.key.id ?? '';
  const rotated = await admin('--json', 'key', 'rotate', oldId, '--overlap-hours', '2');
  const told = JSON.parse(rotated.out);
  watchSecret(told.api_key);
  expect(told).toMatchObject({ organization: 'turn', label: 'ci', replaces: oldId });
  const untilMs = Date.parse(told.replaced_until);
  for (const key of [old, told.api_key])
    expect((await store.accounts.findKey(keyDigest(key)))?.key.limits).toEqual({
      ...{ managesKeys: false, unitsPerDay: 25, operations: null, madeBy: null },
      rights: ['changes', 'publishes'],
    });

  const isLet = async (key: string, nowMs: number): Promise<boolean | null> => {
    const { plans, access, http } = loadConfig({ env: {} });
    const deps = {
      accounts: store.accounts,
      bearer: null,
      plans,
      ...access,
      ...http,
      publicKey: null,
      clock: { nowMs: () => nowMs },
    };
    const { caller } = await identify(readCredential({ 'x-api-key': key }), '127.0.0.1', deps);
    return caller.keyRecognised;
  };
  expect([await isLet(old, untilMs - 1), await isLet(old, untilMs)]).toEqual([true, false]);
  expect(await isLet(told.api_key, untilMs * 2)).toBe(true);
  const again = await admin('key', 'rotate', oldId);
  expect([again.code, again.err]).toEqual([2, expect.stringContaining('is retiring')]);
  await admin('key', 'revoke', oldId);
  expect(await isLet(old, Date.now() + 1)).toBe(false);
});

test('the cursor key is rotated in its file, and a deployment with cursorSecrets gets the place to do it', {
  timeout: TIMEOUT_MS,
}, async () => {
  const before = loadCursorKeys({ cursorSecrets: [], dataDir }).keys;
  const { code, out, err } = await admin('rotate-cursor-key');
  expect([code, out], err).toEqual([0, expect.stringContaining('for 7 days')]);
  expect(err).toContain('restart');
  const after = loadCursorKeys({ cursorSecrets: [], dataDir }).keys;
  expect(after.slice(1)).toEqual(before);
  process.env['CURSOR_SECRETS'] = watchSecret('configured-cursor-secret-of-forty-characters');
  const refused = await admin('rotate-cursor-key');
  delete process.env['CURSOR_SECRETS'];
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('cursorSecrets')]);
});
