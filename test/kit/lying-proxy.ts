import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * A JSON-RPC proxy that lies the way public nodes do, in front of an honest one. Which request is lied to follows from the
 * seed alone, so that a failing run can be repeated (concurrent requests may still arrive in another order).
 */

/** Lies about whole exchanges, which a node of any chain tells. */
export const EXCHANGE_LIES = [
  /** HTTP 429 with Retry-After: 0. */
  'rate-limited',
  /** HTTP 500. */
  'server-error',
  /** 200 with half of the JSON. */
  'truncated',
  /** No answer until the caller gives up. */
  'hang',
] as const;

export type ExchangeLie = (typeof EXCHANGE_LIES)[number];

export interface LyingProxy<Lie extends string> {
  readonly url: string;
  /** How often the node answered with each lie. */
  readonly told: Readonly<Record<Lie | ExchangeLie, number>>;
  /** Requests seen, JSON-RPC calls each counted. */
  readonly calls: () => number;
  /** Changes the lies from now on; {} is honesty. */
  lie(probabilities: Partial<Record<Lie | ExchangeLie, number>>): void;
  /** Takes the next occasion for this lie, whatever its chance. */
  insist(lie: Lie | ExchangeLie): void;
  stop(): Promise<void>;
}

export interface LyingProxyOptions<Lie extends string> {
  readonly target: string;
  readonly seed: number;
  /** Chance of each lie, 0 to 1, where the request gives an occasion. */
  readonly probabilities?: Partial<Record<Lie | ExchangeLie, number>>;
  /** After so many lies of a kind it stops: 1 is "lie once, then be honest". Default: no end. */
  readonly maxTold?: number;
  /** Before each exchange is answered. */
  readonly delayMs?: number;
}

export interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface Reply {
  readonly id: number;
  result?: unknown;
  error?: unknown;
}

/** What a lie about one answer is told with. */
export interface Liar<Lie extends string> {
  /** True if this lie is told now, which counts it. */
  readonly tell: (lie: Lie) => boolean;
  /** Only a lie that changes something counts. */
  readonly untell: (lie: Lie) => void;
  readonly random: () => number;
  readonly forward: (body: unknown) => Promise<unknown>;
}

/** Changes one answer, or leaves it. */
export type Distort<Lie extends string> = (call: Call, reply: Reply, liar: Liar<Lie>) => void | Promise<void>;

export async function startLyingProxy<Lie extends string>(
  lies: readonly Lie[],
  distort: Distort<Lie>,
  options: LyingProxyOptions<Lie>,
): Promise<LyingProxy<Lie>> {
  type Any = Lie | ExchangeLie;
  const random = createRandom(options.seed);
  const none = () =>
    Object.fromEntries([...lies, ...EXCHANGE_LIES].map((lie) => [lie, 0])) as Record<Any, number>; // one entry per lie
  const told = none();
  /** How often each lie must have been used. */
  const owed = none();
  let probabilities: Partial<Record<Any, number>> = options.probabilities ?? {};
  let calls = 0;
  const tell = (lie: Any): boolean => {
    const chance = told[lie] < owed[lie] ? 1 : (probabilities[lie] ?? 0);
    if (chance === 0 || told[lie] >= (options.maxTold ?? Number.POSITIVE_INFINITY)) return false;
    if (chance < 1 && random() >= chance) return false;
    told[lie]++;
    return true;
  };
  const untell = (lie: Any): void => {
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
    const replies = (await forward(batch)) as Reply[]; // the honest node's JSON-RPC
    const byId = new Map(replies.map((reply) => [reply.id, reply]));
    for (const call of batch) {
      const reply = byId.get(call.id);
      if (reply !== undefined) await distort(call, reply, { tell, untell, random, forward });
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
