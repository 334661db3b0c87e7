import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Workspace } from '../support/workspace.ts';

/** A reader's requests to a node: the bodies in order, and how many were in flight at once. */
export interface Recording {
  readonly requests: readonly string[];
  readonly inFlightMax: number;
}

export interface RecordingProxy {
  readonly url: string;
  recording(): Recording;
}

/** A proxy in front of a node that forwards and records every request. */
export async function startRecordingProxy(workspace: Workspace, nodeUrl: string): Promise<RecordingProxy> {
  const requests: string[] = [];
  let inFlight = 0;
  let inFlightMax = 0;
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await textOf(request);
    requests.push(body);
    inFlight++;
    inFlightMax = Math.max(inFlightMax, inFlight);
    try {
      const answer = await postJson(nodeUrl, body);
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(Buffer.from(await answer.arrayBuffer()));
    } finally {
      inFlight--;
    }
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy()); // the reader sees a broken connection and asks again
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  workspace.defer(() => closeServer(server));
  const { port } = server.address() as AddressInfo; // a TCP server that listens has one
  return { url: `http://127.0.0.1:${port}`, recording: () => ({ requests, inFlightMax }) };
}

/**
 * Fetches the recorded answers again, as parallel as they were, and discards them. Milliseconds. It parses the JSON, because only
 * that tells a JSON-RPC answer from an error, and reads nothing else of it.
 */
export async function replay(nodeUrl: string, { requests, inFlightMax }: Recording): Promise<number> {
  const began = performance.now();
  let next = 0;
  const work = async (): Promise<void> => {
    for (let body = requests[next++]; body !== undefined; body = requests[next++]) {
      const answer = await postJson(nodeUrl, body);
      await answer.json();
    }
  };
  await Promise.all(Array.from({ length: inFlightMax }, work));
  return performance.now() - began;
}

function postJson(url: string, body: string): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // no encoding is set
  return Buffer.concat(chunks).toString('utf8');
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
