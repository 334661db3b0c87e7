import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TrustedProxies } from '../../core/config/config.ts';
import type { SqlTierId } from '../../core/domain/plan.ts';
import { isWithin, parseAddress, parseNetwork } from '../../core/ip-address.ts';
import { weakTag } from '../../core/weak-tag.ts';
import type { RateDecision } from '../accounts/store.ts';
import { RATE_WINDOW_SECONDS } from '../gate/rate-limit.ts';

/** Headers of our answers that a browser script may read (CORS), the payment headers among them. */
const EXPOSED_HEADERS = [
  'X-Request-Id',
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'ETag',
  'Link',
  'Server-Timing',
  'Idempotent-Replayed',
  'WWW-Authenticate',
  'X-PAYMENT-RESPONSE',
  'PAYMENT-RESPONSE',
  'PAYMENT-REQUIRED',
] as const;

/** `Access-Control-Expose-Headers` of every answer. */
export const EXPOSED = EXPOSED_HEADERS.join(', ');

/** The same for a route whose answers have headers of their own. */
export function exposedWith(own: readonly string[]): string {
  return [EXPOSED, ...own].join(', ');
}

/**
 * Content-Security-Policy of our pages: only our own files and nothing inline, so that shown text cannot become a script and no other
 * site is contacted; `data:` is for pictures that a page draws itself. Frames are refused, so that no other site can make a visitor
 * click in a page; `ancestors` opens the one page that is made for frames.
 */
export function pagePolicy(formAction: "'self'" | "'none'", ancestors: "'none'" | '*' = "'none'"): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    `form-action ${formAction}`,
    `frame-ancestors ${ancestors}`,
  ].join('; ');
}

/** An answer depends on who asks and on what was paid: a shared cache must keep callers apart. */
export const VARY = 'Authorization, X-API-Key, X-PAYMENT, PAYMENT-SIGNATURE';

/** `rawHeaders` as Node gives them: names and values in turn. */
export function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === HOST.length && name.toLowerCase() === HOST) hosts += 1;
  }
  return hosts > 1;
}

const HOST = 'host';
const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The caller's request id when it is harmless to echo and log. */
export function acceptedRequestId(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : undefined;
}

/**
 * Sets the headers of one request's windows as they become known: structured fields of draft-ietf-httpapi-ratelimit-headers,
 * one entry for each window, and the older names, which have room for the caller's own window only.
 */
export class RateHeaders {
  private readonly reply: FastifyReply;
  private policies = '';
  private windows = '';

  constructor(reply: FastifyReply) {
    this.reply = reply;
  }

  /** `tier` is null for the caller's own window. */
  add({ limit, remaining, resetSeconds }: RateDecision, tier: SqlTierId | null): void {
    const { reply } = this;
    const name = tier === null ? 'default' : `sql-${tier}`;
    const comma = this.policies === '' ? '' : ', ';
    this.policies += `${comma}"${name}";q=${limit};w=${RATE_WINDOW_SECONDS}`;
    this.windows += `${comma}"${name}";r=${remaining};t=${resetSeconds}`;
    reply.header('ratelimit-policy', this.policies).header('ratelimit', this.windows);
    if (tier !== null) return;
    reply
      .header('x-ratelimit-limit', String(limit))
      .header('x-ratelimit-remaining', String(remaining))
      .header('x-ratelimit-reset', String(resetSeconds));
  }
}

/** The value of a header, without white space around it; '' without one. A repeated header is one list. Source: RFC 9110 5.3. */
export function sentText(header: string | string[] | undefined): string {
  if (header === undefined) return '';
  return (typeof header === 'string' ? header : header.join(', ')).trim();
}

export interface NextPage {
  readonly name: 'before' | 'offset';
  readonly value: string;
}

/** The address of the next page: this request from another place on. */
export function nextPageLink(base: string, url: string, next: NextPage): string {
  const [path = '', query = ''] = url.split('?', 2);
  const params = new URLSearchParams(query);
  params.set(next.name, next.value);
  return `<${base}${path}?${params.toString()}>; rel="next"`;
}

