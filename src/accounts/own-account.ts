import { randomUUID } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import { type KeyDigest, keyDigest, mintApiKey } from '../../core/domain/caller.ts';
import { dayOf } from '../../core/domain/usage.ts';
import { fail } from '../../core/errors.ts';
import type { OwnAccount, OwnKey, OwnKeys } from '../operations/account/own-account.ts';
import { KEY_EVENTS_KEPT, type KeyRecord, NO_KEY_LIMITS } from './account-store.ts';
import type { ControlStore } from './store.ts';
import { askStore } from './store-failure.ts';
import { usageOwner } from './usage-store.ts';

/** What an account reads and changes of itself, answered from a control store. */

export interface OwnAccountDeps {
  readonly store: Pick<ControlStore, 'accounts' | 'usage'>;
  readonly clock: Clock;
  /** Writes the counts and runs that this process still has in memory. Never rejects. */
  readonly flushUsage: () => Promise<void>;
  /** Of the key that the console lends to its visitors: it manages no keys, whatever its record says. */
  readonly publicKey: KeyDigest | null;
}

export function createOwnAccount(deps: OwnAccountDeps): OwnAccount {
  const { store, clock, flushUsage } = deps;
  return {
    usage: async ({ of, dayFrom, dayTo }) => {
      await flushUsage();
      const rows = await askStore(store.usage.usage({ owner: usageOwner(of), dayFrom, dayTo }));
      const keyId = 'organizationId' in of ? of.keyId : null;
      return keyId === null ? rows : rows.filter((row) => row.keyId === keyId);
    },
    queries: async ({ of, ...page }) => {
      await flushUsage();
      return await askStore(store.usage.queries({ ...of, ...page }));
    },
    forgetQueries: async ({ of, id }) => {
      // Now: what began up to then stays away, also what another process still has in memory.
      const atMs = clock.nowMs();
      await flushUsage();
      return await askStore(store.usage.forgetQueries({ ...of, id, atMs }));
    },
    keys: createOwnKeys(deps),
  };
}

function createOwnKeys({ store: { accounts }, clock, publicKey }: OwnAccountDeps): OwnKeys {
  const ownKey = (key: KeyRecord, today: number): OwnKey => ownKeyOf(key, today, publicKey);
  return {
    list: async ({ of, after, limit }) => {
      const { organizationId, keyId } = of;
      const page = keyId === null ? { after, limit } : { after: before(keyId), limit: 1 };
      const keys = await askStore(accounts.listKeys({ organizationId, ...page }));
      const today = dayOf(clock.nowMs());
      return keys.filter(({ id }) => keyId === null || id === keyId).map((key) => ownKey(key, today));
    },
    events: ({ organizationId }) => askStore(accounts.keyEvents({ organizationId, limit: KEY_EVENTS_KEPT })),
    make: async ({ organizationId, by, label, expiresAtMs, managesKeys, unitsPerDay, operations }) => {
      refuseBoth(managesKeys && (unitsPerDay !== null || operations !== null));
      const apiKey = mintApiKey('live');
      const key: KeyRecord = {
        id: `key_${randomUUID()}`,
        digest: keyDigest(apiKey),
        kind: 'live',
        organizationId,
        label,
        createdAtMs: clock.nowMs(),
        expiresAtMs,
        revokedAtMs: null,
        limits: { managesKeys, unitsPerDay, operations, madeBy: by.id },
      };
      const outcome = await askStore(accounts.addKey(key));
      if (outcome === 'too_many')
        throw fail('key_restricted', { detail: 'The organization has made as many keys as it may.' });
      if (outcome !== 'added') throw new Error(`a new key of an organization just read is ${outcome}`);
      return { apiKey, key: ownKey(key, 0) };
    },
    change: async ({ organizationId, by, keyId, set }) => {
      const atMs = clock.nowMs();
      const { outcome, key } = await askStore(
        accounts.changeKey({ organizationId, keyId, set, by: by.id, atMs }),
      );
      refuseBoth(outcome === 'not_both');
      if (key === null) throw noSuchKey();
      if (outcome === 'revoked')
        throw fail('key_not_found', { detail: 'The key is revoked: nothing of it can be changed.' });
      return ownKey(key, dayOf(atMs));
    },
    revoke: async ({ organizationId, by, keyId }) => {
      const atMs = clock.nowMs();
      const outcome = await askStore(accounts.revokeKey({ keyId, atMs, organizationId, by: by.id }));
      if (outcome === 'unknown') throw noSuchKey();
      return outcome === 'revoked' ? { atMs } : null;
    },
  };
}

function refuseBoth(isBoth: boolean): void {
  if (!isBoth) return;
  throw fail('invalid_parameter', {
    parameter: 'manages_keys',
    detail:
      'A key that manages keys has no budget and no list of operations: it could lift them. Send manages_keys: false.',
  });
}

function noSuchKey(): Error {
  return fail('key_not_found', { detail: 'The organization has no key of this id.' });
}

/** The largest text below an id of ours, whose last character is a hexadecimal digit: a page after it begins with the id. */
function before(keyId: string): string {
  return `${keyId.slice(0, -1)}${String.fromCharCode(keyId.charCodeAt(keyId.length - 1) - 1)}\u{10ffff}`;
}

function ownKeyOf(key: KeyRecord, today: number, publicKey: KeyDigest | null): OwnKey {
  const { id, label, createdAtMs, expiresAtMs, revokedAtMs, limits = NO_KEY_LIMITS, used } = key;
  const { managesKeys, unitsPerDay, operations, madeBy } = limits;
  const facts = { id, label, createdAtMs, madeBy, expiresAtMs, revokedAtMs };
  return {
    ...facts,
    managesKeys: managesKeys && key.digest !== publicKey,
    operations,
    unitsPerDay,
    unitsUsedToday: used?.day === today ? used.units : 0,
  };
}
