import { requireCovered } from '../../../core/domain/sale.ts';
import type { KeyRecord } from '../account-store.ts';
import {
  type AuthorizationId,
  type ClaimedSale,
  PAYMENT_KEPT_MS,
  type PaymentRecord,
  type PaymentState,
  type PaymentStore,
  type UnresolvedPage,
} from '../payment-store.ts';
import { encodeKey } from './accounts.ts';
import { fieldsOf, listOf, nullable, numberOf, oneOf, type RedisConnection, textOf } from './connection.ts';
import { type Names, paymentEntry } from './layout.ts';

const PAYMENT_STATES = [
  'settling',
  'settled',
  'serving',
  'served',
] as const satisfies readonly PaymentState[];

/** How much longer than promised Redis keeps a served payment: it goes by another clock than the caller. */
const KEEP_LONGER_MS = 3_600_000;

export function redisPayments(redis: RedisConnection, names: Names): PaymentStore {
  const nameOf = (id: AuthorizationId): string => names.payment(paymentEntry(id));
  return {
    find: (id) => findPayment(redis, names, paymentEntry(id)),
    claim: async (claim) => {
      requireCovered(claim.sale?.share, claim.sale?.units ?? 0);
      const entry = paymentEntry(claim.id);
      const keys = [names.payment(entry), names.settling];
      const values = [entry, claim.leaseUntilMs, ...encodeClaim(claim)];
      const [outcome, fields] = listOf(await redis.script('claimPayment', keys, values));
      return { outcome: oneOf(['claimed', 'taken'], outcome), record: decodePayment(fieldsOf(fields)) };
    },
    recordSettlement: async ({ id, transaction }) => {
      const keys = [nameOf(id), names.settling];
      const outcome = await redis.script('recordSettlement', keys, [transaction, paymentEntry(id)]);
      return oneOf(['settled', 'replayed', 'conflict', 'unknown'], outcome);
    },
    leaveOpen: async ({ id, atMs, transaction }) => {
      const outcome = await redis.script('leaveOpen', [nameOf(id)], [atMs, transaction ?? '']);
      return oneOf(['left', 'not_settling', 'unknown'], outcome);
    },
    dropClaim: async (id) => {
      const outcome = await redis.script('dropClaim', [nameOf(id), names.settling], [paymentEntry(id)]);
      return oneOf(['dropped', 'not_settling', 'unknown'], outcome);
    },
    beginServing: async ({ id, nowMs, leaseUntilMs, attemptsMax }) => {
      const values = [nowMs, leaseUntilMs, attemptsMax];
      const [outcome, attempt] = listOf(await redis.script('beginServing', [nameOf(id)], values));
      return {
        outcome: oneOf(['serving', 'busy', 'used', 'unsettled', 'unknown'], outcome),
        attempt: numberOf(attempt),
      };
    },
    finishServing: async ({ id, attempt, answered, uncounted = false }) => {
      const next: PaymentState = answered ? 'served' : 'settled';
      const given = uncounted && !answered ? 1 : 0;
      const values = [attempt, next, PAYMENT_KEPT_MS, KEEP_LONGER_MS, given];
      await redis.script('finishServing', [nameOf(id)], values);
    },
    unresolved: (page) => unresolved(redis, names, page),
    issueKey: async ({ id, key }) => {
      refuseOrganization(key);
      const keys = [nameOf(id), names.key(key.id), names.keyDigests, names.trialKeys];
      const answer = await redis.script('issueKey', keys, [key.id, key.digest, ...encodeKey(key)]);
      const [said, keyId] = listOf(answer);
      const outcome = oneOf(['issued', 'already_issued', 'unsettled', 'unknown', 'taken'], said);
      if (outcome === 'taken') throw new RangeError('the id or the digest of the trial key is taken');
      return { outcome, keyId: nullable(textOf, keyId) };
    },
  };
}

function refuseOrganization({ organizationId }: KeyRecord): void {
  if (organizationId !== null) throw new RangeError('a key that a payment bought has no organization');
}

async function findPayment(
  redis: RedisConnection,
  names: Names,
  entry: string,
): Promise<PaymentRecord | null> {
  const fields = await redis.run((client) => client.hgetall(names.payment(entry)));
  return Object.keys(fields).length === 0 ? null : decodePayment(new Map(Object.entries(fields)));
}

/** Fields and values in turn. */
function encodeClaim(claim: Parameters<PaymentStore['claim']>[0]): readonly string[] {
  return Object.entries({
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
    ...encodeSale(claim.sale),
  }).flat();
}

function encodeSale(sale: Parameters<PaymentStore['claim']>[0]['sale']): Readonly<Record<string, string>> {
  if (sale === undefined) return {};
  const { units, sold, share } = sale;
  if (share === null) return { saleUnits: String(units), sold };
  return {
    saleUnits: String(units),
    sold,
    shareOrganizationId: share.organizationId,
    shareUnits: String(share.units),
    shareRunUnits: String(share.runUnits),
    shareNote: share.note,
    shareOperation: share.earnedBy,
  };
}

function decodeSale(fields: ReadonlyMap<string, string>): ClaimedSale | null {
  const units = nullable(numberOf, fields.get('saleUnits'));
  if (units === null) return null;
  const organizationId = fields.get('shareOrganizationId');
  const share =
    organizationId === undefined
      ? null
      : {
          organizationId,
          units: numberOf(fields.get('shareUnits')),
          runUnits: numberOf(fields.get('shareRunUnits')),
          note: textOf(fields.get('shareNote')),
          earnedBy: textOf(fields.get('shareOperation')),
        };
  return { units, sold: fields.get('sold') ?? null, share };
}

function decodePayment(fields: ReadonlyMap<string, string>): PaymentRecord {
  const text = (name: string): string => textOf(fields.get(name));
  const id: AuthorizationId = {
    chain: text('chain'),
    asset: text('asset'),
    payer: text('payer'),
    nonce: text('nonce'),
  };
  return {
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
    leftOpenAtMs: nullable(numberOf, fields.get('leftOpenAtMs')),
    saidTransaction: fields.get('saidTransaction') ?? null,
    transaction: fields.get('transaction') ?? null,
    keyId: fields.get('keyId') ?? null,
    sale: decodeSale(fields),
  };
}

/** Payments of one time are ordered by the bytes of their entries. */
async function unresolved(
  redis: RedisConnection,
  names: Names,
  { nowMs, after = null, limit }: UnresolvedPage,
): Promise<readonly PaymentRecord[]> {
  const first = after?.leaseUntilMs ?? '-inf';
  const found: PaymentRecord[] = [];
  let seen = 0;
  while (found.length < limit) {
    const from = seen;
    const wanted = limit - found.length;
    const flat = await redis.run((client) =>
      client.zrangebyscore(names.settling, first, nowMs, 'WITHSCORES', 'LIMIT', from, wanted),
    );
    const entries = flat.flatMap((entry, i) =>
      i % 2 === 0 && isBehind(entry, numberOf(flat[i + 1]), after) ? [entry] : [],
    );
    const records = await Promise.all(entries.map((entry) => findPayment(redis, names, entry)));
    // One that was settled or dropped since its entry was read is passed over.
    for (const record of records) if (record?.state === 'settling') found.push(record);
    seen += flat.length / 2;
    if (flat.length / 2 < wanted) break;
  }
  return found;
}

function isBehind(entry: string, leaseUntilMs: number, after: UnresolvedPage['after']): boolean {
  if (after == null || leaseUntilMs !== after.leaseUntilMs) return true;
  return Buffer.compare(Buffer.from(entry), Buffer.from(paymentEntry(after.id))) > 0;
}
