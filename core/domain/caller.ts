import { hash, randomBytes } from 'node:crypto';

/** How a call on a priced route is paid for. */
export const LANES = ['credit', 'x402', 'invalid_key', 'no_account', 'upgrade_required'] as const;
export type Lane = (typeof LANES)[number];

/** The interface that a call came through. Only HTTP accepts x402 payments. */
export type Surface = 'http' | 'mcp' | 'clickhouse';

/** Which credential was accepted; with an organization behind a key, the tier of the answer is its plan. */
export type Standing = 'anonymous' | 'trial' | 'oauth' | 'organization';

/**
 * Identities for fair queueing and penalties: an organization by its id, every other caller by address, because keys and wallets
 * without an organization can be created at will.
 */

const ORGANIZATION = 'org:';
const ADDRESS = 'ip:';

export function organizationName(id: string): string {
  return `${ORGANIZATION}${id}`;
}

/** `address` as quotas count it: an IPv4 address, or the /64 of an IPv6 one. */
export function addressName(address: string): string {
  return `${ADDRESS}${address}`;
}

export function isOrganizationName(name: string): boolean {
  return name.startsWith(ORGANIZATION);
}

/** The same for every address that one customer of a provider can easily get: an IPv4 /24, an IPv6 /48. */
export function rangeName(name: string): string {
  if (!name.startsWith(ADDRESS)) return name;
  const address = name.slice(ADDRESS.length);
  const octets = /^(\d+\.\d+\.\d+)\.\d+$/.exec(address)?.[1];
  if (octets !== undefined) return `${ADDRESS}${octets}.0/24`;
  if (!address.includes(':')) return name;
  return `${ADDRESS}${address
    .replace(/::\/64$/, '')
    .split(':')
    .slice(0, 3)
    .join(':')}::/48`;
}

/**
 * API keys: `six_live_` or `six_trial_` and 43 base62 characters (256 bits). Only the SHA-256 digest is stored; at that entropy a
 * fast hash is enough, because keys cannot be guessed. See docs/design/gate.md.
 */
export type ApiKeyKind = 'live' | 'trial';

/** A key in the clear: shown once, never stored, never logged. */
export type ApiKey = string & { readonly __brand: 'ApiKey' };
/** SHA-256 of a key, 64 hex digits: the only form that is stored and compared. */
export type KeyDigest = string & { readonly __brand: 'KeyDigest' };

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BODY_CHARS = 43;
const SHAPE = /^six_(live|trial)_[0-9A-Za-z]{43}$/;
export const KEY_BYTES = 32;

/** A new random key. */
export function mintApiKey(kind: ApiKeyKind): ApiKey {
  return apiKeyFromBytes(kind, randomBytes(KEY_BYTES));
}

/** Encodes 32 bytes as a key, in base 62. 62^43 > 2^256, so different bytes give different keys. */
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

/** The key that the console lends to its visitors (`console.visitorKey`), as it is compared; null where it lends none. */
export function lentKeyDigest(visitorKey: string | null | undefined): KeyDigest | null {
  return visitorKey == null ? null : keyDigest(visitorKey as ApiKey); // of its form, by the configuration
}
