import type { FastifyReply } from 'fastify';
import type { SqlTierId } from '../../core/domain/plan.ts';
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

/** Headers that a browser script may send. */
export const ACCEPTED_HEADERS = [
  'Authorization',
  'X-API-Key',
  'X-PAYMENT',
  'PAYMENT-SIGNATURE',
  'Content-Type',
  'Accept',
  'Idempotency-Key',
  'If-None-Match',
  'X-Request-Id',
  // Of MCP over HTTP. A session is never opened here; clients that had one elsewhere may still name it.
  'MCP-Protocol-Version',
  'Mcp-Method',
  'Mcp-Name',
  'Mcp-Session-Id',
  'Last-Event-ID',
] as const;

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

/** What was sent under a name, without white space around it; '' for nothing. A repeated header is one list. Source: RFC 9110 5.3. */
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
