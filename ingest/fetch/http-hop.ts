import { Client } from 'undici';
import { connectTo } from './connect-to.ts';
import { ACCEPTED_ENCODINGS, readBody } from './unpack-body.ts';

/** Servers send one or two kilobytes; undici refuses more than this, names and values of all lines together. */
const HEADERS_MAX_BYTES = 16_384;
const USER_AGENT = 'settlement-index (reads ERC-8004 files)';

/** One request to one URL, which is permitted, at addresses that are. */
export interface Hop {
  readonly url: URL;
  readonly addresses: readonly string[];
  readonly isPermitted: (address: string) => boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly ca?: string;
}

/** `body` is read for status 200 of a type that `isWanted`, and null otherwise. */
export interface HopAnswer {
  readonly status: number;
  readonly location: string | null;
  readonly mediaType: string;
  readonly body: Buffer | null;
}

/**
 * Asks once, on a connection of its own that ends with the answer: a pool would be a stranger's to fill. Redirects are answers
 * here. Throws `FetchFailed` or the network's error.
 */
export async function requestHop(hop: Hop, isWanted: (mediaType: string) => boolean): Promise<HopAnswer> {
  const { url, addresses, isPermitted, signal, ca } = hop;
  const client = new Client(url.origin, {
    connect: connectTo({ addresses, isPermitted, signal, ...(ca === undefined ? {} : { ca }) }),
    maxHeaderSize: HEADERS_MAX_BYTES,
    // The deadline of the whole is the signal's; undici's own timers would only be second to it.
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 1,
  });
  try {
    const { statusCode, headers, body } = await client.request({
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      headers: {
        accept: 'application/json, text/plain;q=0.9, */*;q=0.1',
        'accept-encoding': ACCEPTED_ENCODINGS,
        'user-agent': USER_AGENT,
        ...hop.headers,
      },
      signal,
      reset: true,
    });
    body.on('error', () => undefined); // a body that is left unread still fails when its connection ends
    const mediaType = essenceOf(first(headers['content-type']));
    const isRead = statusCode === 200 && isWanted(mediaType);
    return {
      status: statusCode,
      location: first(headers['location']) || null,
      mediaType,
      body: isRead ? await readBody(body, first(headers['content-encoding']), hop.maxBytes) : null,
    };
  } finally {
    await client.destroy();
  }
}

function first(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? '';
}

/** The media type without parameters, lower case; '' when none was sent. */
function essenceOf(contentType: string): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase();
}
