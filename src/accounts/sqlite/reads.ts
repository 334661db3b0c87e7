import type Database from 'libsql';
import type { KeyDigest } from '../../../core/domain/caller.ts';
import type { UnitBalance } from '../../../core/domain/plan.ts';
import type { QueryRun, UsageRow } from '../../../core/domain/usage.ts';
import type { Credential, KeyEvent, KeyRecord, Organization } from '../account-store.ts';
import type { AuthorizationId, PaymentRecord, UnresolvedPage } from '../payment-store.ts';
import type { Hold, LedgerEntry } from '../unit-store.ts';
import type { UsageStore } from '../usage-store.ts';
import { openForReading } from './database.ts';
import { jobReads, resultReads } from './jobs.ts';
import { ownTableReads } from './own-tables.ts';
import {
  BALANCE_COLUMNS,
  EVENT_COLUMNS,
  type EventRow,
  eventOf,
  HOLD_COLUMNS,
  KEY_COLUMNS,
  type KeyRow,
  keyOf,
  LEDGER_COLUMNS,
  ORGANIZATION_COLUMNS,
  PAYMENT_COLUMNS,
  type PaymentRow,
  paymentOf,
  prepare,
  THIS_PAYMENT,
} from './rows.ts';
import { savedQueryReads } from './saved-queries.ts';
import { shareReads } from './shares.ts';

/** Every method of the port that changes nothing. Some microseconds each from the page cache, so they run on the calling thread. */
export type Reads = ReturnType<typeof openReads>;

export function openReads(path: string) {
  const db = openForReading(path);
  return {
    ...accountReads(db),
    ...unitReads(db),
    ...paymentReads(db),
    ...usageReads(db),
    ...jobReads(db),
    ...resultReads(db),
    ...shareReads(db),
    ...savedQueryReads(db),
    ...ownTableReads(db),
    close: () => void db.close(),
  };
}

/** A range of the index, also from the first. */
const THOSE_AFTER = `id >= ifnull(:after, '') AND id IS NOT :after`;

type Connection = ReturnType<typeof openForReading>;

function accountReads(db: Connection) {
  const organization = prepare<Organization>(
    db,
    `SELECT ${ORGANIZATION_COLUMNS} FROM organization WHERE id = :id`,
  );
  const organizations = prepare<Organization>(
    db,
    `SELECT ${ORGANIZATION_COLUMNS} FROM organization WHERE ${THOSE_AFTER} ORDER BY id LIMIT :limit`,
  );
  const keys = prepare<KeyRow>(
    db,
    `SELECT ${KEY_COLUMNS} FROM api_key
     WHERE organization_id IS :organizationId AND ${THOSE_AFTER} ORDER BY id LIMIT :limit`,
  );
  const events = prepare<EventRow>(
    db,
    `SELECT ${EVENT_COLUMNS} FROM key_event WHERE organization_id = :organizationId ORDER BY id DESC LIMIT :limit`,
  );
  return {
    findOrganization: (id: string): Organization | null => organization.one({ id }) ?? null,
    listOrganizations: (page: { readonly after: string | null; readonly limit: number }): Organization[] =>
      organizations.all(page),
    listKeys: (page: {
      readonly organizationId: string | null;
      readonly after: string | null;
      readonly limit: number;
    }): KeyRecord[] => keys.all(page).map(keyOf),
    keyEvents: (page: { readonly organizationId: string; readonly limit: number }): KeyEvent[] =>
      events.all(page).map(eventOf),
    findKey: keyFinder(db),
  };
}

/** Key and organization in one statement, and so of one instant. */
function keyFinder(db: Connection): (digest: KeyDigest) => Credential | null {
  type Row = KeyRow & {
    readonly displayName: string | null;
    readonly plan: Organization['plan'];
    readonly organizationCreatedAtMs: number;
  };
  const find = prepare<Row>(
    db,
    `SELECT ${KEY_COLUMNS.replace(/^id|created_at_ms/g, 'api_key.$&')}, display_name AS displayName, plan,
       organization.created_at_ms AS organizationCreatedAtMs
     FROM api_key LEFT JOIN organization ON organization.id = organization_id WHERE digest = :digest`,
  );
  return (digest) => {
    const row = find.one({ digest });
    if (row === undefined) return null;
    const { displayName, plan, organizationCreatedAtMs, ...columns } = row;
    const key = keyOf(columns);
    if (key.organizationId === null || displayName === null) return { key, organization: null };
    const organization = {
      id: key.organizationId,
      displayName,
      plan,
      createdAtMs: organizationCreatedAtMs,
    };
    return { key, organization };
  };
}

