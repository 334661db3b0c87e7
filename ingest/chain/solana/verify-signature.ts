import { createPublicKey, verify } from 'node:crypto';
import { base58 } from '@scure/base';
import { list, record } from '../read-answers.ts';
import { ProviderContradiction } from '../rpc/failure.ts';

/**
 * Verifies the first signature of a transaction, which is its id and that of the account that paid the fee. It signs the message: every
 * account, instruction, amount and memo. So a node can keep a payment back, and can say what became of it, but cannot invent one, alter one,
 * or give it another id. Source: Solana, format of versioned messages; ed25519 of RFC 8032.
 */
export function verifySignature(signature: string, message: Record<string, unknown>, version: unknown): void {
  const payer = list(message['accountKeys'], 'account keys')[0];
  const isSigned =
    typeof payer === 'string' &&
    verify(null, messageBytes(message, version), keyOf(bytesOf(payer)), bytesOf(signature));
  if (!isSigned)
    throw new ProviderContradiction('wrong-signature', `${signature} does not sign its transaction`);
}

/** The DER head of an ed25519 public key (RFC 8410); the key itself follows. */
const KEY_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

function keyOf(bytes: Uint8Array) {
  return createPublicKey({ key: Buffer.concat([KEY_HEAD, bytes]), format: 'der', type: 'spki' });
}

/** The message as it was signed. */
export function messageBytes(message: Record<string, unknown>, version: unknown): Uint8Array {
  const out: number[] = [];
  const isLegacy = version === 'legacy' || version === undefined;
  if (!isLegacy) out.push(VERSIONED | byte(version));
  const header = record(message['header'], 'message header');
  for (const name of HEADER) out.push(byte(header[name]));
  const keys = list(message['accountKeys'], 'account keys');
  pushLength(out, keys.length);
  for (const key of keys) pushBytes(out, bytesOf(key));
  pushBytes(out, bytesOf(message['recentBlockhash']));
  const instructions = list(message['instructions'], 'instructions');
  pushLength(out, instructions.length);
  for (const entry of instructions) {
    const instruction = record(entry, 'instruction');
    out.push(byte(instruction['programIdIndex']));
    pushIndexes(out, instruction['accounts']);
    const data = bytesOf(instruction['data'], DATA_MAX_CHARS);
    pushLength(out, data.length);
    pushBytes(out, data);
  }
  if (!isLegacy) pushLookups(out, message['addressTableLookups'] ?? []);
  return Uint8Array.from(out);
}

const HEADER = ['numRequiredSignatures', 'numReadonlySignedAccounts', 'numReadonlyUnsignedAccounts'] as const;
/** The first bit of a message tells it from a legacy one, which begins with its number of signatures. */
const VERSIONED = 0x80;
/** A packet has 1,232 bytes, so no instruction of a message has more. */
const DATA_MAX_CHARS = 1_700;
const KEY_MAX_CHARS = 88;

function pushLookups(out: number[], value: unknown): void {
  const lookups = list(value, 'lookups');
  pushLength(out, lookups.length);
  for (const entry of lookups) {
    const lookup = record(entry, 'lookup');
    pushBytes(out, bytesOf(lookup['accountKey']));
    pushIndexes(out, lookup['writableIndexes']);
    pushIndexes(out, lookup['readonlyIndexes']);
  }
}

function pushIndexes(out: number[], value: unknown): void {
  const indexes = list(value, 'indexes');
  pushLength(out, indexes.length);
  for (const index of indexes) out.push(byte(index));
}

function pushBytes(out: number[], bytes: Uint8Array): void {
  for (const one of bytes) out.push(one);
}

/** Seven bits a byte, the lowest first (Solana's compact-u16). */
function pushLength(out: number[], length: number): void {
  let left = length;
  while (left >= VERSIONED) {
    out.push((left & (VERSIONED - 1)) | VERSIONED);
    left >>= 7;
  }
  out.push(left);
}

function byte(value: unknown): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > 0xff)
    throw new ProviderContradiction('malformed', 'a number of a message is no byte');
  return value;
}

const BASE58 = /^[1-9A-HJ-NP-Za-km-z]*$/;

function bytesOf(text: unknown, maxChars = KEY_MAX_CHARS): Uint8Array {
  if (typeof text !== 'string' || text.length > maxChars || !BASE58.test(text))
    throw new ProviderContradiction('malformed', 'a text of a message is no base58');
  return base58.decode(text);
}
