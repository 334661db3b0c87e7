import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface Reply {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface RewritingNode {
  readonly url: string;
  /** Every call seen, in order. */
  readonly calls: readonly Call[];
  stop(): Promise<void>;
}

/** A JSON-RPC proxy in front of a real node that puts other replies in place of some of the real ones. */
export async function startRewritingNode(
  target: string,
  rewrite: (call: Call, reply: Reply) => Reply,
): Promise<RewritingNode> {
  const calls: Call[] = [];
  const answer = async (request: IncomingMessage): Promise<string> => {
    const asked: unknown = JSON.parse(await readBody(request));
    const batch = (Array.isArray(asked) ? asked : [asked]) as Call[]; // our own client's JSON-RPC
    calls.push(...batch);
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(target, { method: 'POST', headers, body: JSON.stringify(batch) });
    const byId = new Map(((await response.json()) as (Reply & { id: number })[]).map((one) => [one.id, one])); // anvil's JSON-RPC
    const replies = batch.map((call) => ({ id: call.id, ...rewrite(call, byId.get(call.id) ?? {}) }));
    return JSON.stringify(Array.isArray(asked) ? replies : replies[0]);
  };
  const server = createServer((request, response) => {
    answer(request).then(
      (text) => response.writeHead(200, { 'content-type': 'application/json' }).end(text),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // listening on TCP
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // no encoding is set
  return Buffer.concat(chunks).toString('utf8');
}
