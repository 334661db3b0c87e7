import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import { type ApiKey, keyDigest, mintApiKey } from '../../core/domain/caller.ts';
import type { PlanId } from '../../core/domain/plan.ts';
import type { Log } from '../../core/log.ts';
import type { KeyRecord } from '../../src/accounts/account-store.ts';
import { openSqliteStore } from '../../src/accounts/sqlite/store.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import { type Access, openAccess } from '../../src/open-access.ts';

/** The real gate over a real SQLite store, with an organization of its own and a key of it. */
export interface TestAccess {
  readonly access: Access;
  readonly organizationId: string;
  readonly key: ApiKey;
  /** Where its files are. */
  readonly dataDir: string;
  close(): Promise<void>;
}

/** Enough for any test that does not count units. */
const UNITS = 1_000_000;

/** Opening a store starts a thread, about a second of a busy machine: all of a process share one. */
let shared: { readonly store: ControlStore; readonly dir: string; users: number } | undefined;
let isKept = false;

function openStoreIn(root: string) {
  const dir = mkdtempSync(join(root, 'settlement-index-access-'));
  return { dir, store: openSqliteStore({ path: join(dir, 'control.db') }), users: 0 };
}

/**
 * The store of this process, which from now on stays open until the process ends: what many tests open and close one after the
 * other costs a thread once. Its file is in `root`, which the test that gives it removes.
 */
export function keepTestStore(root: string): ControlStore {
  shared ??= openStoreIn(root);
  isKept = true;
  return shared.store;
}

export interface OwnStore {
  readonly store: ControlStore;
  readonly dir: string;
  close(): Promise<void>;
}

/**
 * A store of the test file's own, for tests that count rates or take names that one organization alone can have: in the store of the
 * process, earlier test files have used rates and taken names.
 */
export function ownTestStore(): OwnStore {
  const { store, dir } = openStoreIn(tmpdir());
  const close = async (): Promise<void> => {
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  };
  return { store, dir, close };
}

function joinStore(): Pick<OwnStore, 'store' | 'dir'> {
  shared ??= openStoreIn(tmpdir());
  shared.users += 1;
  return shared;
}

async function leaveStore(): Promise<void> {
  if (shared === undefined) return;
  shared.users -= 1;
  if (shared.users > 0 || isKept) return;
  const { store, dir } = shared;
  shared = undefined;
  await store.close();
  rmSync(dir, { recursive: true, force: true });
}

export async function openTestAccess(parts: {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** In place of the store of the process. It is the caller's to close. */
  readonly ownStore?: OwnStore | undefined;
}): Promise<TestAccess> {
  const { ownStore } = parts;
  const { store, dir } = ownStore ?? joinStore();
  const access = openAccess({ ...parts, config: { ...parts.config, dataDir: dir } }, store);
  const organizationId = await createOrganization(store, { units: UNITS });
  const key = await addKey(store, { organizationId });
  const close = ownStore === undefined ? leaveStore : () => Promise.resolve();
  return { access, organizationId, key, dataDir: dir, close };
}

/** A new organization with units; its id. */
export async function createOrganization(
  store: ControlStore,
  { units = 0, plan = 'free' }: { readonly units?: number; readonly plan?: PlanId } = {},
): Promise<string> {
  const id = `org_${randomUUID()}`;
  await store.accounts.createOrganization({ id, displayName: 'Acme', plan, createdAtMs: 0 });
  if (units > 0)
    await store.units.grant({ organizationId: id, grantId: 'test', units, note: 'for a test', atMs: 0 });
  return id;
}

/** A new key: of an organization, or a trial key without one. */
export async function addKey(store: ControlStore, over: Partial<KeyRecord> = {}): Promise<ApiKey> {
  const kind = over.kind ?? 'live';
  const key = mintApiKey(kind);
  const record: KeyRecord = {
    id: `key_${randomUUID()}`,
    digest: keyDigest(key),
    kind,
    organizationId: null,
    label: 'test',
    createdAtMs: 0,
    expiresAtMs: null,
    revokedAtMs: null,
    ...over,
  };
  const outcome = await store.accounts.addKey(record);
  if (outcome !== 'added') throw new Error(`the key of a test is ${outcome}`);
  return key;
}
