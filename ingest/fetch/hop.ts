import { connect as connectTcp, isIP, isIPv6, type LookupFunction, type Socket } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { createGunzip, createInflate } from 'node:zlib';
import { type buildConnector, Client } from 'undici';
import { BodyTooLarge, boundedChunks, readBounded } from '../../core/bounded-body.ts';
import { FetchFailed } from './document.ts';

/** Servers send one or two kilobytes; undici refuses more than this, names and values of all lines together. */
const HEADERS_MAX_BYTES = 16_384;
const USER_AGENT = 'settlement-index (reads ERC-8004 files)';

/** One request to a permitted URL at permitted addresses. */
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
 * Sends one request on a connection of its own that closes after the answer, because remote hosts could exhaust a pool. Returns
 * redirects as answers. Throws `FetchFailed` or the network error.
 */
export async function requestHop(hop: Hop, isWanted: (mediaType: string) => boolean): Promise<HopAnswer> {
  const { url, addresses, isPermitted, signal, ca } = hop;
  const client = new Client(url.origin, {
    connect: connectTo({ addresses, isPermitted, signal, ...(ca === undefined ? {} : { ca }) }),
    maxHeaderSize: HEADERS_MAX_BYTES,
    // The signal carries the overall deadline, so undici's own timers are off.
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
    body.on('error', () => undefined); // an unread body still emits an error when its connection closes
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

/** Delay before the next address of a host is tried. Node's default of 250 ms is too short for distant hosts. */
const NEXT_ADDRESS_AFTER_MS = 2_000;

export interface ConnectOptions {
  /** IP addresses that were found permitted; connections go to one of them and nowhere else. */
  readonly addresses: readonly string[];
  /** True for the address that a connection has reached, or it is dropped before a byte is sent. */
  readonly isPermitted: (address: string) => boolean;
  readonly signal: AbortSignal;
  /** Certificate authorities in addition to the usual ones, for tests. */
  readonly ca?: string;
}

/**
 * A connector for one request. It resolves no names, so the address cannot change between its check and the connection. The signal
 * destroys the socket, even while connecting.
 */
export function connectTo({ addresses, isPermitted, signal, ca }: ConnectOptions): buildConnector.connector {
  return ({ hostname, protocol, port }, callback) => {
    const isTls = protocol === 'https:';
    const socket = connectTcp({
      host: hostname,
      port: Number(port || (isTls ? 443 : 80)),
      lookup: answerWith(addresses),
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    });
    destroyWith(signal, socket);
    // The first outcome counts. The error listener stays, because a later error without one would end the process.
    let isDone = false;
    const done = (error: Error | null, connected: Socket | null): void => {
      if (isDone) return;
      isDone = true;
      if (error === null && connected !== null) callback(null, connected);
      else callback(error ?? new FetchFailed('unreachable'), null);
    };
    const fail = (error: Error): void => done(error, null);
    socket.on('error', fail);
    socket.once('connect', () => {
      if (!isPermitted(socket.remoteAddress ?? '')) {
        socket.destroy(new FetchFailed('forbidden_address'));
        return;
      }
      socket.setNoDelay(true);
      if (!isTls) return done(null, socket);
      const secure = connectTls({
        socket,
        host: hostname,
        servername: isIP(hostname) === 0 ? hostname : '',
        ALPNProtocols: ['http/1.1'],
        ...(ca === undefined ? {} : { ca }),
      });
      secure.on('error', fail);
      secure.once('secureConnect', () => done(null, secure));
    });
    // A host may close the connection during the handshake without an error.
    socket.once('close', () => fail(new FetchFailed('unreachable')));
  };
}

function destroyWith(signal: AbortSignal, socket: Socket): void {
  const destroy = (): void => {
    socket.destroy(new FetchFailed('timeout'));
  };
  if (signal.aborted) destroy();
  signal.addEventListener('abort', destroy, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', destroy));
}

function answerWith(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_hostname, options, callback) => {
    const [first] = answers;
    if (options.all === true) callback(null, answers);
    else if (first) callback(null, first.address, first.family);
    else callback(new FetchFailed('name_not_found'), '', 0);
  };
}

/** Accepted encodings. No brotli: its decoder takes up to 16 MB before it yields the first byte. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate';

/**
 * Reads a body that may be compressed. `maxBytes` limits both the received bytes, because an endless stream may decompress to nothing,
 * and the decompressed bytes. Stops at the first byte above. Throws `FetchFailed`, or the stream's error.
 */
export async function readBody(body: Readable, contentEncoding: string, maxBytes: number): Promise<Buffer> {
  const encoding = contentEncoding.trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return read(body, maxBytes);
  // More than one layer of encoding is refused: no honest file needs it, and a decompression bomb does.
  const unpacker = unpackerOf(encoding);
  if (unpacker === null) throw new FetchFailed('broken_encoding');
  // No callback needed: the reading loop throws a failure of either end.
  const unpacked = pipeline(boundedChunks<Buffer>(body, maxBytes), unpacker, () => undefined);
  return read(unpacked, maxBytes);
}

async function read(chunks: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  try {
    return await readBounded(chunks, maxBytes);
  } catch (error) {
    if (error instanceof BodyTooLarge) throw new FetchFailed('too_large');
    throw isZlibError(error) ? new FetchFailed('broken_encoding', error) : error;
  }
}

function unpackerOf(encoding: string): (NodeJS.ReadWriteStream & Readable) | null {
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip();
  return encoding === 'deflate' ? createInflate() : null;
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^Z_/.test(String(error.code));
}
