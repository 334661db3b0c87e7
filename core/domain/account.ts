import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58 } from '@scure/base';

/**
 * Accounts and transactions as texts and as bytes. How both are written is a matter of the chain's CAIP-2 namespace: 20 and 32 bytes of
 * hex on EVM chains, 32 and 64 bytes of base58 on Solana. No text is of both: base58 has no digit `0`, with which hex begins here.
 */

/** Kinds of chains whose accounts this program can read. Source: CAIP-2. */
export const NAMESPACES = ['eip155', 'solana'] as const;

export type Namespace = (typeof NAMESPACES)[number];

/** An account, in the only spelling used inside the program and in answers: `0x` and 40 lower-case hex digits, or base58 of 32 bytes. */
export type Address = string & { readonly __brand: 'Address' };

/** A 32-byte hash of an EVM chain: `0x` and 64 lower-case hex digits. */
export type Hash = `0x${string}`;

/** A transaction of Solana: its first signature, base58 of 64 bytes. */
export type Signature = string & { readonly __brand: 'Signature' };

export type TransactionId = Hash | Signature;

/** What tables hold where there is no address. */
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}` as Address; // as the type says

/** What tables hold where there is no hash. */
export const ZERO_HASH: Hash = `0x${'0'.repeat(64)}`;

/** For schemas: an address as it is taken, and as answers have it; likewise a transaction. Hex has a `0`, which base58 has not. */
export const ADDRESS_INPUT_PATTERN = '^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$';
export const EVM_ADDRESS_INPUT_PATTERN = '^0x[0-9a-fA-F]{40}$';
export const ADDRESS_PATTERN = '^(0x[0-9a-f]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$';
export const TRANSACTION_INPUT_PATTERN = '^(0x[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$';
export const TRANSACTION_PATTERN = '^(0x[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$';

/** Why a text is no address or transaction. `checksum`: mixed case that contradicts EIP-55, most likely a typing error. */
export const PROBLEMS = ['length', 'character', 'checksum'] as const;

export type Problem = (typeof PROBLEMS)[number];

type Kind = 'address' | 'transaction';

interface Spelling {
  /** What its digits are called, for messages. */
  readonly digits: string;
  readonly alphabet: RegExp;
  readonly bytes: Readonly<Record<Kind, number>>;
  /** Characters, the prefix included. A longer text is refused before anything matches it. */
  readonly chars: Readonly<Record<Kind, { readonly min: number; readonly max: number }>>;
}

const PREFIX = '0x';

const SPELLINGS: Readonly<Record<Namespace, Spelling>> = {
  eip155: {
    digits: 'hex digit',
    alphabet: /^[0-9a-fA-F]*$/,
    bytes: { address: 20, transaction: 32 },
    chars: { address: { min: 42, max: 42 }, transaction: { min: 66, max: 66 } },
  },
  // A leading zero byte is one `1`, and 32 bytes of 0xff have 44 digits: see base58 of draft-msporny-base58.
  solana: {
    digits: 'base58 digit',
    alphabet: /^[1-9A-HJ-NP-Za-km-z]*$/,
    bytes: { address: 32, transaction: 64 },
    chars: { address: { min: 32, max: 44 }, transaction: { min: 64, max: 88 } },
  },
};

/** The lengths of an account and a transaction. */
export const EVM_BYTES = SPELLINGS.eip155.bytes;
export const SOLANA_BYTES = SPELLINGS.solana.bytes;

/** The namespace that a text would be of: hex begins with `0x`, and everything else is read as base58. */
export function namespaceOfText(text: string): Namespace {
  return text.slice(0, PREFIX.length).toLowerCase() === PREFIX ? 'eip155' : 'solana';
}

/**
 * Reads an address: hex in any case, base58 in its own. Hex that is all lower or all upper carries no checksum and passes; mixed case must
 * match EIP-55. Without `namespace` the text decides; a value that is no text is refused like a text of other characters.
 */
export function readAddress(value: unknown, namespace?: Namespace): Address | Problem {
  const digits = readDigits(value, 'address', namespace);
  if (isProblem(digits)) return digits;
  if (!digits.startsWith(PREFIX)) return digits as Address; // base58 of 32 bytes, by `readDigits`
  const lower = digits.toLowerCase() as Address; // 40 hex digits, likewise
  const carriesChecksum = digits !== lower && digits.slice(PREFIX.length) !== upperDigits(lower);
  return !carriesChecksum || toChecksum(lower) === digits ? lower : 'checksum';
}

/** Reads the id of a transaction: a hash in any case, or a signature. Without `namespace` the text decides. */
export function readTransactionId(value: unknown, namespace?: Namespace): TransactionId | Problem {
  const digits = readDigits(value, 'transaction', namespace);
  if (isProblem(digits)) return digits;
  return digits.startsWith(PREFIX) ? (digits.toLowerCase() as Hash) : (digits as Signature); // by `readDigits`
}

/** Whether a text is an account, hex in any case; the checksum of EIP-55 is not looked at. */
export function isSameAccount(text: string, account: Address): boolean {
  return text === account || (account.startsWith(PREFIX) && text.toLowerCase() === account);
}

/** True when the outcome of `readAddress` is an address and not a problem. */
export function isAddress(outcome: Address | Problem): outcome is Address {
  return !isProblem(outcome);
}

/** True when the outcome of `readTransactionId` is an id and not a problem. */
export function isTransactionId(outcome: TransactionId | Problem): outcome is TransactionId {
  return !isProblem(outcome);
}

/** An address literal of our own, for tables and tests. Throws on anything that `readAddress` refuses. */
export function address(text: string): Address {
  const outcome = readAddress(text);
  if (!isAddress(outcome)) throw new Error(`not an address (${outcome}): ${text}`);
  return outcome;
}

/** What is wrong with a text that was refused, in a sentence about it; the checksum of EIP-55 is not looked at. */
export function faultOf(text: string, kind: Kind): string {
  const { digits, alphabet, bytes, chars } = SPELLINGS[namespaceOfText(text)];
  const own = withoutPrefix(text.slice(0, FAULT_MAX_CHARS));
  const wrong = [...own].find((char) => !alphabet.test(char));
  if (wrong !== undefined) return `${JSON.stringify(wrong)} is no ${digits}.`;
  const { min, max } = chars[kind];
  const prefix = text.length - withoutPrefix(text).length;
  const wanted = min === max ? `${max - prefix}` : `${min} to ${max}`;
  return text.length < min || text.length > max
    ? `It has ${text.length - prefix} ${digits}s, not ${wanted}.`
    : `It stands for other than ${bytes[kind]} bytes.`;
}

/** How many digits hex has, without its prefix. */
export function hexDigitsOf(kind: Kind): number {
  return 2 * EVM_BYTES[kind];
}

/** The address or the transaction that hex stands for, in any case, with or without its prefix; undefined for any other text. */
export function hexMeant(text: string, kind: Kind): string | undefined {
  const digits = readDigits(`${PREFIX}${withoutPrefix(text.toLowerCase())}`, kind, 'eip155');
  return isProblem(digits) ? undefined : digits;
}

/** Whether a text is an account or a transaction of Solana. */
export function isBase58Of(text: string, kind: Kind): boolean {
  return !isProblem(readDigits(text, kind, 'solana'));
}

/**
 * Whether a text has the length of base58 of an account or a transaction, and letters of one case alone: one in ten billion accounts is
 * written so, and a program that changed the case is the likely cause.
 */
export function isBase58InOneCase(text: string, kind: Kind): boolean {
  const { min, max } = SPELLINGS.solana.chars[kind];
  if (text.length < min || text.length > max || !/^[1-9A-Za-z]+$/.test(text)) return false;
  return text === text.toLowerCase() || text === text.toUpperCase();
}

/**
 * The spelling that wallets write: of hex EIP-55, in which a letter is upper-case where the matching digit of keccak256(lower-case hex) is
 * 8 or more; base58 has one spelling alone.
 */
export function toChecksum(lower: Address): string {
  if (!lower.startsWith(PREFIX)) return lower;
  const digits = lower.slice(PREFIX.length);
  const hash = Buffer.from(keccak_256(Buffer.from(digits, 'latin1'))).toString('hex');
  let out = PREFIX;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charAt(i);
    out += hash.charCodeAt(i) >= 0x38 /* '8' and above, letters included */ ? digit.toUpperCase() : digit;
  }
  return out;
}

/** An account by its bytes: 20 of an EVM chain, 32 of Solana. */
export function addressOfBytes(bytes: Uint8Array): Address {
  return printBytes(bytes, 'address') as Address; // of one of the two lengths, by `printBytes`
}

/** A transaction by its bytes: 32 of an EVM chain, 64 of Solana. */
export function transactionOfBytes(bytes: Uint8Array): TransactionId {
  return printBytes(bytes, 'transaction') as TransactionId; // likewise
}

/**
 * Writes the bytes of an account or a transaction at `at`, where the buffer must have room for `BYTES_MAX`, and gives how many they are.
 * A text that is neither gives 0.
 */
export function writeBytes(text: Address | TransactionId, into: Buffer, at: number): number {
  if (text.startsWith(PREFIX)) {
    const bytes = (text.length - PREFIX.length) / 2;
    // Node stops at the first character that is no hex digit, so the count is the check.
    const isWhole =
      bytes <= BYTES_MAX && into.write(text.slice(PREFIX.length), at, BYTES_MAX, 'hex') === bytes;
    return isWhole ? bytes : 0;
  }
  const isBase58 = text.length <= TEXT_MAX_CHARS.transaction && SPELLINGS.solana.alphabet.test(text);
  const bytes = isBase58 ? base58.decode(text) : NO_BYTES;
  if (bytes.length > BYTES_MAX) return 0;
  into.set(bytes, at);
  return bytes.length;
}

/** The bytes of an account or a transaction as hex digits without a prefix, for statements. */
export function hexOf(text: Address | TransactionId): string {
  return text.startsWith(PREFIX)
    ? text.slice(PREFIX.length)
    : Buffer.from(base58.decode(text)).toString('hex');
}

/** The hash of a transaction of an EVM chain, for what asks such a chain. */
export function evmHash(id: TransactionId): Hash {
  if (!id.startsWith(PREFIX)) throw new TypeError(`no transaction of an EVM chain: ${id}`);
  return id as Hash; // a signature begins otherwise
}

/** The longest that an account or a transaction is: a signature of Solana. */
export const BYTES_MAX = 64;

/** The longest texts that are read as base58. */
export const TEXT_MAX_CHARS: Readonly<Record<Kind, number>> = {
  address: SPELLINGS.solana.chars.address.max,
  transaction: SPELLINGS.solana.chars.transaction.max,
};

/** Whether an account or a transaction can have so many bytes. */
export function isLengthOf(kind: Kind, bytes: number): boolean {
  return NAMESPACES.some((namespace) => SPELLINGS[namespace].bytes[kind] === bytes);
}

const FAULT_MAX_CHARS = 100;
const NO_BYTES = new Uint8Array();

/** Addresses as texts in the order of characters: from `from` on, before `to`. */
export interface AddressRange {
  readonly from: string;
  readonly to: string;
}

/** Behind the last digit of base58. */
const ADDRESS_END = '{';

/**
 * Ranges that together have every address once, each with about one part in 16^digits of those of EVM chains. Base58 comes after all hex,
 * so the last range has the accounts of other chains as well.
 */
export function addressRanges(digits: number): AddressRange[] {
  const starts = Array.from({ length: 16 ** digits }, (_, at) =>
    digits === 0 ? PREFIX : `${PREFIX}${at.toString(16).padStart(digits, '0')}`,
  );
  return starts.map((from, at) => ({ from, to: starts[at + 1] ?? ADDRESS_END }));
}

function isProblem(outcome: string): outcome is Problem {
  return PROBLEMS.some((problem) => problem === outcome);
}

/** The text itself if it has the form of its namespace; only the checksum of hex is left to be looked at. */
function readDigits(value: unknown, kind: Kind, namespace: Namespace | undefined): string {
  if (typeof value !== 'string') return 'character' satisfies Problem;
  const own = namespaceOfText(value);
  if (namespace !== undefined && own !== namespace) return 'character' satisfies Problem;
  const { alphabet, bytes, chars } = SPELLINGS[own];
  const { min, max } = chars[kind];
  if (value.length < min || value.length > max) return 'length' satisfies Problem;
  if (!alphabet.test(withoutPrefix(value))) return 'character' satisfies Problem;
  const isWhole = own === 'eip155' || base58.decode(value).length === bytes[kind];
  return isWhole ? value : ('length' satisfies Problem);
}

function printBytes(bytes: Uint8Array, kind: Kind): string {
  if (bytes.length === SPELLINGS.eip155.bytes[kind]) return `${PREFIX}${Buffer.from(bytes).toString('hex')}`;
  if (bytes.length === SPELLINGS.solana.bytes[kind]) return base58.encode(bytes);
  throw new RangeError(`${bytes.length} bytes are no ${kind}`);
}

function withoutPrefix(text: string): string {
  return text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text;
}

function upperDigits(lower: string): string {
  return lower.slice(PREFIX.length).toUpperCase();
}
