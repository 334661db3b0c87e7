import { createHash } from 'node:crypto';

/** Characters of the base64url SHA-256: 162 bits, so collisions are negligible. */
const DIGEST_CHARS = 27;

/** The weak entity tag (RFC 9110 8.8.3) of a text. Weak because the same text is sent in several encodings. */
export function weakTag(text: string | Buffer): string {
  return `W/"${createHash('sha256').update(text).digest('base64url').slice(0, DIGEST_CHARS)}"`;
}
