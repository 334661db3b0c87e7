import type Database from 'libsql';
import type { AccountStore, KeyRecord } from '../account-store.ts';
import {
  type AuthorizationId,
  PAYMENT_KEPT_MS,
  PAYMENTS_FORGOTTEN_PER_CLAIM,
  type PaymentRecord,
  type PaymentStore,
} from '../payment-store.ts';
import type { ReplyStore } from '../store.ts';
import { type JobWrites, jobWrites, type ResultWrites, resultWrites } from './jobs.ts';
import { PAYMENT_COLUMNS, type PaymentRow, paymentOf, prepare, THIS_PAYMENT } from './rows.ts';
import { type AllAtOnce, type AtOnce, type UnitWrites, unitWrites } from './unit-writes.ts';

type AccountWrites = AllAtOnce<AccountStore, 'createOrganization' | 'changePlan' | 'addKey' | 'revokeKey'>;
type PaymentWrites = AllAtOnce<
  PaymentStore,
  'claim' | 'recordSettlement' | 'leaveOpen' | 'dropClaim' | 'beginServing' | 'finishServing' | 'issueKey'
>;
interface ReplyWrites {
  beginReply: AtOnce<ReplyStore['begin']>;
  finishReply: AtOnce<ReplyStore['finish']>;
}

/** Everything that changes the file. Each runs inside a transaction that the caller began, and throws to undo itself. */
export interface Writes
  extends AccountWrites,
    UnitWrites,
    PaymentWrites,
    ReplyWrites,
    JobWrites,
    ResultWrites {
  /** Changes nothing: that it ran says that the file can be locked for writing. */
  ping: (nothing: null) => void;
}

export type WriteName = keyof Writes;
export type WriteArgument<Name extends WriteName> = Parameters<Writes[Name]>[0];
export type WriteAnswer<Name extends WriteName> = ReturnType<Writes[Name]>;

export interface WriteRequest<Name extends WriteName = WriteName> {
  readonly name: Name;
  readonly argument: WriteArgument<Name>;
}

/** Prepares every statement that changes the file. */
export function createWrites(db: Database.Database): Writes {
  return {
    ...accountWrites(db),
    ...unitWrites(db),
    ...paymentWrites(db),
    ...replyWrites(db),
    ...jobWrites(db),
    ...resultWrites(db),
    ping: () => undefined,
  };
}

function accountWrites(db: Database.Database): AccountWrites {
  const insertOrganization = prepare(
    db,
    `INSERT INTO organization (id, display_name, plan, created_at_ms)
     VALUES (:id, :displayName, :plan, :createdAtMs) ON CONFLICT (id) DO NOTHING`,
  );
  const changePlan = prepare(db, 'UPDATE organization SET plan = :plan WHERE id = :organizationId');
  const organizationExists = prepare<object>(db, 'SELECT 1 FROM organization WHERE id = :organizationId');
  const keyExists = prepare<object>(db, 'SELECT 1 FROM api_key WHERE id = :keyId');
  const insertKey = keyInserter(db);
  const revokeKey = prepare(
    db,
    `UPDATE api_key SET revoked_at_ms = :atMs
     WHERE id = :keyId AND (revoked_at_ms IS NULL OR revoked_at_ms > :atMs)`,
  );
  return {
    createOrganization: (organization) =>
      insertOrganization.run({ ...organization }) === 1 ? 'created' : 'exists',
    changePlan: (change) => (changePlan.run(change) === 1 ? 'changed' : 'unknown'),
    addKey: (key) => {
      const known =
        key.organizationId === null || organizationExists.one({ organizationId: key.organizationId });
      if (!known) return 'unknown_organization';
      return insertKey(key) ? 'added' : 'exists';
    },
    revokeKey: (key) => {
      if (revokeKey.run(key) === 1) return 'revoked';
      return keyExists.one(key) ? 'was_revoked' : 'unknown';
    },
  };
}

/** Adds a key; false when its id or its digest is taken. */
function keyInserter(db: Database.Database): (key: KeyRecord) => boolean {
  const insert = prepare(
    db,
    `INSERT INTO api_key (id, digest, kind, organization_id, label, created_at_ms, expires_at_ms, revoked_at_ms)
     VALUES (:id, :digest, :kind, :organizationId, :label, :createdAtMs, :expiresAtMs, :revokedAtMs)
     ON CONFLICT (id) DO NOTHING ON CONFLICT (digest) DO NOTHING`,
  );
  return (key) => insert.run({ ...key }) === 1;
}

