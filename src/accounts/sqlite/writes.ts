import type Database from 'libsql';
import { requireCovered } from '../../../core/domain/sale.ts';
import {
  type AccountStore,
  changedKey,
  KEY_EVENTS_KEPT,
  KEYS_OF_ORGANIZATION_MAX,
  type KeyEvent,
  type KeyRecord,
  keyMade,
} from '../account-store.ts';
import {
  type AuthorizationId,
  PAYMENT_KEPT_MS,
  PAYMENTS_FORGOTTEN_PER_CLAIM,
  type PaymentRecord,
  type PaymentStore,
} from '../payment-store.ts';
import type { ReplyStore } from '../store.ts';
import { type JobWrites, jobWrites, type ResultWrites, resultWrites } from './jobs.ts';
import { type OwnTableWrites, ownTableWrites } from './own-tables.ts';
import {
  type AllAtOnce,
  type AtOnce,
  KEY_COLUMNS,
  type KeyRow,
  keyOf,
  PAYMENT_COLUMNS,
  type PaymentRow,
  paymentOf,
  prepare,
  rowOfKey,
  rowOfSale,
  THIS_PAYMENT,
} from './rows.ts';
import { type SavedQueryWrites, savedQueryWrites } from './saved-queries.ts';
import { type ShareWrites, shareWrites } from './shares.ts';
import { type UnitWrites, unitWrites } from './unit-writes.ts';
import { type UsageWrites, usageWrites } from './usage-writes.ts';

type AccountWrites = AllAtOnce<
  AccountStore,
  'createOrganization' | 'changePlan' | 'addKey' | 'changeKey' | 'revokeKey'
>;
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
    UsageWrites,
    ReplyWrites,
    JobWrites,
    ResultWrites,
    ShareWrites,
    SavedQueryWrites,
    OwnTableWrites {
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
    ...keyWrites(db),
    ...usageWrites(db),
    ...unitWrites(db),
    ...paymentWrites(db),
    ...replyWrites(db),
    ...jobWrites(db),
    ...resultWrites(db),
    ...shareWrites(db),
    ...savedQueryWrites(db),
    ...ownTableWrites(db),
    ping: () => undefined,
  };
}

function accountWrites(db: Database.Database): Pick<AccountWrites, 'createOrganization' | 'changePlan'> {
  const insertOrganization = prepare(
    db,
    `INSERT INTO organization (id, display_name, plan, created_at_ms)
     VALUES (:id, :displayName, :plan, :createdAtMs) ON CONFLICT (id) DO NOTHING`,
  );
  const changePlan = prepare(db, 'UPDATE organization SET plan = :plan WHERE id = :organizationId');
  return {
    createOrganization: (organization) =>
      insertOrganization.run({ ...organization }) === 1 ? 'created' : 'exists',
    changePlan: (change) => (changePlan.run(change) === 1 ? 'changed' : 'unknown'),
  };
}

/** Each writes what was done to the key into the record of its organization. */
function keyWrites(db: Database.Database): Pick<AccountWrites, 'addKey' | 'changeKey' | 'revokeKey'> {
  const organizationExists = prepare<object>(db, 'SELECT 1 FROM organization WHERE id = :organizationId');
  const count = prepare<{ readonly keys: number }>(
    db,
    'SELECT count(*) AS keys FROM api_key WHERE organization_id = :organizationId',
  );
  const find = prepare<KeyRow>(db, `SELECT ${KEY_COLUMNS} FROM api_key WHERE id = :keyId`);
  const insertKey = keyInserter(db);
  const update = prepare(
    db,
    `UPDATE api_key SET label = :label, expires_at_ms = :expiresAtMs, manages_keys = :managesKeys,
       units_per_day = :unitsPerDay, operations = :operations, rights = :rights, made_by = :madeBy WHERE id = :id`,
  );
  const revoke = prepare(
    db,
    `UPDATE api_key SET revoked_at_ms = :atMs
     WHERE id = :keyId AND (revoked_at_ms IS NULL OR revoked_at_ms > :atMs)`,
  );
  const record = eventWriter(db);
  return {
    addKey: (key) => {
      const { organizationId } = key;
      if (organizationId === null) return insertKey(key) ? 'added' : 'exists';
      if (!organizationExists.one({ organizationId })) return 'unknown_organization';
      if ((count.one({ organizationId })?.keys ?? 0) >= KEYS_OF_ORGANIZATION_MAX) return 'too_many';
      if (!insertKey(key)) return 'exists';
      record(organizationId, keyMade(key));
      return 'added';
    },
    changeKey: ({ keyId, organizationId, set, by, atMs }) => {
      const row = find.one({ keyId });
      if (row === undefined || row.organizationId !== organizationId)
        return { outcome: 'unknown', key: null };
      const before = keyOf(row);
      const { outcome, key } = changedKey(before, set, atMs);
      if (outcome !== 'changed') return { outcome, key: before };
      update.run(rowOfKey(key));
      record(organizationId, { atMs, action: 'changed', keyId, by, change: set });
      return { outcome, key };
    },
    revokeKey: ({ keyId, atMs, organizationId, by = null }) => {
      const row = find.one({ keyId });
      const isTheirs = organizationId === undefined || row?.organizationId === organizationId;
      if (row === undefined || !isTheirs) return 'unknown';
      if (revoke.run({ keyId, atMs }) === 0) return 'was_revoked';
      if (row.organizationId !== null)
        record(row.organizationId, { atMs, action: 'revoked', keyId, by, change: {} });
      return 'revoked';
    },
  };
}

