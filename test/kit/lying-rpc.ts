import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * A JSON-RPC proxy that lies the way public nodes do, in front of an honest one. Which request is lied to follows from the
 * seed alone, so that a failing run can be repeated (concurrent requests may still arrive in another order).
 */

export const LIES = [
  /** The whole exchange: HTTP 429 with Retry-After: 0. */
  'rate-limited',
  /** The whole exchange: HTTP 500. */
  'server-error',
  /** The whole exchange: 200 with half of the JSON. */
  'truncated',
  /** The whole exchange: no answer until the caller gives up. */
  'hang',
  /** eth_getLogs over a range: [] although there are logs. */
  'empty-logs',
  /** eth_getLogs: a log carries the hash of a block that is not in the chain. */
  'other-fork',
  /** eth_getLogs: some logs come twice. */
  'duplicate-logs',
  /** eth_getLogs over a range: every log of one block is left out. */
  'dropped-block',
  /** eth_getLogs over a range: the second half is missing, cut anywhere. */
  'cut-logs',
  /** eth_getLogs over more than one block: "query returned more than 10000 results". */
  'too-many-results',
  /** eth_getBlockByNumber: the header names a parent that is not in the chain. */
  'broken-link',
  /** eth_getBlockByNumber 'latest': a block some way back. */
  'stale-head',
  /** eth_getBlockByNumber 'finalized': the tag is not known. Some chains never learned it. */
  'no-finalized-tag',
] as const;

export type Lie = (typeof LIES)[number];

export interface LyingRpc {
  readonly url: string;
  /** How often the node answered with each lie. */
  readonly told: Readonly<Record<Lie, number>>;
  /** Requests seen, JSON-RPC calls each counted. */
  readonly calls: () => number;
  /** Changes the lies from now on; {} is honesty. */
  lie(probabilities: Partial<Record<Lie, number>>): void;
  /** Takes the next occasion for this lie, whatever its chance. */
  insist(lie: Lie): void;
  stop(): Promise<void>;
}

export interface LyingRpcOptions {
  readonly target: string;
  readonly seed: number;
  /** Chance of each lie, 0 to 1, where the request gives an occasion. */
  readonly probabilities?: Partial<Record<Lie, number>>;
  /** After so many lies of a kind it stops: 1 is "lie once, then be honest". Default: no end. */
  readonly maxTold?: number;
  /** The first block of the range that is read: nothing in it could contradict a lie about what stands before. */
  readonly honestParentOf?: number;
  /** Before each exchange is answered. */
  readonly delayMs?: number;
}

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

interface Reply {
  readonly id: number;
  result?: unknown;
  error?: unknown;
}

interface WireLog {
  readonly blockNumber: string;
  readonly blockHash: string;
}

const NOWHERE = `0x${'ba5eba11'.repeat(8)}`;
const STALE_BY_MAX = 5;

