import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

/**
 * A web host on loopback where the demo's agents keep their files: cards, feedback, domain proofs, an IPFS gateway, bazaars. Some
 * of its answers are as hostile as a stranger's can be; each of them ends when the client disconnects.
 */
export interface CardHost {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string;
  /** The same host by another name, which proves nothing about the first one. */
  readonly otherOrigin: string;
  /** Answers `path` (no query) from now on, instead of whatever it answered; returns its URL. */
  publish(path: string, answer: HostAnswer): string;
  /** Ends every connection; resolves once the port is free. Twice is fine. */
  stop(): Promise<void>;
}

/** `url` is the request's, with its query, on the origin that was asked. */
export type HostAnswer = (response: ServerResponse, url: URL) => void;

export async function startCardHost(): Promise<CardHost> {
  const answers = new Map<string, HostAnswer>();
  const server = createServer((request, response) => {
    const url = requestUrl(request);
    const answer = url === null ? undefined : answers.get(url.pathname);
    if (url === null || answer === undefined) status(404)(response);
    else answer(response, url);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo; // of a TCP server that listens
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    otherOrigin: `http://localhost:${port}`,
    publish(path, answer) {
      answers.set(path, answer);
      return `${origin}${path}`;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function requestUrl({ url = '/', headers }: IncomingMessage): URL | null {
  const base = `http://${headers.host ?? 'localhost'}`;
  return URL.canParse(url, base) ? new URL(url, base) : null;
}

export function json(value: unknown, type = 'application/json'): HostAnswer {
  return bytes(JSON.stringify(value), type);
}

export function bytes(body: string | Uint8Array, type = 'application/json'): HostAnswer {
  return (response) => {
    response.writeHead(200, { 'content-type': type });
    response.end(body);
  };
}

export function status(code: number): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(code, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: code }));
  };
}

export function redirect(to: string): HostAnswer {
  return (response) => {
    response.writeHead(302, { location: to });
    response.end();
  };
}

const CHUNK_BYTES = 64 * 1024;

/** A JSON string that never ends, as fast as it is read. */
export const endless: HostAnswer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"name":"');
  const chunk = Buffer.alloc(CHUNK_BYTES, 'a');
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
};

const TRICKLE_EVERY_MS = 500;

/** A space every half second until the client disconnects: it is never silent and never done. */
export const trickle: HostAnswer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), TRICKLE_EVERY_MS);
  response.once('close', () => clearInterval(timer));
};

const UNPACKED_BYTES = 16 * 1024 * 1024;

/** Some kilobytes that unpack to 16 MiB. */
export const bomb: HostAnswer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
  response.end(gzipSync(Buffer.alloc(UNPACKED_BYTES, ' ')));
};
