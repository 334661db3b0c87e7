import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

/** The Ed25519 keys that sign manifests, and their public halves as JSON Web Keys (RFC 8037). */

export const PublicKeyShape = Type.Object(
  {
    kty: Type.Literal('OKP'),
    crv: Type.Literal('Ed25519'),
    x: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'The public key, base64url.' }),
    kid: Type.String({ description: 'RFC 7638 thumbprint; `signature.key` of a manifest names it.' }),
    use: Type.Literal('sig'),
    alg: Type.Literal('EdDSA'),
  },
  { title: 'BundleKey' },
);
export type PublicKey = Static<typeof PublicKeyShape>;

export const KeySetShape = Type.Object({ keys: Type.Array(PublicKeyShape) }, { title: 'BundleKeySet' });

/** Where a deployment publishes them. */
export const BUNDLE_KEYS_PATH = '/.well-known/bundle-keys.json';

export interface SigningKey {
  readonly publicKey: PublicKey;
  /** Base64url. Ed25519 signs the same text alike every time. */
  sign(text: string): string;
}

/** What PKCS #8 puts before the 32 bytes of an Ed25519 seed (RFC 8410 7). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

export function signingKey(seed: Uint8Array): SigningKey {
  const key = privateKeyOf(seed);
  return {
    publicKey: publicKeyOf(seed),
    sign: (text) => sign(null, Buffer.from(text, 'utf8'), key).toString('base64url'),
  };
}

export function publicKeyOf(seed: Uint8Array): PublicKey {
  const { x } = createPublicKey(privateKeyOf(seed)).export({ format: 'jwk' });
  if (x === undefined) throw new Error('an Ed25519 key without a public half');
  return publicKeyFrom(x);
}

/** `x` is the public key as base64url. */
export function publicKeyFrom(x: string): PublicKey {
  return { kty: 'OKP', crv: 'Ed25519', x, kid: thumbprint(x), use: 'sig', alg: 'EdDSA' };
}

function privateKeyOf(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
}

function thumbprint(x: string): string {
  return createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url');
}

export function isSignedBy(x: string, text: string, signature: string): boolean {
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, Buffer.from(text, 'utf8'), key, Buffer.from(signature, 'base64url'));
  } catch {
    return false; // no point of the curve, or no signature
  }
}

/** Null for a text that is no key set. A key under a wrong name is left out. */
export function readKeySet(value: unknown): readonly PublicKey[] | null {
  if (!Value.Check(KeySetShape, value)) return null;
  return value.keys.filter(({ x, kid }) => publicKeyFrom(x).kid === kid);
}
