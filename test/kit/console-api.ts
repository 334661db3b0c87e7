import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { vi } from 'vitest';

/** An answer of the API; without `type`, JSON. */
export interface Scripted {
  readonly status?: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly type?: string;
  /** The connection ends without an answer. */
  readonly isDropped?: boolean;
}

export interface AskedRequest {
  readonly method: string;
  /** Path and query below /v0. */
  readonly path: string;
  readonly key: string | null;
}

export interface ConsoleApi {
  /** All requests in their order, but those for the account, which the console reads after each change of the key. */
  readonly asked: readonly AskedRequest[];
  close(): Promise<void>;
}

/** A server that answers as `answer` says, and `fetch` as the page of that server has it: addresses without a host are its own. */
export async function startConsoleApi(answer: (request: AskedRequest) => Scripted): Promise<ConsoleApi> {
  const asked: AskedRequest[] = [];
  const server = createServer((request, response) => {
    const one = requestOf(request);
    if (one.path !== '/account') asked.push(one);
    const { status = 200, body, headers = {}, type = 'application/json', isDropped = false } = answer(one);
    if (isDropped) {
      request.socket.destroy();
      return;
    }
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // of a server that listens on a port
  const ofNode = globalThis.fetch;
  vi.stubGlobal('fetch', (path: string, init?: RequestInit) =>
    ofNode(new URL(path, `http://127.0.0.1:${port}`), init),
  );
  return {
    asked,
    close: async () => {
      vi.unstubAllGlobals();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function requestOf({ method = '', url = '', headers }: IncomingMessage): AskedRequest {
  const key = headers['x-api-key'];
  return { method, path: url.replace(/^\/v0/, ''), key: typeof key === 'string' ? key : null };
}
