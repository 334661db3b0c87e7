import { createHash } from 'node:crypto';

/** Of SHA-256 in base64url: 162 bits, too many for two texts to share by accident. */
const DIGEST_CHARS = 27;

/** The weak entity tag (RFC 9110 8.8.3) of a text. Weak because the same text leaves in several encodings. */
export function weakTag(text: string): string {
  return `W/"${createHash('sha256').update(text).digest('base64url').slice(0, DIGEST_CHARS)}"`;
}
