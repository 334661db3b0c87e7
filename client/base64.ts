import { parseJson } from './errors.ts';

/** Base64 of JSON, as x402 writes its headers: the same in Node and in browsers, which know base64 of bytes only. */

export function encodeBase64Json(value: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

/** Undefined for what is neither base64 nor JSON. */
export function decodeBase64Json(text: string): unknown {
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    return undefined;
  }
  return parseJson(new TextDecoder().decode(Uint8Array.from(binary, (char) => char.charCodeAt(0))));
}
