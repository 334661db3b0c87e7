import { randomUUID } from 'node:crypto';
import { PAYMENT_KEPT_MS } from '../retention.ts';
import type {
  AuthorizationId,
  KeyRecord,
  PaymentRecord,
  PaymentState,
  PaymentStore,
  UnresolvedPage,
} from '../store.ts';
import { listTrialKey } from './accounts.ts';
import type { RedisConnection } from './connection.ts';
import { fieldsOf, listOf, numberOf, oneOf, textOf } from './decode.ts';
import { encodeKey, encodeRevocation, type KeyRegistry } from './key-registry.ts';
import { type Home, openClaimEntry, paymentHome, type Slots } from './slots.ts';

const PAYMENT_STATES = [
  'settling',
  'settled',
  'serving',
  'served',
] as const satisfies readonly PaymentState[];

/**
 * An entry of the list of claims that no longer stands is taken off when its lease lapsed this long ago, not at once: the claim
 * it announces may still be on its way to Redis.
 */
const STALE_CLAIM_MS = 3_600_000;

/** How much longer than promised Redis keeps a served payment: it goes by another clock than the caller. */
const KEEP_LONGER_MS = 3_600_000;

interface Parts {
  readonly redis: RedisConnection;
  readonly slots: Slots;
  readonly registry: KeyRegistry;
}

export function redisPayments(parts: Parts): PaymentStore {
  const { redis, slots } = parts;
  return {
    find: async (id) => (await readPayment(parts, paymentHome(id)))?.record ?? null,
    claim: (claim) => claimPayment(parts, claim),
    recordSettlement: async ({ id, transaction }) => {
      const home = paymentHome(id);
      const [outcome, token] = listOf(
        await redis.script('recordSettlement', [slots.payment(home)], [transaction]),
      );
      if (outcome === 'settled') await takeOffList(parts, openClaimEntry(textOf(token), home));
      return oneOf(['settled', 'replayed', 'conflict', 'unknown'], outcome);
    },
    leaveOpen: async ({ id, atMs, transaction }) => {
      const keys = [slots.payment(paymentHome(id))];
      return oneOf(
        ['left', 'not_settling', 'unknown'],
        await redis.script('leaveOpen', keys, [atMs, transaction ?? '']),
      );
    },
    dropClaim: async (id) => {
      const home = paymentHome(id);
      const [outcome, token] = listOf(await redis.script('dropPayment', [slots.payment(home)], []));
      if (outcome === 'dropped') await takeOffList(parts, openClaimEntry(textOf(token), home));
      return oneOf(['dropped', 'not_settling', 'unknown'], outcome);
    },
    beginServing: async ({ id, nowMs, leaseUntilMs, attemptsMax }) => {
      const keys = [slots.payment(paymentHome(id))];
      const answer = listOf(await redis.script('beginServing', keys, [nowMs, leaseUntilMs, attemptsMax]));
      const outcome = oneOf(['serving', 'busy', 'used', 'unsettled', 'unknown'], answer[0]);
      return { outcome, attempt: numberOf(answer[1]) };
    },
    finishServing: async ({ id, attempt, answered, uncounted = false }) => {
      const next: PaymentState = answered ? 'served' : 'settled';
      const given = uncounted && !answered ? 1 : 0;
      const values = [attempt, next, PAYMENT_KEPT_MS, KEEP_LONGER_MS, given];
      await redis.script('finishServing', [slots.payment(paymentHome(id))], values);
    },
    unresolved: (question) => unresolved(parts, question),
    issueKey: ({ id, key }) => issueKey(parts, paymentHome(id), key),
  };
}

/**
 * On the list of open claims first, under a token of its own, then the claim itself. A crash in between leaves an entry whose
 * token no payment carries: readers pass over it. Every claim has another token, so taking the entry of an ended claim off the
 * list never takes that of the next claim of the same authorization.
 */
async function claimPayment(
  parts: Parts,
  claim: Parameters<PaymentStore['claim']>[0],
): ReturnType<PaymentStore['claim']> {
  const { redis, slots } = parts;
  const home = paymentHome(claim.id);
  const token = randomUUID();
  const entry = openClaimEntry(token, home);
  await redis.run((client) => client.zadd(slots.openClaims, claim.leaseUntilMs, entry));
  const fields = Object.entries({
    chain: claim.id.chain,
    asset: claim.id.asset,
    payer: claim.id.payer,
    nonce: claim.id.nonce,
    binding: claim.binding,
    resource: claim.resource,
    payTo: claim.payTo,
    amount: claim.amount,
    state: 'settling',
    expiresAtMs: String(claim.expiresAtMs),
    claimedAtMs: String(claim.claimedAtMs),
    leaseUntilMs: String(claim.leaseUntilMs),
    attempts: '0',
    claim: token,
  }).flat();
  const [outcome, record] = listOf(await redis.script('claimPayment', [slots.payment(home)], fields));
  if (outcome === 'taken') await takeOffList(parts, entry);
  return { outcome: oneOf(['claimed', 'taken'], outcome), record: decodePayment(fieldsOf(record)).record };
}

interface StoredPayment {
  readonly record: PaymentRecord;
  /** Names the claim that made it. */
  readonly token: string;
}

async function readPayment({ redis, slots }: Parts, home: Home): Promise<StoredPayment | null> {
  const fields = await redis.run((client) => client.hgetall(slots.payment(home)));
  return Object.keys(fields).length === 0 ? null : decodePayment(new Map(Object.entries(fields)));
}