export async function startLyingRpc(options: LyingRpcOptions): Promise<LyingRpc> {
  const random = createRandom(options.seed);
  const none = () => Object.fromEntries(LIES.map((lie) => [lie, 0])) as Record<Lie, number>; // one entry per lie
  const told = none();
  /** How often each lie must have been used. */
  const owed = none();
  const { honestParentOf } = options;
  let probabilities = options.probabilities ?? {};
  let calls = 0;
  const tell = (lie: Lie): boolean => {
    const chance = told[lie] < owed[lie] ? 1 : (probabilities[lie] ?? 0);
    if (chance === 0 || told[lie] >= (options.maxTold ?? Number.POSITIVE_INFINITY)) return false;
    if (chance < 1 && random() >= chance) return false;
    told[lie]++;
    return true;
  };
  /** Only a lie that changes something counts. */
  const untell = (lie: Lie): void => {
    told[lie]--;
  };
  const forward = async (body: unknown): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(options.target, { method: 'POST', headers, body: JSON.stringify(body) });
    return response.json();
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const asked: unknown = JSON.parse(await readBody(request));
    const batch = (Array.isArray(asked) ? asked : [asked]) as Call[]; // our own client's JSON-RPC
    calls += batch.length;
    await delay(options.delayMs ?? 0);
    if (tell('hang')) return; // the socket stays open until the caller or `stop` ends it
    if (tell('rate-limited')) return send(response, 429, '{"error":"slow down"}', { 'retry-after': '0' });
    if (tell('server-error')) return send(response, 500, 'internal error');
    const replies = (await forward(batch)) as Reply[]; // anvil's JSON-RPC
    const byId = new Map(replies.map((reply) => [reply.id, reply]));
    for (const call of batch) {
      const reply = byId.get(call.id);
      if (reply !== undefined) await distort(call, reply, { tell, untell, random, forward, honestParentOf });
    }
    const text = JSON.stringify(Array.isArray(asked) ? replies : replies[0]);
    if (tell('truncated')) return send(response, 200, text.slice(0, Math.floor(text.length / 2)));
    return send(response, 200, text);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // listening on TCP
  return {
    url: `http://127.0.0.1:${port}`,
    told,
    calls: () => calls,
    lie(next) {
      probabilities = next;
    },
    insist(lie) {
      owed[lie] = told[lie] + 1;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Liar {
  readonly tell: (lie: Lie) => boolean;
  readonly untell: (lie: Lie) => void;
  readonly random: () => number;
  readonly forward: (body: unknown) => Promise<unknown>;
  readonly honestParentOf: number | undefined;
}

async function distort(call: Call, reply: Reply, liar: Liar): Promise<void> {
  if (call.method === 'eth_getLogs' && Array.isArray(reply.result)) distortLogs(call, reply, liar);
  if (call.method === 'eth_getBlockByNumber') await distortBlock(call, reply, liar);
}

function distortLogs(call: Call, reply: Reply, { tell, untell, random }: Liar): void {
  const filter = call.params[0] as { fromBlock?: string; toBlock?: string }; // eth_getLogs takes one filter object
  const logs = reply.result as WireLog[]; // checked to be an array
  const isRange = filter.fromBlock !== undefined;
  if (isRange && filter.fromBlock !== filter.toBlock && tell('too-many-results')) {
    reply.result = undefined;
    reply.error = { code: -32005, message: 'query returned more than 10000 results' };
    return;
  }
  if (logs.length === 0) return;
  const pick = Math.floor(random() * logs.length);
  const victim = logs[pick]?.blockNumber;
  if (isRange && tell('empty-logs')) reply.result = [];
  else if (isRange && tell('dropped-block'))
    reply.result = logs.filter(({ blockNumber }) => blockNumber !== victim);
  else if (isRange && tell('cut-logs')) {
    reply.result = logs.slice(0, Math.ceil(logs.length / 2));
    if (logs.length === 1) untell('cut-logs');
  } else if (tell('other-fork')) {
    reply.result = logs.map((log, index) => (index === pick ? { ...log, blockHash: NOWHERE } : log));
  } else if (tell('duplicate-logs')) reply.result = [...logs, ...logs.slice(0, 1 + pick)];
}

async function distortBlock(
  call: Call,
  reply: Reply,
  { tell, untell, random, forward, honestParentOf }: Liar,
): Promise<void> {
  const [at, isFull] = call.params;
  if (at === 'finalized' && tell('no-finalized-tag')) {
    reply.result = undefined;
    reply.error = { code: -32602, message: 'invalid argument 0: hex string without 0x prefix' };
    return;
  }
  if (typeof reply.result !== 'object' || reply.result === null) return;
  if (at !== 'latest') {
    const canTell = at !== 'finalized' && Number(at) !== honestParentOf;
    if (canTell && tell('broken-link')) reply.result = { ...reply.result, parentHash: NOWHERE };
    return;
  }
  if (!tell('stale-head')) return;
  const head = Number((reply.result as { number: string }).number); // a block
  const number = Math.max(0, head - 1 - Math.floor(random() * STALE_BY_MAX));
  if (number === head) return untell('stale-head');
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'eth_getBlockByNumber',
    params: [`0x${number.toString(16)}`, isFull],
  };
  reply.result = ((await forward(body)) as Reply).result; // as above
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // no encoding is set
  return Buffer.concat(chunks).toString('utf8');
}

/** mulberry32: small, seeded, good enough to choose lies. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** An honest proxy that keeps the block ranges that eth_getLogs was asked for. */
export interface LogRequests {
  readonly url: string;
  readonly ranges: readonly { readonly from: number; readonly to: number }[];
  close(): Promise<void>;
}

export async function recordLogRequests(nodeUrl: string): Promise<LogRequests> {
  const ranges: { from: number; to: number }[] = [];
  const server = createServer((request, response) => {
    const pass = async (): Promise<void> => {
      const body = await readBody(request);
      for (const { method, params } of [JSON.parse(body) as Call | Call[]].flat()) {
        const [filter] = params as { fromBlock?: string; toBlock?: string }[]; // eth_getLogs takes one filter object
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
