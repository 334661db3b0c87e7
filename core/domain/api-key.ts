import { hash, randomBytes } from 'node:crypto';

/**
 * API keys: `six_live_` or `six_trial_` and 43 base62 characters (256 bits). Only the SHA-256 digest is ever stored; with that
 * much entropy a fast hash is enough, because there is nothing to guess from. See docs/design/gate.md.
 */
export type ApiKeyKind = 'live' | 'trial';

/** A key in the clear: shown once, never stored, never logged. */
export type ApiKey = string & { readonly __brand: 'ApiKey' };
/** SHA-256 of a key, 64 hex digits: what stores and comparisons see. */
export type KeyDigest = string & { readonly __brand: 'KeyDigest' };

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BODY_CHARS = 43;
const SHAPE = /^six_(live|trial)_[0-9A-Za-z]{43}$/;
export const KEY_BYTES = 32;

/** A new random key. */
export function mintApiKey(kind: ApiKeyKind): ApiKey {
  return apiKeyFromBytes(kind, randomBytes(KEY_BYTES));
}

/** The key that 32 bytes spell: their number in base 62. 62^43 > 2^256, so no two spellings are the same. */
export function apiKeyFromBytes(kind: ApiKeyKind, bytes: Uint8Array): ApiKey {
  if (bytes.length !== KEY_BYTES) throw new Error(`a key is made of ${KEY_BYTES} bytes`);
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let body = '';
  for (let i = 0; i < BODY_CHARS; i++) {
    body = ALPHABET.charAt(Number(rest % 62n)) + body;
    rest /= 62n;
  }
  return `six_${kind}_${body}` as ApiKey;
}

export function isApiKey(text: string): text is ApiKey {
  return SHAPE.test(text);
}

export function keyDigest(key: ApiKey): KeyDigest {
  return hash('sha256', key, 'hex') as KeyDigest;
}
