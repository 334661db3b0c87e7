import { randomUUID } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import { type KeyDigest, keyDigest, mintApiKey } from '../../core/domain/caller.ts';
import { KEY_RIGHTS, type KeyRight, rightsOf } from '../../core/domain/key-right.ts';
import { dayOf } from '../../core/domain/usage.ts';
import { fail } from '../../core/errors.ts';
import {
  changedKey,
  endOfKey,
  KEY_EVENTS_KEPT,
  type KeyRecord,
  keyOfOrganization,
  NO_KEY_LIMITS,
} from '../accounts/account-store.ts';
import type { ControlStore } from '../accounts/store.ts';
import { askStore } from '../accounts/store-failure.ts';
import { usageOwner } from '../accounts/usage-store.ts';
import type { OwnAccount, OwnKey, OwnKeys } from '../operations/account/own-account.ts';
import type { CallerKey } from '../operations/deps.ts';

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
    list: async ({ of: { organizationId, keyId }, after, limit }) => {
      const today = dayOf(clock.nowMs());
      if (keyId === null) {
        const keys = await askStore(accounts.listKeys({ organizationId, after, limit }));
        return keys.map((key) => ownKey(key, today));
      }
      const own = await askStore(keyOfOrganization(accounts, { organizationId, keyId }));
      return own === null ? [] : [ownKey(own, today)];
    },
    endOf: async (named) => {
      const key = await askStore(keyOfOrganization(accounts, named));
      return key === null ? 'revoked' : endOfKey(key, clock.nowMs());
    },
    events: ({ organizationId }) => askStore(accounts.keyEvents({ organizationId, limit: KEY_EVENTS_KEPT })),
    make: async ({ organizationId, by, label, expiresAtMs, rights: wanted, ...rest }) => {
      const { managesKeys, unitsPerDay, operations } = rest;
      refuseBoth(managesKeys && (unitsPerDay !== null || operations !== null));
      const hasAll = KEY_RIGHTS.every((right) => by.rights.includes(right));
      // A key that lacks a right makes none that has it, also not once its limits are taken away.
      const rights = wanted ?? (hasAll ? null : []);
      refuseToHandOn(rights ?? [], by);
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
        limits: { managesKeys, unitsPerDay, operations, rights, madeBy: by.id },
      };
      const outcome = await askStore(accounts.addKey(key));
      if (outcome === 'too_many')
        throw fail('key_restricted', { detail: 'The organization has made as many keys as it may.' });
      if (outcome !== 'added') throw new Error(`a new key of an organization just read is ${outcome}`);
      return { apiKey, key: ownKey(key, 0) };
    },
    change: async ({ organizationId, by, keyId, set }) => {
      const atMs = clock.nowMs();
      const before = await askStore(keyOfOrganization(accounts, { organizationId, keyId }));
      if (before !== null) {
        const had = rightsOf(before);
        const after = rightsOf(changedKey(before, set, atMs).key);
        refuseToHandOn(
          after.filter((right) => !had.includes(right)),
          by,
        );
      }
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

/** A key gives no other, and not itself, a right that it lacks. */
function refuseToHandOn(rights: readonly KeyRight[], by: Pick<CallerKey, 'rights'>): void {
  const lacking = rights.filter((right) => !by.rights.includes(right));
  if (lacking.length === 0) return;
  throw fail('key_restricted', {
    detail: `The key that was sent lacks the right ${lacking.join(', ')}: it can give it to no key, and lift no limit that takes it away.`,
  });
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

function ownKeyOf(key: KeyRecord, today: number, publicKey: KeyDigest | null): OwnKey {
  const { id, label, createdAtMs, expiresAtMs, revokedAtMs, limits = NO_KEY_LIMITS, used } = key;
  const { managesKeys, unitsPerDay, operations, madeBy } = limits;
  const facts = { id, label, createdAtMs, madeBy, expiresAtMs, revokedAtMs };
  return {
    ...facts,
    managesKeys: managesKeys && key.digest !== publicKey,
    operations,
    rights: key.digest === publicKey ? [] : rightsOf(key),
    unitsPerDay,
    unitsUsedToday: used?.day === today ? used.units : 0,
  };
}
