import { FetchFailed } from './document.ts';

/** Percent-encoding of one byte. */
const PERCENT_CHARS = 3;
const HEADER_MAX_CHARS = 1_000;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

export interface DataDocument {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

/**
 * Decodes a `data:` URI (RFC 2397) tolerantly: accepts url-safe base64, white space and missing padding; a percent sign without two hex
 * digits is literal, and `#` is data (cards contain colours; a fragment has no meaning here). Throws `FetchFailed`.
 */
export function readDataUri(uri: string, maxBytes: number): DataDocument {
  if (uri.length > HEADER_MAX_CHARS + PERCENT_CHARS * maxBytes) throw new FetchFailed('too_large');
  const comma = uri.indexOf(',');
  if (comma < 0 || comma > HEADER_MAX_CHARS) throw new FetchFailed('malformed_uri');
  const [type = '', ...parameters] = uri.slice('data:'.length, comma).toLowerCase().split(';');
  const isBase64 = parameters.some((parameter) => parameter.trim() === 'base64');
  const data = percentDecode(uri.slice(comma + 1));
  const bytes = isBase64 ? base64Decode(data) : data;
  if (bytes.byteLength > maxBytes) throw new FetchFailed('too_large');
  return { bytes, mediaType: type.trim() === '' ? 'text/plain' : type.trim() };
}

function percentDecode(text: string): Buffer {
  const encoded = Buffer.from(text, 'utf8');
  const out = Buffer.allocUnsafe(encoded.length);
  let length = 0;
  for (let at = 0; at < encoded.length; at++) {
    const byte = encoded[at] === 0x25 /* % */ ? hexByte(encoded, at + 1) : null;
    out[length++] = byte ?? encoded[at] ?? 0;
    if (byte !== null) at += 2;
  }
  return out.subarray(0, length);
}

function hexByte(bytes: Buffer, at: number): number | null {
  const digits = bytes.toString('latin1', at, at + 2);
  return /^[0-9a-fA-F]{2}$/.test(digits) ? Number.parseInt(digits, 16) : null;
}

function base64Decode(data: Buffer): Buffer {
  const text = data
    .toString('latin1')
    .replace(/[\t\n\f\r ]+/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  if (!BASE64.test(text)) throw new FetchFailed('malformed_uri');
  return Buffer.from(text, 'base64');
}

/** An IPFS document as a gateway's path, each segment encoded: `bafy…/card.json`. */
export type IpfsPath = string & { readonly __brand: 'IpfsPath' };

/**
 * CIDv0 (base58 of a sha2-256 multihash) and CIDv1 in the bases that gateways take: base32, base36, base58. Source: multiformats
 * CID specification. Only the alphabet and the length are checked, so that it can be nothing but one path segment; whether it
 * names anything is for the gateway to find out.
 */
const CID =
  /^(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{20,120}|k[a-z0-9]{20,120}|z[1-9A-HJ-NP-Za-km-z]{20,120})$/;
const PATH_MAX_CHARS = 1_000;

/** Whether a URI refers to IPFS: `ipfs://cid/path`, `ipfs:cid`, `/ipfs/cid/path`. */
export function isIpfsUri(uri: string): boolean {
  return /^(?:ipfs:|\/ipfs\/)/i.test(uri);
}

/** Null without a content id, or for a path that a gateway could interpret differently. `ipfs://ipfs/cid` is a common mistake. */
export function readIpfsUri(uri: string): IpfsPath | null {
  const [cid = '', ...segments] = uri
    .replace(/^ipfs:/i, '')
    .replace(/^\/{0,2}(?:ipfs\/)?/, '')
    .split('/');
  if (!CID.test(cid) || segments.join('/').length > PATH_MAX_CHARS) return null;
  const encoded = segments.map(encodeSegment);
  if (encoded.includes(null)) return null;
  return [cid, ...encoded].join('/') as IpfsPath;
}

/** Null for a segment that would leave its directory or contains an encoded separator. */
function encodeSegment(segment: string): string | null {
  try {
    const plain = decodeURIComponent(segment);
    return plain === '.' || plain === '..' || /[/\\\0]/.test(plain) ? null : encodeURIComponent(plain);
  } catch {
    return null; // malformed encoding
  }
}

/** The URL with braces of route templates (`{agentId}`) as they were written: easier to read than escaped, and as safe. */
export function templateHref(url: URL): string {
  return url.href.replaceAll('%7B', '{').replaceAll('%7D', '}');
}