function eventWriter(db: Database.Database): (organizationId: string, event: KeyEvent) => void {
  const insert = prepare(
    db,
    `INSERT INTO key_event (organization_id, at_ms, action, key_id, made_by, change)
     VALUES (:organizationId, :atMs, :action, :keyId, :by, :change)`,
  );
  const forget = prepare(
    db,
    `DELETE FROM key_event WHERE organization_id = :organizationId AND id <=
       (SELECT id FROM key_event WHERE organization_id = :organizationId
        ORDER BY id DESC LIMIT 1 OFFSET ${KEY_EVENTS_KEPT})`,
  );
  return (organizationId, event) => {
    insert.run({ organizationId, ...event, change: JSON.stringify(event.change) });
    forget.run({ organizationId });
  };
}

/** Adds a key; false when its id or its digest is taken. */
function keyInserter(db: Database.Database): (key: KeyRecord) => boolean {
  const insert = prepare(
    db,
    `INSERT INTO api_key (id, digest, kind, organization_id, label, created_at_ms, expires_at_ms, revoked_at_ms,
       manages_keys, units_per_day, operations, rights, made_by)
     VALUES (:id, :digest, :kind, :organizationId, :label, :createdAtMs, :expiresAtMs, :revokedAtMs,
       :managesKeys, :unitsPerDay, :operations, :rights, :madeBy)
     ON CONFLICT (id) DO NOTHING ON CONFLICT (digest) DO NOTHING`,
  );
  return (key) => insert.run(rowOfKey(key)) === 1;
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
        lease_until_ms, sale_units, sold, share_organization_id, share_units, share_run_units, share_note, share_operation)
     VALUES (:chain, :asset, :payer, :nonce, :binding, :resource, :payTo, :amount, 'settling', :expiresAtMs, :claimedAtMs,
        :leaseUntilMs, :saleUnits, :sold, :shareOrganizationId, :shareUnits, :shareRunUnits, :shareNote, :shareOperation)
     ON CONFLICT (chain, asset, payer, nonce) DO NOTHING`,
  );
  const forgetServed = prepare(
    db,
    `DELETE FROM payment WHERE (chain, asset, payer, nonce) IN
       (SELECT chain, asset, payer, nonce FROM payment
        WHERE state = 'served' AND share_units IS NULL AND expires_at_ms <= :claimedAtMs - ${PAYMENT_KEPT_MS}
        ORDER BY expires_at_ms LIMIT ${PAYMENTS_FORGOTTEN_PER_CLAIM})`,
  );
  return ({ id, sale, ...rest }) => {
    requireCovered(sale?.share, sale?.units ?? 0);
    forgetServed.run({ claimedAtMs: rest.claimedAtMs });
    const claimed = insert.run({ ...id, ...rest, ...rowOfSale(sale) }) === 1;
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
    `UPDATE payment SET state = :state, attempts = attempts - :given, sold = CASE WHEN :state = 'served' THEN NULL ELSE sold END
     WHERE ${THIS_PAYMENT} AND state = 'serving' AND attempts = :attempt`,
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
