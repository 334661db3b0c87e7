import { FetchFailed } from './fetch-failed.ts';

/** What a percent sign makes of one byte. */
const PERCENT_CHARS = 3;
const HEADER_MAX_CHARS = 1_000;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

export interface DataDocument {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

/**
 * Decodes a `data:` URI (RFC 2397), tolerantly: url-safe base64, white space and a missing padding pass, a percent sign without
 * two hex digits stands for itself, and a `#` is data (cards hold colours; nobody means a fragment). Throws `FetchFailed`.
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