type Find = (id: AuthorizationId) => PaymentRecord | undefined;

/** The steps of a payment. Each `UPDATE` names the state that it leaves, so that a step out of turn changes nothing. */
function paymentWrites(db: Database.Database): PaymentWrites {
  const one = prepare<PaymentRow>(db, `SELECT ${PAYMENT_COLUMNS} FROM payment WHERE ${THIS_PAYMENT}`);
  const find: Find = (id) => {
    const row = one.one({ ...id });
    return row && paymentOf(row);
  };
  return {
    claim: claimer(db, find),
    ...settlementWrites(db, find),
    ...servingWrites(db, find),
    issueKey: keyIssuer(db, find),
  };
}

function claimer(db: Database.Database, find: Find): PaymentWrites['claim'] {
  const insert = prepare(
    db,
    `INSERT INTO payment
       (chain, asset, payer, nonce, binding, resource, pay_to, amount, state, expires_at_ms, claimed_at_ms,
        lease_until_ms)
     VALUES (:chain, :asset, :payer, :nonce, :binding, :resource, :payTo, :amount, 'settling', :expiresAtMs, :claimedAtMs,
        :leaseUntilMs)
     ON CONFLICT (chain, asset, payer, nonce) DO NOTHING`,
  );
  const forgetServed = prepare(
    db,
    `DELETE FROM payment WHERE (chain, asset, payer, nonce) IN
       (SELECT chain, asset, payer, nonce FROM payment
        WHERE state = 'served' AND expires_at_ms <= :claimedAtMs - ${PAYMENT_KEPT_MS}
        ORDER BY expires_at_ms LIMIT ${PAYMENTS_FORGOTTEN_PER_CLAIM})`,
  );
  return ({ id, ...rest }) => {
    forgetServed.run({ claimedAtMs: rest.claimedAtMs });
    const claimed = insert.run({ ...id, ...rest }) === 1;
    const record = find(id);
    if (record === undefined) throw new Error('a claimed payment cannot be read');
    return { outcome: claimed ? 'claimed' : 'taken', record };
  };
}

function settlementWrites(
  db: Database.Database,
  find: Find,
): Pick<PaymentWrites, 'recordSettlement' | 'leaveOpen' | 'dropClaim'> {
  const settle = prepare(
    db,
    `UPDATE payment SET state = 'settled', settlement_tx = :transaction WHERE ${THIS_PAYMENT} AND state = 'settling'`,
  );
  const leave = prepare(
    db,
    `UPDATE payment SET left_open_at_ms = :atMs, said_tx = coalesce(:transaction, said_tx)
     WHERE ${THIS_PAYMENT} AND state = 'settling'`,
  );
  const drop = prepare(db, `DELETE FROM payment WHERE ${THIS_PAYMENT} AND state = 'settling'`);
  return {
    recordSettlement: ({ id, transaction }) => {
      if (settle.run({ ...id, transaction }) === 1) return 'settled';
      const record = find(id);
      if (record === undefined) return 'unknown';
      return record.transaction === transaction ? 'replayed' : 'conflict';
    },
    leaveOpen: ({ id, atMs, transaction }) => {
      if (leave.run({ ...id, atMs, transaction }) === 1) return 'left';
      return find(id) ? 'not_settling' : 'unknown';
    },
    dropClaim: (id) => {
      if (drop.run({ ...id }) === 1) return 'dropped';
      return find(id) ? 'not_settling' : 'unknown';
    },
  };
}

