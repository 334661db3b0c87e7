import { NO_UNITS, UNITS_MAX, type UnitBalance } from '../../core/domain/query-unit.ts';
import { HOLD_KEPT_MS, HOLDS_FORGOTTEN_PER_HOLD } from '../../src/accounts/retention.ts';
import {
  type AccountStore,
  type AuthorizationId,
  type ControlStore,
  type Hold,
  type KeyRecord,
  type LedgerEntry,
  type Organization,
  type PaymentRecord,
  type PaymentStore,
  type RateStore,
  type ReplyStore,
  StoreUnavailable,
  type UnitStore,
} from '../../src/accounts/store.ts';

/**
 * The contract of `ControlStore` said once more, as plainly as possible: maps, no concurrency, no files. The contract suite runs
 * over it too, so that it is known to be right before the adapters are compared with it.
 */
export interface ModelStore {
  /** Another handle on the same data. */
  handle(): ControlStore;
}

export function createModelStore(): ModelStore {
  const data: ModelData = {
    organizations: new Map(),
    keys: new Map(),
    accounts: new Map(),
    payments: new Map(),
    windows: new Map(),
    replies: new Map(),
  };
  return { handle: () => openHandle(data) };
}

interface ModelData {
  readonly organizations: Map<string, Organization>;
  readonly keys: Map<string, KeyRecord>;
  readonly accounts: Map<string, UnitAccount>;
  readonly payments: Map<string, PaymentRecord>;
  readonly windows: Map<string, { readonly endsMs: number; taken: number }>;
  readonly replies: Map<string, StoredReply>;
}

interface UnitAccount {
  units: UnitBalance;
  readonly grants: Set<string>;
  readonly holds: Map<string, StoredHold>;
  readonly ledger: LedgerEntry[];
}

interface StoredHold {
  readonly hold: Hold;
  state: 'open' | 'captured' | 'released';
  charged: number;
}

interface StoredReply {
  readonly requestDigest: string;
  readonly leaseUntilMs: number;
  readonly keepUntilMs: number;
  reply: string | null;
}

/** A method of a port, given before and after as plain code. */
type Guard = <A extends readonly unknown[], R>(method: (...args: A) => R) => (...args: A) => Promise<R>;

