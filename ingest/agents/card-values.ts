import { displayText } from '../../core/domain/display-text.ts';
import { isIpfsUri, readIpfsUri } from '../fetch/ipfs-uri.ts';
import { fieldOf, isObject } from './bounded-json.ts';

/** How single values of strangers' files are read: what cannot be meant becomes empty, nothing throws. */

const URL_MAX_CHARS = 500;
const DATA_IMAGE_MAX_CHARS = 4_096;
/** No SVG: it is a document with scripts wherever it is not inside an `img`. */
const DATA_IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;
const WEB_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'ws:', 'wss:']);
/** Addresses that a page which makes links of endpoints would run or open inside itself. */
const ACTIVE_SCHEME = /^(?:javascript|vbscript|data|blob|file|filesystem|about|view-source)\s*:/i;
const UINT256_MAX = 2n ** 256n - 1n;
const DECIMAL = /^\d{1,78}$/;

/** A name or a description; numbers are taken for their digits, everything else for nothing. */
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
 * Where a service is: a URL in its canonical ASCII spelling, or a name, an address, an e-mail as text. Too long a one is left
 * out instead of cut: half an address is another one.
 */
export function readEndpoint(value: unknown): string {
  if (typeof value !== 'string' || value.length > URL_MAX_CHARS) return '';
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url !== null && WEB_SCHEMES.has(url.protocol)) return url.href.length > URL_MAX_CHARS ? '' : url.href;
  const text = displayText(value, URL_MAX_CHARS);
  // As a browser reads it too, which drops line breaks and tabs from inside the scheme.
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

/** A registry, `eip155:8453:0x8004…`, lower case; '' when it is no such text. */
export function readRegistry(value: unknown): string {
  const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return REGISTRY.test(text) ? text : '';
}

const REGISTRY = /^eip155:\d{1,20}:0x[0-9a-f]{40}$/;
