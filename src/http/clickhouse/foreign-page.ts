import type { FastifyRequest } from 'fastify';
import { sentText } from '../headers.ts';
import { exception } from './exceptions.ts';

/** What browsers say of a request that no page of another origin made: `none` is a visitor's own, such as a typed address. */
const OWN_SITES: ReadonlySet<string> = new Set(['', 'same-origin', 'none']);

/**
 * A browser adds a remembered Basic password to requests that pages of other sites make, by a picture, a form or a script, and they
 * would spend its units. A foreign page needs a key that it sends itself: in a header that no browser adds, or in the address. Programs
 * send no `Sec-Fetch-Site`. Source: Fetch Metadata Request Headers, W3C.
 */
export function refusedPage({ headers, query }: FastifyRequest): Error | undefined {
  if (OWN_SITES.has(sentText(headers['sec-fetch-site']).toLowerCase())) return undefined;
  const words = query as Record<string, unknown>; // texts, or lists of repeated ones
  const isSentByPage =
    [headers['x-clickhouse-key'], headers['x-api-key']].some((key) => sentText(key) !== '') ||
    /^bearer /i.test(sentText(headers.authorization)) ||
    (words['password'] !== undefined && words['password'] !== '');
  if (isSentByPage) return undefined;
  return exception(
    'ACCESS_DENIED',
    'A page of another site may use this interface only with a key in the header X-ClickHouse-Key.',
    'forbidden_origin',
  );
}
