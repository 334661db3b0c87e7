/** What is read of each table, under the names of the port's records. */

export const ORGANIZATION_COLUMNS = 'id, display_name AS displayName, plan, created_at_ms AS createdAtMs';

export const KEY_COLUMNS = `id, digest, kind, organization_id AS organizationId, label, created_at_ms AS createdAtMs,
  expires_at_ms AS expiresAtMs, revoked_at_ms AS revokedAtMs`;

export const BALANCE_COLUMNS = 'granted, balance, held, spent';

export const HOLD_COLUMNS = `organization_id AS organizationId, hold_id AS holdId, units, operation, held_at_ms AS heldAtMs,
  overdue_at_ms AS overdueAtMs`;

export const LEDGER_COLUMNS = 'sequence, at_ms AS atMs, kind, units, released, subject, note, balance, held';

export const PAYMENT_COLUMNS = `chain, asset, payer, nonce, binding, resource, pay_to AS payTo, amount, state,
  claimed_at_ms AS claimedAtMs, lease_until_ms AS leaseUntilMs, attempts, expires_at_ms AS expiresAtMs,
  left_open_at_ms AS leftOpenAtMs, said_tx AS saidTransaction, settlement_tx AS "transaction", key_id AS keyId`;

/** One authorization. */
export const THIS_PAYMENT = 'chain = :chain AND asset = :asset AND payer = :payer AND nonce = :nonce';