function servingWrites(
  db: Database.Database,
  find: Find,
): Pick<PaymentWrites, 'beginServing' | 'finishServing'> {
  const begin = prepare<{ readonly attempt: number }>(
    db,
    `UPDATE payment SET state = 'serving', attempts = attempts + 1, lease_until_ms = :leaseUntilMs
     WHERE ${THIS_PAYMENT} AND attempts < :attemptsMax
       AND (state = 'settled' OR (state = 'serving' AND lease_until_ms <= :nowMs))
     RETURNING attempts AS attempt`,
  );
  const finish = prepare(
    db,
    `UPDATE payment SET state = :state, attempts = attempts - :given WHERE ${THIS_PAYMENT} AND state = 'serving' AND attempts = :attempt`,
  );
  return {
    beginServing: ({ id, nowMs, leaseUntilMs, attemptsMax }) => {
      const begun = begin.one({ ...id, nowMs, leaseUntilMs, attemptsMax });
      if (begun) return { outcome: 'serving', attempt: begun.attempt };
      return { outcome: whyNotServing(find(id), nowMs), attempt: 0 };
    },
    finishServing: ({ id, attempt, answered, uncounted = false }) => {
      const given = uncounted && !answered ? 1 : 0;
      finish.run({ ...id, attempt, given, state: answered ? 'served' : 'settled' });
    },
  };
}

function whyNotServing(
  record: PaymentRecord | undefined,
  nowMs: number,
): 'busy' | 'used' | 'unsettled' | 'unknown' {
  if (record === undefined) return 'unknown';
  if (record.state === 'settling') return 'unsettled';
  return record.state === 'serving' && record.leaseUntilMs > nowMs ? 'busy' : 'used';
}

function keyIssuer(db: Database.Database, find: Find): PaymentWrites['issueKey'] {
  const insertKey = keyInserter(db);
  const nameKey = prepare(db, `UPDATE payment SET key_id = :keyId WHERE ${THIS_PAYMENT}`);
  return ({ id, key }) => {
    if (key.organizationId !== null) throw new RangeError('a trial key stands for no organization');
    const record = find(id);
    if (record === undefined) return { outcome: 'unknown', keyId: null };
    if (record.state === 'settling') return { outcome: 'unsettled', keyId: null };
    if (record.keyId !== null) return { outcome: 'already_issued', keyId: record.keyId };
    if (!insertKey(key)) throw new RangeError('the id or the digest of the trial key is taken');
    nameKey.run({ ...id, keyId: key.id });
    return { outcome: 'issued', keyId: key.id };
  };
}

interface ReplyRow {
  readonly requestDigest: string;
  readonly leaseUntilMs: number;
  readonly keepUntilMs: number;
  readonly reply: string | null;
}

/** Forgotten with every beginning. More than one, so that the table shrinks after a rush; few, so that no caller waits. */
const FORGOTTEN_PER_BEGIN = 4;

function replyWrites(db: Database.Database): ReplyWrites {
  const find = prepare<ReplyRow>(
    db,
    `SELECT request_digest AS requestDigest, lease_until_ms AS leaseUntilMs, keep_until_ms AS keepUntilMs, reply
     FROM reply WHERE scope = :scope AND key = :key`,
  );
  const forgetOld = prepare(
    db,
    `DELETE FROM reply WHERE (scope, key) IN
       (SELECT scope, key FROM reply WHERE keep_until_ms <= :nowMs ORDER BY keep_until_ms LIMIT ${FORGOTTEN_PER_BEGIN})`,
  );
  const begin = prepare(
    db,
    `INSERT OR REPLACE INTO reply (scope, key, request_digest, lease_until_ms, keep_until_ms)
     VALUES (:scope, :key, :requestDigest, :leaseUntilMs, :keepUntilMs)`,
  );
  const keep = prepare(
    db,
    'UPDATE reply SET reply = :reply WHERE scope = :scope AND key = :key AND reply IS NULL',
  );
  const forget = prepare(db, 'DELETE FROM reply WHERE scope = :scope AND key = :key AND reply IS NULL');
  return {
    beginReply: (request) => {
      const known = find.one(request);
      if (known && known.keepUntilMs > request.nowMs) {
        if (known.requestDigest !== request.requestDigest) return { outcome: 'conflict' };
        if (known.reply !== null) return { outcome: 'done', reply: known.reply };
        if (known.leaseUntilMs > request.nowMs) return { outcome: 'running' };
      }
      forgetOld.run(request);
      begin.run(request);
      return { outcome: 'begun' };
    },
    finishReply: (finished) => {
      if (finished.reply === null) forget.run(finished);
      else keep.run(finished);
    },
  };
}
