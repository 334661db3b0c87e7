import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A node behind a notebook of the block ranges that eth_getLogs was asked for. */
export interface LogRequests {
  readonly url: string;
  readonly ranges: readonly { readonly from: number; readonly to: number }[];
  close(): Promise<void>;
}

interface Call {
  readonly method: string;
  readonly params: readonly { readonly fromBlock?: string; readonly toBlock?: string }[];
}

export async function recordLogRequests(nodeUrl: string): Promise<LogRequests> {
  const ranges: { from: number; to: number }[] = [];
  const server = createServer((request, response) => {
    const pass = async (): Promise<void> => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer); // a server's request gives buffers
      const body = Buffer.concat(chunks).toString('utf8');
      for (const { method, params } of [JSON.parse(body) as Call | Call[]].flat()) {
        const [filter] = params;
        if (method === 'eth_getLogs' && filter?.fromBlock !== undefined)
          ranges.push({ from: Number(filter.fromBlock), to: Number(filter.toBlock) });
      }
      const answer = await fetch(nodeUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(Buffer.from(await answer.arrayBuffer()));
    };
    pass().catch(() => response.destroy()); // the reader sees a broken connection and asks again
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server that listens has one
  return {
    url: `http://127.0.0.1:${port}`,
    ranges,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