function openHandle(data: ModelData): ControlStore {
  let closed = false;
  const guard: Guard =
    (method) =>
    async (...args) => {
      if (closed) throw new StoreUnavailable(new Error('closed'));
      return method(...args);
    };
  return {
    accounts: accountsOf(data, guard),
    units: unitsOf(data, guard),
    payments: paymentsOf(data, guard),
    rates: ratesOf(data, guard),
    replies: repliesOf(data, guard),
    ping: guard(() => undefined),
    close: async () => {
      closed = true;
    },
  };
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function forgetResolved({ holds }: UnitAccount, nowMs: number): void {
  const old = [...holds.values()]
    .filter(({ state, hold }) => state !== 'open' && hold.overdueAtMs + HOLD_KEPT_MS <= nowMs)
    .sort((a, b) => a.hold.overdueAtMs - b.hold.overdueAtMs);
  for (const { hold } of old.slice(0, HOLDS_FORGOTTEN_PER_HOLD)) holds.delete(hold.holdId);
}

type Leased = Pick<PaymentRecord, 'id' | 'leaseUntilMs'>;

function byLease(a: Leased, b: Leased): number {
  return a.leaseUntilMs - b.leaseUntilMs || byBytes(nameOf(a.id), nameOf(b.id));
}

/** A page of things by id, those after `after`. */
function pageOf<T extends { readonly id: string }>(
  all: Iterable<T>,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): T[] {
  return [...all]
    .filter(({ id }) => after === null || byBytes(id, after) > 0)
    .sort((a, b) => byBytes(a.id, b.id))
    .slice(0, limit);
}

function accountsOf({ organizations, keys, accounts }: ModelData, guard: Guard): AccountStore {
  return {
    createOrganization: guard((organization) => {
      if (organizations.has(organization.id)) return 'exists';
      organizations.set(organization.id, organization);
      accounts.set(organization.id, { units: NO_UNITS, grants: new Set(), holds: new Map(), ledger: [] });
      return 'created';
    }),
    changePlan: guard(({ organizationId, plan }) => {
      const organization = organizations.get(organizationId);
      if (!organization) return 'unknown';
      organizations.set(organizationId, { ...organization, plan });
      return 'changed';
    }),
    findOrganization: guard((id) => organizations.get(id) ?? null),
    listOrganizations: guard((page) => pageOf(organizations.values(), page)),
    addKey: guard((key) => {
      if (key.organizationId !== null && !organizations.has(key.organizationId))
        return 'unknown_organization';
      if (isKeyTaken(keys, key)) return 'exists';
      keys.set(key.id, key);
      return 'added';
    }),
    revokeKey: guard(({ keyId, atMs }) => {
      const key = keys.get(keyId);
      if (!key) return 'unknown';
      if (key.revokedAtMs !== null && key.revokedAtMs <= atMs) return 'was_revoked';
      keys.set(keyId, { ...key, revokedAtMs: atMs });
      return 'revoked';
    }),
    listKeys: guard(({ organizationId, ...page }) =>
      pageOf(
        [...keys.values()].filter((key) => key.organizationId === organizationId),
        page,
      ),
    ),
    findKey: guard((digest) => {
      const key = [...keys.values()].find((candidate) => candidate.digest === digest);
      if (!key) return null;
      const organization = key.organizationId === null ? undefined : organizations.get(key.organizationId);
      return { key, organization: organization ?? null };
    }),
  };
}

function isKeyTaken(keys: ReadonlyMap<string, KeyRecord>, { id, digest }: KeyRecord): boolean {
  return keys.has(id) || [...keys.values()].some((key) => key.digest === digest);
}

function requireUnits(units: number, min: number): void {
  if (!Number.isSafeInteger(units) || units < min) throw new RangeError(`${units} are no units`);
}

function unitsOf({ accounts }: ModelData, guard: Guard): UnitStore {
  return {
    grant: guard((grant) => {
      requireUnits(grant.units, 1);
      const account = accounts.get(grant.organizationId);
      if (!account) return { outcome: 'unknown', balance: NO_UNITS };
      if (account.grants.has(grant.grantId)) return { outcome: 'replayed', balance: account.units };
      const { granted } = account.units;
      if (granted + grant.units > UNITS_MAX) return { outcome: 'too_large', balance: account.units };
      account.grants.add(grant.grantId);
      const { grantId: subject, units, atMs, note } = grant;
      append(
        account,
        { granted: units, balance: units },
        { atMs, kind: 'grant', units, released: 0, subject, note },
      );
      return { outcome: 'granted', balance: account.units };
    }),
    hold: guard((hold) => {
      requireUnits(hold.units, 1);
      const account = accounts.get(hold.organizationId);
      if (!account) return { outcome: 'unknown', balance: NO_UNITS };
      if (account.holds.has(hold.holdId)) return { outcome: 'replayed', balance: account.units };
      const { holdId: subject, units, heldAtMs: atMs, operation: note } = hold;
      if (account.units.balance < units) return { outcome: 'insufficient', balance: account.units };
      forgetResolved(account, atMs);
      account.holds.set(subject, { hold, state: 'open', charged: 0 });
      append(
        account,
        { balance: -units, held: units },
        { atMs, kind: 'hold', units, released: 0, subject, note },
      );
      return { outcome: 'held', balance: account.units };
    }),
    capture: guard(({ organizationId, holdId: subject, units, atMs }) => {
      requireUnits(units, 0);
      const account = accounts.get(organizationId);
      const stored = account?.holds.get(subject);
      if (!account || !stored) return { outcome: 'unknown', charged: 0, balance: account?.units ?? NO_UNITS };
      const { hold, state } = stored;
      if (state === 'captured')
        return { outcome: 'replayed', charged: stored.charged, balance: account.units };
      if (state === 'released') return { outcome: 'released', charged: 0, balance: account.units };
      if (units > hold.units) throw new RangeError(`${units} of ${hold.units} held`);
      stored.state = 'captured';
      stored.charged = units;
      const released = hold.units - units;
      append(
        account,
        { balance: released, held: -hold.units, spent: units },
        { atMs, kind: 'capture', units, released, subject, note: hold.operation },
      );
      return { outcome: 'captured', charged: units, balance: account.units };
    }),
    release: guard(({ organizationId, holdId: subject, kind, note, atMs }) => {
      const account = accounts.get(organizationId);
      const stored = account?.holds.get(subject);
      if (!account || !stored) return { outcome: 'unknown', balance: account?.units ?? NO_UNITS };
      if (stored.state === 'released') return { outcome: 'replayed', balance: account.units };
      if (stored.state === 'captured') return { outcome: 'captured', balance: account.units };
      stored.state = 'released';
      const { units } = stored.hold;
      append(account, { balance: units, held: -units }, { atMs, kind, units, released: 0, subject, note });
      return { outcome: 'released', balance: account.units };
    }),
    overdueHolds: guard(({ nowMs, limit }) =>
      [...accounts.values()]
        .flatMap(({ holds }) => [...holds.values()])
        .filter(({ state, hold }) => state === 'open' && hold.overdueAtMs <= nowMs)
        .map(({ hold }) => hold)
        .sort((a, b) => a.overdueAtMs - b.overdueAtMs)
        .slice(0, limit),
    ),
    balance: guard((organizationId) => accounts.get(organizationId)?.units ?? null),
    ledger: guard(({ organizationId, after, limit }) =>
      (accounts.get(organizationId)?.ledger ?? []).filter(({ sequence }) => sequence > after).slice(0, limit),
    ),
  };
}

/** Moves units and writes the row that says so. */
function append(
  account: UnitAccount,
  moved: Partial<UnitBalance>,
  row: Omit<LedgerEntry, 'sequence' | 'balance' | 'held'>,
): void {
  const { granted, balance, held, spent } = account.units;
  account.units = {
    granted: granted + (moved.granted ?? 0),
    balance: balance + (moved.balance ?? 0),
    held: held + (moved.held ?? 0),
    spent: spent + (moved.spent ?? 0),
  };
  account.ledger.push({
    ...row,
    sequence: account.ledger.length + 1,
    balance: account.units.balance,
    held: account.units.held,
  });
}

function nameOf({ chain, asset, payer, nonce }: AuthorizationId): string {
  return JSON.stringify([chain, asset, payer, nonce]);
}

function paymentsOf({ payments, keys }: ModelData, guard: Guard): PaymentStore {
  const update = (record: PaymentRecord, change: Partial<PaymentRecord>): void => {
    payments.set(nameOf(record.id), { ...record, ...change });
  };
  return {
    find: guard((id) => payments.get(nameOf(id)) ?? null),
    claim: guard((claim) => {
      const known = payments.get(nameOf(claim.id));
      if (known) return { outcome: 'taken', record: known };
      const { id, binding, resource, payTo, amount, expiresAtMs, claimedAtMs, leaseUntilMs } = claim;
      const bought = { id, binding, resource, payTo, amount, expiresAtMs, claimedAtMs, leaseUntilMs };
      const unsettled = { leftOpenAtMs: null, saidTransaction: null, transaction: null, keyId: null };
      const record = { ...bought, state: 'settling', attempts: 0, ...unsettled } as const;
      payments.set(nameOf(id), record);
      return { outcome: 'claimed', record };
    }),
    recordSettlement: guard(({ id, transaction }) => {
      const record = payments.get(nameOf(id));
      if (!record) return 'unknown';
      if (record.state !== 'settling') return record.transaction === transaction ? 'replayed' : 'conflict';
      update(record, { state: 'settled', transaction });
      return 'settled';
    }),
    leaveOpen: guard(({ id, atMs, transaction }) => {
      const record = payments.get(nameOf(id));
      if (!record) return 'unknown';
      if (record.state !== 'settling') return 'not_settling';
      update(record, { leftOpenAtMs: atMs, saidTransaction: transaction ?? record.saidTransaction });
      return 'left';
    }),
    dropClaim: guard((id) => {
      const record = payments.get(nameOf(id));
      if (!record) return 'unknown';
      if (record.state !== 'settling') return 'not_settling';
      payments.delete(nameOf(id));
      return 'dropped';
    }),
    beginServing: guard(({ id, nowMs, leaseUntilMs, attemptsMax }) => {
      const record = payments.get(nameOf(id));
      if (!record) return { outcome: 'unknown', attempt: 0 };
      const { state, attempts } = record;
      if (state === 'settling') return { outcome: 'unsettled', attempt: 0 };
      if (state === 'serving' && record.leaseUntilMs > nowMs) return { outcome: 'busy', attempt: 0 };
      if (state === 'served' || attempts >= attemptsMax) return { outcome: 'used', attempt: 0 };
      update(record, { state: 'serving', leaseUntilMs, attempts: attempts + 1 });
      return { outcome: 'serving', attempt: attempts + 1 };
    }),
    finishServing: guard(({ id, attempt, answered, uncounted = false }) => {
      const record = payments.get(nameOf(id));
      if (record?.state !== 'serving' || record.attempts !== attempt) return;
      const attempts = uncounted && !answered ? attempt - 1 : attempt;
      update(record, { state: answered ? 'served' : 'settled', attempts });
    }),
    unresolved: guard(({ nowMs, after = null, limit }) =>
      [...payments.values()]
        .filter(({ state, leaseUntilMs }) => state === 'settling' && leaseUntilMs <= nowMs)
        .filter((record) => after === null || byLease(record, after) > 0)
        .sort(byLease)
        .slice(0, limit),
    ),
    issueKey: guard(({ id, key }) => {
      if (key.organizationId !== null) throw new RangeError('no trial key');
      const record = payments.get(nameOf(id));
      if (!record) return { outcome: 'unknown', keyId: null };
      if (record.state === 'settling') return { outcome: 'unsettled', keyId: null };
      if (record.keyId !== null) return { outcome: 'already_issued', keyId: record.keyId };
      if (isKeyTaken(keys, key)) throw new RangeError('the key is taken');
      keys.set(key.id, key);
      update(record, { keyId: key.id });
      return { outcome: 'issued', keyId: key.id };
    }),
  };
}

function ratesOf({ windows }: ModelData, guard: Guard): RateStore {
  return {
    take: guard(({ key, limit, windowSeconds, nowMs }) => {
      const known = windows.get(key);
      const window =
        known && known.endsMs > nowMs ? known : { endsMs: nowMs + windowSeconds * 1_000, taken: 0 };
      window.taken += 1;
      windows.set(key, window);
      return {
        allowed: window.taken <= limit,
        limit,
        remaining: Math.max(0, limit - window.taken),
        resetSeconds: Math.max(1, Math.ceil((window.endsMs - nowMs) / 1_000)),
      };
    }),
    giveBack: guard(({ key, windowSeconds, takenAtMs }) => {
      const window = windows.get(key);
      const isOpen =
        window !== undefined &&
        takenAtMs < window.endsMs &&
        takenAtMs >= window.endsMs - windowSeconds * 1_000;
      if (isOpen) window.taken = Math.max(0, window.taken - 1);
    }),
  };
}

function repliesOf({ replies }: ModelData, guard: Guard): ReplyStore {
  const name = (scope: string, key: string): string => JSON.stringify([scope, key]);
  return {
    begin: guard(({ scope, key, requestDigest, nowMs, leaseUntilMs, keepUntilMs }) => {
      const known = replies.get(name(scope, key));
      if (known && known.keepUntilMs > nowMs) {
        if (known.requestDigest !== requestDigest) return { outcome: 'conflict' };
        if (known.reply !== null) return { outcome: 'done', reply: known.reply };
        if (known.leaseUntilMs > nowMs) return { outcome: 'running' };
      }
      replies.set(name(scope, key), { requestDigest, leaseUntilMs, keepUntilMs, reply: null });
      return { outcome: 'begun' };
    }),
    finish: guard(({ scope, key, reply }) => {
      const known = replies.get(name(scope, key));
      if (!known || known.reply !== null) return;
      if (reply === null) replies.delete(name(scope, key));
      else known.reply = reply;
    }),
  };
}