function unitReads(db: Connection) {
  const balance = prepare<UnitBalance>(
    db,
    `SELECT ${BALANCE_COLUMNS} FROM organization WHERE id = :organizationId`,
  );
  const overdue = prepare<Hold>(
    db,
    `SELECT ${HOLD_COLUMNS} FROM hold WHERE state = 'open' AND overdue_at_ms <= :nowMs
     ORDER BY overdue_at_ms, organization_id, hold_id LIMIT :limit`,
  );
  const ledger = prepare<LedgerEntry>(
    db,
    `SELECT ${LEDGER_COLUMNS} FROM ledger
     WHERE organization_id = :organizationId AND sequence > :after ORDER BY sequence LIMIT :limit`,
  );
  return {
    balance: (organizationId: string): UnitBalance | null => balance.one({ organizationId }) ?? null,
    overdueHolds: (question: { readonly nowMs: number; readonly limit: number }): Hold[] =>
      overdue.all(question),
    ledger: (page: {
      readonly organizationId: string;
      readonly after: number;
      readonly limit: number;
    }): LedgerEntry[] => ledger.all(page),
  };
}

const FROM_THE_FIRST = {
  leaseUntilMs: Number.MIN_SAFE_INTEGER,
  id: { chain: '', asset: '', payer: '', nonce: '' },
};

function paymentReads(db: Connection) {
  const payment = prepare<PaymentRow>(db, `SELECT ${PAYMENT_COLUMNS} FROM payment WHERE ${THIS_PAYMENT}`);
  const unresolved = prepare<PaymentRow>(
    db,
    `SELECT ${PAYMENT_COLUMNS} FROM payment
     WHERE state = 'settling' AND lease_until_ms <= :nowMs AND lease_until_ms >= :leaseUntilMs
       AND (lease_until_ms, chain, asset, payer, nonce) > (:leaseUntilMs, :chain, :asset, :payer, :nonce)
     ORDER BY lease_until_ms, chain, asset, payer, nonce LIMIT :limit`,
  );
  return {
    findPayment: (id: AuthorizationId): PaymentRecord | null => {
      const row = payment.one({ ...id });
      return row === undefined ? null : paymentOf(row);
    },
    unresolved: ({ nowMs, after, limit }: UnresolvedPage): PaymentRecord[] => {
      const { id, leaseUntilMs } = after ?? FROM_THE_FIRST;
      return unresolved.all({ nowMs, limit, leaseUntilMs, ...id }).map(paymentOf);
    },
  };
}

/** What usage-store.ts asks of the file. */
function usageReads(db: Database.Database) {
  const usage = prepare<UsageRow>(
    db,
    `SELECT day, key_id AS keyId, operation, lane, calls, units, usd_micros AS usdMicros FROM usage_day
     WHERE owner = :owner AND day BETWEEN :dayFrom AND :dayTo ORDER BY day, key_id, operation, lane`,
  );
  const page = (ofKey: string) =>
    prepare<{ readonly run: string }>(
      db,
      `SELECT run FROM query_run WHERE organization_id = :organizationId ${ofKey}
         AND started_at_ms <= :startedAtMs AND (started_at_ms < :startedAtMs OR id < :id)
       ORDER BY started_at_ms DESC, id DESC LIMIT :limit`,
    );
  const all = page('');
  const ofKey = page('AND key_id = :keyId');
  return {
    usage: (question: Parameters<UsageStore['usage']>[0]): UsageRow[] => usage.all(question),
    queries: ({ organizationId, keyId, before, limit }: Parameters<UsageStore['queries']>[0]): QueryRun[] => {
      const { startedAtMs, id } = before ?? { startedAtMs: Number.MAX_SAFE_INTEGER, id: '' };
      const values = { organizationId, keyId, startedAtMs, id, limit };
      const rows = keyId === null ? all.all(values) : ofKey.all(values);
      return rows.map(({ run }) => JSON.parse(run) as QueryRun); // written from one
    },
  };
}
