import type Database from 'libsql';
import type { KeyRight } from '../../../core/domain/key-right.ts';
import type { AuthorShare, Sale } from '../../../core/domain/sale.ts';
import type { KeyEvent, KeyLimits, KeyRecord } from '../account-store.ts';
import type { AuthorizationId, PaymentRecord } from '../payment-store.ts';

/**
 * Named parameters only, everywhere: libsql 0.5.29 ends the whole process (a Rust panic) when an object, or a lone null, is
 * bound to a statement with positional ones.
 */
export type Parameters = Readonly<Record<string, unknown>>;

/** A prepared statement. Parameters that it does not name are ignored; one that is left out is NULL. */
export interface StoreStatement<Row> {
  one(parameters: Parameters): Row | undefined;
  all(parameters: Parameters): Row[];
  /** Runs it and says how many rows it changed. */
  run(parameters: Parameters): number;
}

/** `Row` has the names of the columns of `text`; the tables are STRICT, so their types hold. */
export function prepare<Row = never>(db: Database.Database, text: string): StoreStatement<Row> {
  const statement = db.prepare<Parameters>(text);
  // libsql makes lists of values several times faster than objects.
  const names = statement.reader
    ? statement
        .raw()
        .columns()
        .map(({ name }) => name)
    : [];
  return {
    one(parameters) {
      const values = statement.get(parameters);
      return values === undefined ? undefined : rowOf<Row>(names, values);
    },
    all: (parameters) => statement.all(parameters).map((values) => rowOf<Row>(names, values)),
    run: (parameters) => statement.run(parameters).changes,
  };
}

function rowOf<Row>(names: readonly string[], values: unknown): Row {
  const row: Record<string, unknown> = {};
  // In raw mode a row is the list of its values.
  for (const [index, value] of (values as readonly unknown[]).entries()) row[names[index] ?? ''] = value;
  return row as Row;
}

/** A method of the port as the writing thread has it: the same answer, at once. */
export type AtOnce<Method> = Method extends (argument: infer Argument) => Promise<infer Answer>
  ? (argument: Argument) => Answer
  : never;
export type AllAtOnce<Port, Name extends keyof Port> = { readonly [K in Name]: AtOnce<Port[K]> };

/** The columns that are read of each table, under the names of the port's records. */

export const ORGANIZATION_COLUMNS = 'id, display_name AS displayName, plan, created_at_ms AS createdAtMs';

export const KEY_COLUMNS = `id, digest, kind, organization_id AS organizationId, label, created_at_ms AS createdAtMs,
  expires_at_ms AS expiresAtMs, revoked_at_ms AS revokedAtMs, manages_keys AS managesKeys, units_per_day AS unitsPerDay,
  operations, rights, made_by AS madeBy, used_day AS usedDay, used_units AS usedUnits`;

/** A key as KEY_COLUMNS names it. */
export interface KeyRow
  extends Omit<KeyRecord, 'limits' | 'used'>,
    Pick<KeyLimits, 'unitsPerDay' | 'madeBy'> {
  readonly managesKeys: number | null;
  /** JSON, like the next. */
  readonly operations: string | null;
  readonly rights: string | null;
  readonly usedDay: number;
  readonly usedUnits: number;
}

export function keyOf(row: KeyRow): KeyRecord {
  const { managesKeys, unitsPerDay, operations, rights, madeBy, usedDay, usedUnits, ...plain } = row;
  const used = usedDay === 0 ? {} : { used: { day: usedDay, units: usedUnits } };
  if (managesKeys === null) return { ...plain, ...used };
  const listed = operations === null ? null : (JSON.parse(operations) as string[]); // written by `rowOfKey`
  const given = rights === null ? {} : { rights: JSON.parse(rights) as KeyRight[] };
  return {
    ...plain,
    limits: { managesKeys: managesKeys === 1, unitsPerDay, operations: listed, madeBy, ...given },
    ...used,
  };
}

