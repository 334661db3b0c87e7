import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeJson } from './json.ts';
import type { SolanaLedger } from './ledger.ts';
import { createRpcMethods, RPC_ERRORS, RpcError, type RpcMethod } from './rpc-methods.ts';

/** A JSON-RPC 2.0 server over a local Solana. */
export interface SolanaRpc {
  readonly url: string;
  /** How often each method was called. */
  readonly calls: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

interface Call {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** Many times the largest batch of calls that a reader of blocks sends. */
const BODY_BYTES_MAX = 1024 * 1024;
const BATCH_CALLS_MAX = 1_000;
const PARSE_ERROR = -32_700;
const INTERNAL_ERROR = -32_603;

/** Serves it on loopback, on a free port unless one is named. */
export async function serveSolana(
  ledger: SolanaLedger,
  options: { readonly port?: number } = {},
): Promise<SolanaRpc> {
  const methods = createRpcMethods(ledger);
  const calls = new Map<string, number>();
  const server = createServer((request, response) => {
    respond(request, response, methods, calls).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
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

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  methods: Readonly<Record<string, RpcMethod>>,
  calls: Map<string, number>,
): Promise<void> {
  const text = await readBody(request);
  response.setHeader('content-type', 'application/json');
  if (text === undefined) return void response.writeHead(413).end();
  let asked: Call | readonly Call[];
  try {
    asked = JSON.parse(text) as Call | readonly Call[]; // members are checked where they are used
  } catch {
    const error = { code: PARSE_ERROR, message: 'Parse error' };
    return void response.end(writeJson({ jsonrpc: '2.0', error, id: null }));
  }
  const isBatch = Array.isArray(asked);
  const batch = [asked].flat() as readonly Call[]; // one call or a list of calls
  if (batch.length > BATCH_CALLS_MAX) return void response.writeHead(413).end();
  const answers = batch.map((call) => answer(call, methods, calls));
  response.end(writeJson(isBatch ? answers : answers[0]));
}

function answer(
  { id = null, method, params = [] }: Call,
  methods: Readonly<Record<string, RpcMethod>>,
  calls: Map<string, number>,
): object {
  const name = String(method);
  calls.set(name, (calls.get(name) ?? 0) + 1);
  try {
    const run = Object.hasOwn(methods, name) ? methods[name] : undefined;
    if (run === undefined) throw new RpcError(RPC_ERRORS.methodNotFound, 'Method not found');
    return { jsonrpc: '2.0', result: run(Array.isArray(params) ? params : []), id };
  } catch (cause) {
    const { code, message, data } =
      cause instanceof RpcError ? cause : { code: INTERNAL_ERROR, message: String(cause), data: undefined };
    return { jsonrpc: '2.0', error: { code, message, ...(data !== undefined && { data }) }, id };
  }
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > BODY_BYTES_MAX) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}