/**
 * The weak tag of an answer, over its content without its time: `as_of`, `freshness`, `snapshot` and `prev_after` change with every block or second, the rows do
 * not; an older `prev_after` only gives more once more. Weak,
 * because two answers with the same tag differ in those bytes. Source: RFC 9110 8.8.
 */
export function weakEtag(body: Readonly<Record<string, unknown>>): string {
  return weakTag(JSON.stringify(stablePart(body)));
}

function stablePart(body: Readonly<Record<string, unknown>>): unknown {
  const { as_of: _asOf, prev_after: _prevAfter, meta, ...rest } = body;
  if (typeof meta !== 'object' || meta === null) return rest;
  const {
    as_of: _metaAsOf,
    freshness: _freshness,
    snapshot: _snapshot,
    ...stableMeta
  } = meta as Record<string, unknown>; // an object, just checked
  return { ...rest, meta: stableMeta };
}

/** Whether `If-None-Match` names the tag: `*`, or a list of tags compared weakly. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => opaque(tag) === opaque(etag));
}

/** Whether the caller takes gzip: it names it, and does not weigh it 0. Source: RFC 9110 12.5.3. */
export function takesGzip(headers: {
  readonly 'accept-encoding'?: string | string[] | undefined;
  readonly 'x-no-compression'?: string | string[] | undefined;
}): boolean {
  if (headers['x-no-compression'] !== undefined) return false;
  return sentText(headers['accept-encoding'])
    .split(',')
    .map(readRange)
    .some(({ type, quality }) => type === 'gzip' && quality > 0);
}

/** Whether an Accept header names HTML and ranks it no lower than JSON, as browsers do and clients that accept anything do not. Source: RFC 9110 12.5.1. */
export function prefersHtml(accept: string | undefined): boolean {
  const ranges = (accept ?? '').split(',').map(readRange);
  const html = qualityOf(ranges, ['text/html', 'application/xhtml+xml']);
  return html > 0 && html >= qualityOf(ranges, ['application/json', 'application/*']);
}

interface Range {
  readonly type: string;
  readonly quality: number;
}

function readRange(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const stated = parameters.find((part) => part.startsWith('q='))?.slice('q='.length);
  const quality = stated === undefined ? 1 : Number(stated);
  return { type, quality: Number.isFinite(quality) ? quality : 0 };
}

function qualityOf(ranges: readonly Range[], types: readonly string[]): number {
  return Math.max(0, ...ranges.filter(({ type }) => types.includes(type)).map(({ quality }) => quality));
}

/** The network address that a request counts for. */

/** Whether the address that is `hop` steps from this process is one of our proxies; Fastify calls it for X-Forwarded-*. */
export type TrustsProxy = (address: string | undefined, hop: number) => boolean;

export function proxyTrust(proxies: TrustedProxies): false | TrustsProxy {
  if (proxies === false) return false;
  if (typeof proxies === 'number') return (_address, hop) => hop < proxies;
  // Checked when the configuration was read.
  const networks = proxies.flatMap((text) => parseNetwork(text) ?? []);
  return (text) => {
    const address = text === undefined ? null : parseAddress(text);
    return address !== null && networks.some((network) => isWithin(address, network));
  };
}

/**
 * The farthest address that the proxies in front name: from the connection on, as far as each next entry of X-Forwarded-For was
 * written by a proxy of ours. An entry that is no address is discarded, with everything before it in the header: no proxy of ours
 * vouches for that.
 */
export function callerAddress({ ip, ips }: Pick<FastifyRequest, 'ip' | 'ips'>): string {
  const [connected = ip, ...forwarded] = ips ?? [];
  let address = connected;
  for (const entry of forwarded) {
    const text = withoutPort(entry);
    if (parseAddress(text) === null) break;
    address = text;
  }
  return address;
}

/** Some proxies write `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const [, v6, v4] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(entry) ?? [];
  return v6 ?? v4 ?? entry;
}
