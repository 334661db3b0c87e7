import { createHash } from 'node:crypto';

/** CIDv1 in base32 of raw bytes by their sha2-256 (multiformats): what `ipfs add --cid-version=1 --raw-leaves` names a small file. */
export function cidOf(bytes: string | Uint8Array): string {
  const digest = createHash('sha256').update(bytes).digest();
  return `b${base32(Buffer.concat([Buffer.from([0x01, 0x55, 0x12, digest.length]), digest]))}`;
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const BITS_PER_CHAR = 5;

/** RFC 4648 base32, lower case, without padding. */
function base32(bytes: Uint8Array): string {
  let text = '';
  let value = 0;
  let bits = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    for (bits += 8; bits >= BITS_PER_CHAR; bits -= BITS_PER_CHAR)
      text += ALPHABET[(value >> (bits - BITS_PER_CHAR)) & 31];
    value &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + (ALPHABET[(value << (BITS_PER_CHAR - bits)) & 31] ?? '');
}