function decodePayment(fields: ReadonlyMap<string, string>): StoredPayment {
  const text = (name: string): string => textOf(fields.get(name));
  const id: AuthorizationId = {
    chain: text('chain'),
    asset: text('asset'),
    payer: text('payer'),
    nonce: text('nonce'),
  };
  const leftOpenAtMs = fields.get('leftOpenAtMs');
  const record: PaymentRecord = {
    id,
    binding: text('binding'),
    resource: text('resource'),
    payTo: text('payTo'),
    amount: text('amount'),
    state: oneOf(PAYMENT_STATES, fields.get('state')),
    claimedAtMs: numberOf(text('claimedAtMs')),
    leaseUntilMs: numberOf(text('leaseUntilMs')),
    attempts: numberOf(text('attempts')),
    expiresAtMs: numberOf(text('expiresAtMs')),
    leftOpenAtMs: leftOpenAtMs === undefined ? null : numberOf(leftOpenAtMs),
    saidTransaction: fields.get('saidTransaction') ?? null,
    transaction: fields.get('transaction') ?? null,
    keyId: fields.get('keyId') ?? null,
  };
  return { record, token: text('claim') };
}

/** The change that ended the claim is made already: should this fail, readers pass over the entry until it is stale. */
async function takeOffList({ redis, slots }: Parts, entry: string): Promise<void> {
  await redis.run((client) => client.zrem(slots.openClaims, entry)).catch(() => undefined);
}

async function unresolved(
  parts: Parts,
  { nowMs, after = null, limit }: UnresolvedPage,
): Promise<readonly PaymentRecord[]> {
  const { redis, slots } = parts;
  const first = after?.leaseUntilMs ?? '-inf';
  const found: PaymentRecord[] = [];
  let seen = 0;
  while (found.length < limit) {
    const from = seen;
    const wanted = limit - found.length;
    const flat = await redis.run((client) =>
      client.zrangebyscore(slots.openClaims, first, nowMs, 'WITHSCORES', 'LIMIT', from, wanted),
    );
    const entries = entriesOf(flat);
    const behind = after === null ? entries : entries.filter((entry) => isBehind(entry, after));
    const records = await Promise.all(behind.map((entry) => claimBehind(parts, entry, nowMs)));
    for (const record of records) if (record !== null) found.push(record);
    seen += entries.length;
    if (entries.length < wanted) break;
  }
  return found;
}

/** Redis orders entries of one score by their bytes. */
function isBehind(
  { entry, home, leaseUntilMs }: ListedClaim,
  after: Pick<PaymentRecord, 'id' | 'leaseUntilMs'>,
): boolean {
  if (leaseUntilMs !== after.leaseUntilMs) return true;
  const last = paymentHome(after.id);
  return home !== last && Buffer.compare(Buffer.from(entry), Buffer.from(`${last} `)) > 0;
}

interface ListedClaim {
  readonly entry: string;
  readonly token: string;
  readonly home: Home;
  readonly leaseUntilMs: number;
}

/** Members and scores in turn, as ZRANGEBYSCORE answers. */
function entriesOf(flat: readonly string[]): readonly ListedClaim[] {
  const entries: ListedClaim[] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const entry = textOf(flat[i]);
    const space = entry.lastIndexOf(' ');
    // Written by openClaimEntry, as all entries are.
    const home = entry.slice(0, space) as Home;
    entries.push({ entry, token: entry.slice(space + 1), home, leaseUntilMs: numberOf(flat[i + 1]) });
  }
  return entries;
}

/** The payment that is still in the claim which the entry announced, or null. */
async function claimBehind(parts: Parts, listed: ListedClaim, nowMs: number): Promise<PaymentRecord | null> {
  const stored = await readPayment(parts, listed.home);
  if (stored?.token === listed.token && stored.record.state === 'settling') return stored.record;
  // Taken off later than read, so the entries after it may move up and be missed once: the next sweep sees them.
  if (listed.leaseUntilMs <= nowMs - STALE_CLAIM_MS) await takeOffList(parts, listed.entry);
  return null;
}

/**
 * The key's record lies in the slot of the payment, so both change in one step. The claims of its digest and id are written
 * before, as for every key: a crash in between leaves claims that lead to no key, and the same call may be repeated. A key can
 * neither be lost (once the payment names it, everything that finds it is there) nor doubled (a payment names one).
 */
async function issueKey(parts: Parts, home: Home, key: KeyRecord): ReturnType<PaymentStore['issueKey']> {
  const { redis, slots, registry } = parts;
  if (key.organizationId !== null) throw new RangeError('a key that a payment bought has no organization');
  const before = await readPayment(parts, home);
  if (before === null) return { outcome: 'unknown', keyId: null };
  if (before.record.state === 'settling') return { outcome: 'unsettled', keyId: null };
  if (before.record.keyId !== null) return { outcome: 'already_issued', keyId: before.record.keyId };

  if ((await registry.claim(key, home)) === 'exists') {
    // Another call for this payment may have come first, with the same digest or not.
    const now = await readPayment(parts, home);
    if (now === null || now.record.keyId === null) throw new RangeError('a key whose id or digest is taken');
    return { outcome: 'already_issued', keyId: now.record.keyId };
  }
  await listTrialKey(redis, slots, key.id);
  const keys = [slots.payment(home), slots.keys(home), slots.digests(home), slots.revoked(home)];
  const values = [key.id, key.digest, encodeKey(key), encodeRevocation(key)];
  const [outcome, keyId] = listOf(await redis.script('issueKey', keys, values));
  // A settled payment never goes back to settling, so there are no other outcomes.
  return { outcome: oneOf(['issued', 'already_issued'], outcome), keyId: textOf(keyId) };
}
