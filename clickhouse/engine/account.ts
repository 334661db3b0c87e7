import {
  type Address,
  EVM_BYTES,
  hexOf,
  SOLANA_BYTES,
  TEXT_MAX_CHARS,
  type TransactionId,
  ZERO_ADDRESS,
  ZERO_HASH,
} from '../../core/domain/account.ts';
import { type Sql, type SqlValue, sql, text, texts, trustedText } from './sql.ts';

/**
 * How tables hold accounts and transactions, and the expressions between that and their texts. Statements, views and declarations use
 * these and know neither lengths nor `0x`.
 *
 * A column holds the bytes as they are: 20 or 32 of an account, 32 or 64 of a transaction, and their number says how the text is
 * written. docs/design/storage.md has what other types would cost. The index on the text of a column serves a condition only if both
 * have the same expression.
 */

/** The types of the columns. */
export const ACCOUNT_TYPE = 'String';
export const TRANSACTION_TYPE = 'String';
export const HASH_TYPE = 'FixedString(32)';
export const HASH_BYTES = 32;

/** The bytes that hex stands for, in a statement. */
const bytesOfHex = (digits: string): string => `unhex('${digits}')`;

const hexText = (column: string): string => `concat('0x', lower(hex(${column})))`;

/** The expression of a column's text, for views and declarations; for statements there are the functions below. */
export const expressions = {
  accountText: (column: string): string =>
    `if(length(${column}) = ${EVM_BYTES.address}, ${hexText(column)}, base58Encode(${column}))`,
  transactionText: (column: string): string =>
    `if(length(${column}) = ${EVM_BYTES.transaction}, ${hexText(column)}, base58Encode(${column}))`,
  /** The bytes of a text, of a hex or a base58 account; none of another text. */
  accountBytes: (text: string): string =>
    `if(startsWith(${text}, '0x'), unhex(substring(${text}, 3)), tryBase58Decode(${text}))`,
  /** Of bytes that are no account: hashes of blocks and files, data of logs. */
  hashText: hexText,
  noAccount: accountLiteral(ZERO_ADDRESS),
  noTransaction: bytesOfHex(hexOf(ZERO_HASH)),
  noHash: `toFixedString('', ${HASH_BYTES})`,
} as const;

/** An address of our own among the text of a view, which takes no parameters. */
export function accountLiteral(address: Address): string {
  return bytesOfHex(hexOf(address));
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

/** An address as tables hold it. */
export function addressBytes(address: Address): Sql {
  return sql`unhex(${text(hexOf(address))})`;
}

/** Addresses as tables hold them, to be put behind IN. */
export function addressesBytes(addresses: readonly Address[]): Sql {
  return sql`(SELECT unhex(arrayJoin(${texts(addresses.map(hexOf))})))`;
}

/** The bytes of an expression whose values are texts of accounts. */
export function accountBytes(value: Sql | SqlValue): Sql {
  return bytesOfText(value);
}

/** The bytes of an expression whose values are texts of transactions. */
export function transactionBytes(value: Sql | SqlValue): Sql {
  return bytesOfText(value);
}

function bytesOfText(value: Sql | SqlValue): Sql {
  return sql`if(startsWith(${value}, '0x'), unhex(substring(${value}, 3)), tryBase58Decode(${value}))`;
}

/** A transaction as tables hold it. */
export function transactionIdBytes(id: TransactionId): Sql {
  return sql`unhex(${text(hexOf(id))})`;
}

/** The lowest account whose first bytes have these hex digits. */
export function lowestAccount(digits: string): Sql {
  return sql`unhex(${text(digits)})`;
}

/** Whether a text is an account of an EVM chain, as `readAddress` prints it. */
export function isEvmAccountText(value: Sql): Sql {
  return sql`match(${value}, '^0x[0-9a-f]{40}$')`;
}

/** Whether a text is an account, as `readAddress` prints it: listings also name accounts of chains that this program cannot read. */
export function isAccountText(value: Sql): Sql {
  return sql`(${isEvmAccountText(value)}
    OR (length(${value}) <= ${trustedText(String(TEXT_MAX_CHARS.address))} AND length(tryBase58Decode(${value})) = ${trustedText(String(SOLANA_BYTES.address))}))`;
}