/** The parameters of a key: its columns that are not counted. */
export function rowOfKey({ limits, used: _, ...plain }: KeyRecord): Parameters {
  if (limits === undefined) return { ...plain };
  const { managesKeys, operations, rights, ...rest } = limits;
  return {
    ...plain,
    ...rest,
    managesKeys: managesKeys ? 1 : 0,
    operations: operations === null ? null : JSON.stringify(operations),
    rights: rights == null ? null : JSON.stringify(rights),
  };
}

export const EVENT_COLUMNS = 'at_ms AS atMs, action, key_id AS keyId, made_by AS "by", change';

export type EventRow = Omit<KeyEvent, 'change'> & { readonly change: string };

export function eventOf({ change, ...row }: EventRow): KeyEvent {
  return { ...row, change: JSON.parse(change) as KeyEvent['change'] }; // written from one
}

export const BALANCE_COLUMNS = 'granted, balance, held, spent';

export const HOLD_COLUMNS = `organization_id AS organizationId, hold_id AS holdId, units, operation, held_at_ms AS heldAtMs,
  overdue_at_ms AS overdueAtMs`;

export const LEDGER_COLUMNS = 'sequence, at_ms AS atMs, kind, units, released, subject, note, balance, held';

const SHARE_COLUMNS = `share_organization_id AS shareOrganizationId, share_units AS shareUnits,
  share_run_units AS shareRunUnits, share_note AS shareNote, share_operation AS shareOperation`;

export const PAYMENT_COLUMNS = `chain, asset, payer, nonce, binding, resource, pay_to AS payTo, amount, state,
  claimed_at_ms AS claimedAtMs, lease_until_ms AS leaseUntilMs, attempts, expires_at_ms AS expiresAtMs,
  left_open_at_ms AS leftOpenAtMs, said_tx AS saidTransaction, settlement_tx AS "transaction", key_id AS keyId,
  sale_units AS saleUnits, sold, ${SHARE_COLUMNS}`;

/** One authorization. */
export const THIS_PAYMENT = 'chain = :chain AND asset = :asset AND payer = :payer AND nonce = :nonce';

/** A payment as PAYMENT_COLUMNS names it: the parts of its id are fields like the others. */
export type PaymentRow = AuthorizationId & Omit<PaymentRecord, 'id' | 'sale'> & SaleRow;

/** What a payment was claimed for; the share is there as a whole or not at all. */
export interface SaleRow {
  readonly saleUnits: number | null;
  readonly sold: string | null;
  readonly shareOrganizationId: string | null;
  readonly shareUnits: number | null;
  readonly shareRunUnits: number | null;
  readonly shareNote: string | null;
  readonly shareOperation: string | null;
}

export function paymentOf(row: PaymentRow): PaymentRecord {
  const { chain, asset, payer, nonce, saleUnits, sold, ...columns } = row;
  const { shareOrganizationId, shareUnits, shareRunUnits, shareNote, shareOperation, ...rest } = columns;
  const sale = saleUnits === null ? null : { units: saleUnits, sold, share: shareOf(row) };
  return { id: { chain, asset, payer, nonce }, ...rest, sale };
}

export function shareOf(row: Omit<SaleRow, 'saleUnits' | 'sold'>): AuthorShare | null {
  const { shareOrganizationId: organizationId, shareUnits: units, shareRunUnits: runUnits } = row;
  if (organizationId === null || units === null || runUnits === null) return null;
  return { organizationId, units, runUnits, note: row.shareNote ?? '', earnedBy: row.shareOperation ?? '' };
}

/** The parameters of a sale. */
export function rowOfSale(sale: Sale | undefined): SaleRow {
  const share = sale?.share ?? null;
  return {
    saleUnits: sale?.units ?? null,
    sold: sale?.sold ?? null,
    shareOrganizationId: share?.organizationId ?? null,
    shareUnits: share?.units ?? null,
    shareRunUnits: share?.runUnits ?? null,
    shareNote: share?.note ?? null,
    shareOperation: share?.earnedBy ?? null,
  };
}
