import { ADDRESS_PATTERN, type Address, hexOf, type TransactionId } from '../../core/domain/account.ts';
import { type Sql, type SqlValue, sql, text, texts, trustedText } from './sql.ts';

/**
 * How tables hold accounts and transactions, and the expressions between that and their texts. Statements, views and declarations use
 * these and know neither lengths nor `0x`.
 *
 * Columns are bytes of the length of EVM chains today. The index on the text of a column serves a condition only if both have the same
 * expression: `accountText` and the schema change together.
 */

/** The types of the columns, and the bytes of a value. */
export const ACCOUNT_TYPE = 'FixedString(20)';
export const ACCOUNT_BYTES = 20;
export const TRANSACTION_TYPE = 'FixedString(32)';
export const TRANSACTION_BYTES = 32;
export const HASH_TYPE = 'FixedString(32)';
export const HASH_BYTES = 32;

/** The expression of a column's text, for views and declarations; for statements there are the functions below. */
export const expressions = {
  accountText: (column: string): string => `concat('0x', lower(hex(${column})))`,
  transactionText: (column: string): string => `concat('0x', lower(hex(${column})))`,
  /** Of bytes that are no account: hashes of blocks and files, data of logs. */
  hashText: (column: string): string => `concat('0x', lower(hex(${column})))`,
  noAccount: `toFixedString('', ${ACCOUNT_BYTES})`,
  noTransaction: `toFixedString('', ${TRANSACTION_BYTES})`,
  noHash: `toFixedString('', ${HASH_BYTES})`,
} as const;

/** An address of our own among the text of a view, which takes no parameters. */
export function accountLiteral(address: Address): string {
  return `unhex('${hexOf(address)}')`;
}

/** The text of a column that holds accounts. */
export function accountText(column: string): Sql {
  return trustedText(expressions.accountText(column));
}

/** The text of a column that holds transactions. */
export function transactionText(column: string): Sql {
  return trustedText(expressions.transactionText(column));
}

/** The text of a column that holds hashes of something else. */
export function hashText(column: string): Sql {
  return trustedText(expressions.hashText(column));
}

/** What a column holds where there is no account. */
export const NO_ACCOUNT = trustedText(expressions.noAccount);
/** What a column holds where there is no transaction. */
export const NO_TRANSACTION = trustedText(expressions.noTransaction);

/** An address as tables hold it. Throws for one that no column can hold: its text would be read as other bytes. */
export function addressBytes(address: Address): Sql {
  refuseUnheld([address], ACCOUNT_BYTES);
  return accountBytes(text(address));
}

function refuseUnheld(values: readonly (Address | TransactionId)[], bytes: number): void {
  const unheld = values.find((value) => hexOf(value).length !== 2 * bytes);
  if (unheld !== undefined) throw new RangeError(`no column holds ${unheld}`);
}

/** Addresses as tables hold them, to be put behind IN. */
export function addressesBytes(addresses: readonly Address[]): Sql {
  refuseUnheld(addresses, ACCOUNT_BYTES);
  return sql`(SELECT ${accountBytes(sql`arrayJoin(${texts(addresses)})`)})`;
}

/** The bytes of an expression whose values are texts of accounts. */
export function accountBytes(value: Sql | SqlValue): Sql {
  return sql`toFixedString(unhex(substring(${value}, 3)), ${trustedText(String(ACCOUNT_BYTES))})`;
}

/** The bytes of an expression whose values are texts of transactions. */
export function transactionBytes(value: Sql | SqlValue): Sql {
  return sql`toFixedString(unhex(substring(${value}, 3)), ${trustedText(String(TRANSACTION_BYTES))})`;
}

/** A transaction as tables hold it. Throws for one that no column can hold. */
export function transactionIdBytes(id: TransactionId): Sql {
  refuseUnheld([id], TRANSACTION_BYTES);
  return transactionBytes(text(id));
}

/** The lowest account whose first bytes have these hex digits. */
export function lowestAccount(digits: string): Sql {
  return sql`toFixedString(unhex(${text(digits)}), ${trustedText(String(ACCOUNT_BYTES))})`;
}

/** Whether a text is an account that columns can hold: listings name accounts of chains that are not indexed. */
export function isAccountText(value: Sql): Sql {
  return sql`match(${value}, '${trustedText(ADDRESS_PATTERN)}')`;
}
