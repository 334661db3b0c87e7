import { isAddress, readAddress } from '../../core/domain/account.ts';
import { withoutChain } from '../../core/domain/chains.ts';
import { displayText } from '../../core/domain/display-text.ts';
import { fieldOf, isObject } from '../fetch/document.ts';
import { isIpfsUri, readIpfsUri, templateHref } from '../fetch/uri.ts';

/** Why a file is not the expected JSON; codes that may be stored and shown. */
export const JSON_PROBLEMS = {
  not_utf8: 'The file is not UTF-8.',
  too_deep: 'The JSON is nested deeper than is read.',
  too_many_values: 'The JSON has more values than are read.',
  not_json: 'The file is not JSON.',
  not_an_object: 'The JSON is not an object.',
} as const;

export type JsonProblem = keyof typeof JSON_PROBLEMS;

/** Real files are four deep and have a hundred values. */
const DEPTH_MAX = 32;
const VALUES_MAX = 20_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Reads a JSON object from untrusted bytes. Counts depth and number of values on the bytes, without recursion, before parsing. Skips
 * a byte order mark; the last of repeated keys wins, as always in JavaScript; `__proto__` is an ordinary key, so read fields with
 * `fieldOf`.
 */
export function parseBounded(bytes: Uint8Array): Record<string, unknown> | JsonProblem {
  const problem = measure(bytes);
  if (problem !== null) return problem;
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return isObject(value) ? value : 'not_an_object';
  } catch (error) {
    return error instanceof SyntaxError ? 'not_json' : 'not_utf8'; // the decoder throws a TypeError
  }
}

/** Brackets and commas outside of strings bound what the parser would build. */
function measure(bytes: Uint8Array): 'too_deep' | 'too_many_values' | null {
  let depth = 0;
  let values = 0;
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    at = byte === QUOTE ? endOfString(bytes, at + 1) : at + 1;
    const step = STEPS[byte] ?? 0;
    depth += step;
    values += step > 0 || byte === COMMA ? 1 : 0;
    if (depth > DEPTH_MAX) return 'too_deep';
    if (values > VALUES_MAX) return 'too_many_values';
  }
  return null;
}

/** The offset after a string. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start; at < bytes.length; at++) {
    if (bytes[at] === QUOTE) return at + 1;
    if (bytes[at] === BACKSLASH) at++;
  }
  return bytes.length;
}

const COMMA = 0x2c;
/** Change of depth by byte. */
const STEPS = Int8Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte);
  return '[{'.includes(char) ? 1 : -Number(']}'.includes(char));
});

/** Readers for single values of untrusted files. An invalid value becomes empty; none throws. */

const URL_MAX_CHARS = 500;
const DATA_IMAGE_MAX_CHARS = 4_096;
/** No SVG: outside an `img` it is a document with scripts. */
const DATA_IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;
const WEB_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'ws:', 'wss:']);
/** Schemes that a page with links to endpoints would execute or open in its own context. */
const ACTIVE_SCHEME = /^(?:javascript|vbscript|data|blob|file|filesystem|about|view-source)\s*:/i;
const UINT256_MAX = 2n ** 256n - 1n;
const DECIMAL = /^\d{1,78}$/;

/** A name or a description; a number becomes its digits, anything else is empty. */
export function readText(value: unknown, maxChars: number): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? displayText(value, maxChars) : '';
}

/** true, 1, "true", "yes" and `{ "enabled": true }` are yes. */
export function readFlag(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  if (typeof value === 'string') return FLAG_WORDS[value.trim().toLowerCase()];
  return isObject(value) ? readFlag(fieldOf(value, 'enabled', 'supported')) : undefined;
}

const FLAG_WORDS: Readonly<Record<string, boolean | undefined>> = Object.assign(Object.create(null), {
  true: true,
  yes: true,
  '1': true,
  false: false,
  no: false,
  '0': false,
});

/**
 * A list of words, distinct, in their order: a list of texts or of objects with a name or an id, an object whose keys are the
 * words, or one text with commas.
 */
export function readWords(
  value: unknown,
  { itemsMax, maxChars }: { readonly itemsMax: number; readonly maxChars: number },
): readonly string[] {
  const words = new Set<string>();
  for (const item of itemsOf(value)) {
    const word = readText(isObject(item) ? fieldOf(item, 'name', 'id') : item, maxChars);
    if (word !== '') words.add(word);
    if (words.size >= itemsMax) break;
  }
  return [...words];
}

function itemsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return value.split(',', SPLIT_MAX);
  return isObject(value) ? Object.keys(value) : [];
}

const SPLIT_MAX = 1_000;

/**
 * The location of a service: a URL in its canonical ASCII form, or a name, address or e-mail as text. If too long it is dropped
 * instead of cut, because a truncated address is a different one.
 */
export function readEndpoint(value: unknown): string {
  if (typeof value !== 'string' || value.length > URL_MAX_CHARS) return '';
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url !== null && WEB_SCHEMES.has(url.protocol)) {
    const href = templateHref(url);
    return href.length > URL_MAX_CHARS ? '' : href;
  }
  const text = displayText(value, URL_MAX_CHARS);
  // Also as a browser reads it, which ignores line breaks and tabs within the scheme.
  return ACTIVE_SCHEME.test(url?.href ?? '') || ACTIVE_SCHEME.test(text) ? '' : text;
}

/** An image that a page may show: https, ipfs, or a small raster image as data. */
export function readImage(value: unknown): string {
  if (typeof value !== 'string') return '';
  const text = value.trim();
  if (DATA_IMAGE.test(text.slice(0, DATA_IMAGE_MAX_CHARS + 1)))
    return text.length > DATA_IMAGE_MAX_CHARS ? '' : text;
  if (text.length > URL_MAX_CHARS) return '';
  if (isIpfsUri(text)) {
    const path = readIpfsUri(text);
    return path === null ? '' : `ipfs://${path}`;
  }
  const url = URL.canParse(text) ? new URL(text) : null;
  return url?.protocol === 'https:' && url.username === '' && url.href.length <= URL_MAX_CHARS
    ? url.href
    : '';
}

/** A token id: decimal digits, or a number that JSON has not rounded. Null for everything else. */
export function readAgentId(value: unknown): bigint | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : null;
  if (typeof value !== 'string' || !DECIMAL.test(value.trim())) return null;
  const id = BigInt(value.trim());
  return id <= UINT256_MAX ? id : null;
}

/** A registry, `eip155:8453:0x8004…`, lower case; '' if it has another form. */
export function readRegistry(value: unknown): string {
  const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
  const account = withoutChain(text);
  return account !== text && isAddress(readAddress(account, 'eip155')) ? text : '';
}
