import type Database from 'libsql';
import { PAYMENT_KEPT_MS, PAYMENTS_FORGOTTEN_PER_CLAIM } from '../retention.ts';
import type { AuthorizationId, PaymentRecord } from '../store.ts';
import { PAYMENT_COLUMNS, THIS_PAYMENT } from './columns.ts';
import { keyInserter } from './insert-key.ts';
import { type PaymentRow, paymentOf } from './payment-row.ts';
import { prepare } from './statement.ts';
import type { PaymentWrites } from './write-types.ts';

type Find = (id: AuthorizationId) => PaymentRecord | undefined;

/** The steps of a payment. Each `UPDATE` names the state that it leaves, so that a step out of turn changes nothing. */
export function paymentWrites(db: Database.Database): PaymentWrites {
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
