import { displayText } from '../../core/domain/display-text.ts';
import type { EndpointOffer } from '../../core/domain/endpoint-offer.ts';
import { fieldAt, fieldOf, firstText, listOf } from '../fetch/json-fields.ts';
import type { DollarTokens } from './dollar-tokens.ts';
import { type ReadAccept, readAccept, readMethod } from './read-accept.ts';

/**
 * Reads one item of a listing, of version 1 or 2, Coinbase's extras or not. It is a stranger's: whatever cannot be used is
 * passed over, whatever is long is cut, and every text that is kept is safe to show. Source: protocol.md 1.10.
 */

export interface ItemFacts {
  readonly tokens: DollarTokens;
  readonly nowSeconds: number;
  /** Only resources of this origin count: nobody publishes prices for somebody else. Undefined: any. */
  readonly origin?: string;
}

const RESOURCE_MAX_CHARS = 2_000;
const ACCEPTS_MAX = 16;
const SERVICE_NAME_MAX_CHARS = 80;
const DESCRIPTION_MAX_CHARS = 1_000;
const TAGS_MAX = 16;
const TAG_MAX_CHARS = 40;
const MIME_TYPE = /^[a-z0-9.+-]{1,60}\/[a-z0-9.+-]{1,60}$/;
/** 2001: a number below is not the time that it says, one above in milliseconds. */
const TIME_MIN_SECONDS = 1_000_000_000;
const MILLISECONDS_FROM = 100_000_000_000;
/** A clock may be wrong, a listing from next year is. */
const TIME_AHEAD_MAX_SECONDS = 86_400;

/** The offers of an item; none for one that is not a resource on HTTP with at least one entry that can be paid. */
export function readItem(item: unknown, facts: ItemFacts): EndpointOffer[] {
  const resource = readResource(item, facts.origin);
  if (resource === null) return [];
  const places = [
    item,
    fieldOf(item, 'metadata'),
    fieldOf(item, 'resource'),
    ...listOf(fieldOf(item, 'accepts')).slice(0, 1),
  ];
  const said = {
    resource,
    serviceName: displayText(textAt(places, 'serviceName', 'service_name', 'name'), SERVICE_NAME_MAX_CHARS),
    description: displayText(textAt(places, 'description'), DESCRIPTION_MAX_CHARS),
    mimeType: readMimeType(textAt(places, 'mimeType', 'mime_type')),
    tags: readTags(places),
    lastUpdated: readTime(fieldOf(item, 'lastUpdated') ?? fieldOf(item, 'last_updated'), facts.nowSeconds),
  };
  const fallback = methodOf(item);
  return acceptsOf(item, facts).map(({ method, ...accept }) => ({
    ...said,
    ...accept,
    method: method ?? fallback,
  }));
}

function acceptsOf(item: unknown, { tokens }: ItemFacts): ReadAccept[] {
  const declared = [item, fieldOf(item, 'metadata')];
  return listOf(fieldOf(item, 'accepts'))
    .slice(0, ACCEPTS_MAX)
    .flatMap((entry) => readAccept(entry, declared, tokens) ?? []);
}

/** The URL, spelled as a browser would: safe to show, because whatever is not plain ASCII is escaped or Punycode by then. */
function readResource(item: unknown, origin: string | undefined): string | null {
  const type = fieldOf(item, 'type');
  if (type !== undefined && type !== 'http') return null;
  const text = firstText(
    fieldOf(item, 'resource'),
    fieldAt(item, 'resource', 'url'),
    fieldOf(item, 'url'),
    fieldOf(listOf(fieldOf(item, 'accepts'))[0], 'resource'),
  );
  if (text === '' || text.length > RESOURCE_MAX_CHARS || !URL.canParse(text, origin)) return null;
  const url = new URL(text, origin);
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return null;
  if (origin !== undefined && url.origin !== origin) return null;
  url.hash = '';
  // Braces of route templates are easier to read as they were written, and as safe.
  const href = url.href.replaceAll('%7B', '{').replaceAll('%7D', '}');
  return href.length <= RESOURCE_MAX_CHARS ? href : null;
}

function methodOf(item: unknown): EndpointOffer['method'] {
  const places = [
    ['extensions', 'bazaar', 'info', 'input', 'method'],
    ['outputSchema', 'input', 'method'],
    ['metadata', 'input', 'method'],
    ['metadata', 'method'],
    ['method'],
  ];
  for (const path of places) {
    const method = readMethod(fieldAt(item, ...path));
    if (method !== null) return method;
  }
  return 'GET';
}

function textAt(places: readonly unknown[], ...names: readonly string[]): string {
  return firstText(...places.flatMap((place) => names.map((name) => fieldOf(place, name))));
}

function readTags(places: readonly unknown[]): string[] {
  const listed = places.map((place) => listOf(fieldOf(place, 'tags'))).find((tags) => tags.length > 0) ?? [];
  const tags = listed
    .slice(0, TAGS_MAX)
    .map((tag) => (typeof tag === 'string' ? displayText(tag, TAG_MAX_CHARS) : ''));
  return [...new Set(tags)].filter((tag) => tag !== '').sort();
}

function readMimeType(text: string): string {
  const type = text.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return MIME_TYPE.test(type) ? type : '';
}

/** Unix seconds (version 1), milliseconds, or ISO 8601 (version 2); 0 for anything else. */
function readTime(value: unknown, nowSeconds: number): number {
  const read = typeof value === 'string' ? Date.parse(value.slice(0, 40)) / 1_000 : value;
  if (typeof read !== 'number' || !Number.isFinite(read)) return 0;
  const seconds = Math.floor(read >= MILLISECONDS_FROM ? read / 1_000 : read);
  return seconds >= TIME_MIN_SECONDS && seconds <= nowSeconds + TIME_AHEAD_MAX_SECONDS ? seconds : 0;
}
