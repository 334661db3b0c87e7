import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Rpc } from '../../demo/chain/json-rpc.ts';
import type { RpcFailureKind } from '../../ingest/chain/rpc/failure.ts';
import { createRandom, readBody } from './lying-proxy.ts';
import {
  EVM_DIALECT,
  type Heads,
  type PortalDialect,
  type PortalWireBlock,
  requestsOf,
} from './portal-blocks.ts';

/**
 * A server that speaks the documented protocol of the SQD Portal over a local chain, and lies about it. Which request is lied to follows from
 * the seed alone. Its limits are those of the public Portal only where a test asks for them.
 */

export const PORTAL_LIES = [
  /** HTTP 429 with Retry-After: 0. */
  'rate-limited',
  /** HTTP 503 without Retry-After. */
  'unavailable',
  /** HTTP 529 with Retry-After: 0. */
  'overloaded',
  /** No answer until the caller gives up. */
  'hang',
  /** The connection ends inside a line. */
  'truncated',
  /** The answer ends as it should, with half a line. */
  'half-line',
  /** 200 and no block. */
  'empty',
  /** A line of several megabytes. */
  'overlong-line',
  /** Every log of one block is left out. */
  'dropped-logs',
  /** The last log of a block is left out. */
  'cut-logs',
  /** Some logs come twice. */
  'duplicate-logs',
  /** A log of a contract that nobody asked for. */
  'foreign-log',
  /** A block names a parent that is not in the chain. */
  'broken-link',
  /** Two blocks change their places. */
  'wrong-order',
  /** A block is left out although all were asked for. */
  'skipped-block',
  /** A transaction is left out, but what was asked for with it is not. */
  'missing-transaction',
  /** Solana: a transaction is left out with all that belongs to it. */
  'dropped-transaction',
  /** Solana: an instruction is left out. */
  'dropped-instruction',
  /** Solana: all token balances of a block are left out. */
  'dropped-balances',
  /** Solana: an amount after a transaction is another. */
  'changed-amount',
  /** Solana: the data of some instructions is another. */
  'changed-data',
  /** A hash is no hash. */
  'malformed',
  /** HTTP 409 on a continuation, with the ancestors in either order. */
  'fork',
] as const;

export type PortalLie = (typeof PORTAL_LIES)[number];

/** Lies about whole exchanges, and as which failure a reader meets each. */
export const PORTAL_FAILURES: readonly (readonly [PortalLie, RpcFailureKind])[] = [
  ['rate-limited', 'busy'],
  ['overloaded', 'unavailable'],
  ['unavailable', 'unavailable'],
  ['truncated', 'unavailable'],
  ['half-line', 'unreadable'],
  ['empty', 'unreadable'],
  ['overlong-line', 'too-large'],
  ['hang', 'timeout'],
];

export interface LyingPortal {
  /** Without the data set, as it is configured. */
  readonly url: string;
  readonly told: Readonly<Record<PortalLie, number>>;
  /** When each request came, `performance.now()`. */
  readonly requestedMs: readonly number[];
  /** The streams asked for. */
  readonly asked: readonly { readonly path: string; readonly query: Query }[];
  /** How often a parent was asked for that is not in the chain. */
  forks(): number;
  /** Answers every request with this status from now on; null ends it. */
  refuse(status: number | null, retryAfter?: string): void;
  stop(): Promise<void>;
}

export interface LyingPortalOptions {
  readonly rpc: Rpc;
  /** Default: of an EVM chain. */
  readonly dialect?: PortalDialect;
  readonly seed?: number;
  readonly probabilities?: Partial<Record<PortalLie, number>>;
  /** After so many lies of a kind it stops. Default: no end. */
  readonly maxTold?: number;
  /** An answer ends after so many blocks. Default: at the end of the range. */
  readonly blocksPerAnswer?: number;
  /** How far behind the chain's head its data set ends. */
  readonly behind?: number;
  /** Before each answer begins. */
  readonly delayMs?: number;
  /** Requests in ten seconds, as the public Portal counts them: more are refused. Default: no limit. */
  readonly requestsPer10Seconds?: number;
  /** Blocks that do not change, in order and without a gap: read once and not for each answer, as a Portal has them. */
  readonly held?: readonly PortalWireBlock[];
  /** Without compression. */
  readonly isPlain?: boolean;
  /** Before each stream is answered, with its number from 1. */
  readonly onStream?: (nth: number) => Promise<void>;
}

export interface Query {
  readonly type: string;
  readonly fromBlock: number;
  readonly toBlock?: number;
  readonly parentBlockHash?: string;
  readonly includeAllBlocks?: boolean;
  readonly fields: Readonly<Record<string, Readonly<Record<string, true>>>>;
  /** By the name of a list: a union of requests. */
  readonly [list: string]: unknown;
}

type Line = { header: Record<string, unknown> } & { [list: string]: Record<string, unknown>[] };

const OVERLONG_CHARS = 5_000_000;
const KEYS = ['type', 'fromBlock', 'toBlock', 'parentBlockHash', 'includeAllBlocks', 'fields'];

export async function startLyingPortal(options: LyingPortalOptions): Promise<LyingPortal> {
  const { rpc, dialect = EVM_DIALECT } = options;
  const random = createRandom(options.seed ?? 7);
  const told = Object.fromEntries(PORTAL_LIES.map((lie) => [lie, 0])) as Record<PortalLie, number>; // one entry per lie
  const requestedMs: number[] = [];
  const asked: { path: string; query: Query }[] = [];
  let forks = 0;
  const probabilities = options.probabilities ?? {};
  let refusal: { readonly status: number; readonly retryAfter: string | undefined } | null = null;
  const tell = (lie: PortalLie): boolean => {
    const chance = probabilities[lie] ?? 0;
    if (chance === 0 || told[lie] >= (options.maxTold ?? Number.POSITIVE_INFINITY)) return false;
    if (chance < 1 && random() >= chance) return false;
    told[lie]++;
    return true;
  };
  const untell = (lie: PortalLie): void => void told[lie]--;
  const isOverLimit = (): boolean => {
    const sinceMs = performance.now() - 10_000;
    const recent = requestedMs.filter((atMs) => atMs > sinceMs).length;
    return recent > (options.requestsPer10Seconds ?? Number.POSITIVE_INFINITY);
  };

  /** True where the request is answered with a refusal, or never. */
  const isRefused = (response: ServerResponse): boolean => {
    if (refusal !== null) refuse(response, refusal.status, 'overloaded', refusal.retryAfter);
    else if (isOverLimit()) refuse(response, 429, 'overloaded', '10');
    else if (tell('hang'))
      return true; // the socket stays open until the caller or `stop` ends it
    else if (tell('rate-limited')) refuse(response, 429, 'overloaded', '0');
    else if (tell('overloaded')) refuse(response, 529, 'overloaded', '0');
    else if (tell('unavailable')) refuse(response, 503, 'no_workers');
    else return false;
    return true;
  };
  const stream = async (response: ServerResponse, path: string, query: Query, heads: Heads) => {
    const headers = headersOf(heads);
    const { fromBlock, toBlock, parentBlockHash } = query;
    const top = path === 'finalized-stream' ? heads.finalized : heads.head;
    if (fromBlock > top) return void response.writeHead(204, headers).end();
    const isUndone = await isForked(rpc, dialect, query);
    if (isUndone) forks++;
    if (isUndone || (parentBlockHash !== undefined && tell('fork')))
      return sendFork(response, { rpc, dialect, fromBlock, isAscending: random() < 0.5 });
    const { blocksPerAnswer = Number.POSITIVE_INFINITY, isPlain = false } = options;
    const to = Math.min(toBlock ?? top, top);
    const blocks =
      options.held?.filter(({ header: { number } }) => Number(number) >= fromBlock && Number(number) <= to) ??
      (await dialect.readAll(rpc, fromBlock, to, blocksPerAnswer));
    const lines = selectLines(blocks.slice(0, blocksPerAnswer), query, dialect);
    distort(lines, query, dialect, { tell, untell, random });
    sendLines(response, tell('empty') ? [] : lines, headers, { tell, isPlain });
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requestedMs.push(performance.now());
    const body = await readBody(request);
    if (isRefused(response)) return;
    await delay(options.delayMs ?? 0);
    const known = await dialect.heads(rpc);
    const head = Math.max(0, known.head - (options.behind ?? 0));
    const heads = { head, finalized: Math.min(head, known.finalized) };
    const path = (request.url ?? '').split('/').at(-1) ?? '';
    if (request.method === 'GET')
      return sendHead(response, path, heads, (number) => dialect.hashAt(rpc, number));
    const query = JSON.parse(body) as Query; // checked by the next line
    const problem = problemOf(query, dialect);
    if (problem !== null) return refuse(response, 400, problem);
    asked.push({ path, query });
    await options.onStream?.(asked.length);
    await stream(response, path, query, heads);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // listening on TCP
  return {
    url: `http://127.0.0.1:${port}`,
    told,
    requestedMs,
    asked,
    forks: () => forks,
    refuse(status, retryAfter) {
      refusal = status === null ? null : { status, retryAfter };
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function headersOf({ head, finalized }: Heads): Record<string, string> {
  return {
    'x-sqd-head-number': String(head),
    'x-sqd-finalized-head-number': String(finalized),
    'x-sqd-data-source': 'network',
  };
}

async function sendHead(
  response: ServerResponse,
  path: string,
  heads: Heads,
  hashAt: (number: number) => Promise<string | null>,
): Promise<void> {
  const number = path === 'finalized-head' ? heads.finalized : heads.head;
  if (path !== 'head' && path !== 'finalized-head') return refuse(response, 404, 'not_found');
  const body = JSON.stringify({ number, hash: await hashAt(number) });
  response.writeHead(200, { 'content-type': 'application/json', ...headersOf(heads) }).end(body);
}

/** Unknown fields are refused, as the protocol says. */
function problemOf(query: Query, { type, fields, requests }: PortalDialect): string | null {
  const isKnown =
    Object.keys(query).every((key) => KEYS.includes(key) || requests[key] !== undefined) &&
    query.type === type &&
    Number.isSafeInteger(query.fromBlock) &&
    Object.entries(query.fields).every(([what, own]) =>
      Object.keys(own).every((field) => fields[what]?.includes(field)),
    ) &&
    Object.entries(requests).every(([list, keys]) =>
      requestsOf(query, list).every((request) => Object.keys(request).every((key) => keys.includes(key))),
    );
  return isKnown ? null : 'malformed_request';
}

async function isForked(
  rpc: Rpc,
  { hashAt }: PortalDialect,
  { fromBlock, parentBlockHash }: Query,
): Promise<boolean> {
  return parentBlockHash !== undefined && (await hashAt(rpc, fromBlock - 1)) !== parentBlockHash;
}

const ANCESTORS = 5;

async function sendFork(
  response: ServerResponse,
  {
    rpc,
    dialect,
    fromBlock,
    isAscending,
  }: {
    readonly rpc: Rpc;
    readonly dialect: PortalDialect;
    readonly fromBlock: number;
    readonly isAscending: boolean;
  },
): Promise<void> {
  const previousBlocks: { number: number; hash: string | null }[] = [];
  for (let number = fromBlock - 1; number >= Math.max(0, fromBlock - ANCESTORS); number--)
    previousBlocks.push({ number, hash: await dialect.hashAt(rpc, number) });
  if (isAscending) previousBlocks.reverse();
  const error = { type: 'invalid_request_error', code: 'base_block_mismatch', message: 'fork' };
  response
    .writeHead(409, { 'content-type': 'application/json' })
    .end(JSON.stringify({ error, previousBlocks }));
}

/** The lines of an honest answer. */
function selectLines(blocks: readonly PortalWireBlock[], query: Query, dialect: PortalDialect): Line[] {
  const pick = (value: Readonly<Record<string, unknown>>, what: string): Record<string, unknown> =>
    Object.fromEntries(
      Object.keys(query.fields[what] ?? {})
        .filter((field) => value[field] !== undefined)
        .map((field) => [field, value[field]]),
    );
  return blocks.flatMap((block, at) => {
    const chosen = Object.entries(dialect.choose(block, query)).filter(([, items]) => items.length > 0);
    const isBoundary = at === 0 || at === blocks.length - 1;
    if (chosen.length === 0 && !isBoundary && query.includeAllBlocks !== true) return [];
    // The field of a list is its name in the singular.
    const lists = chosen
      .filter(([list]) => query.fields[list.slice(0, -1)] !== undefined)
      .map(([list, items]) => [list, items.map((item) => pick(item, list.slice(0, -1)))] as const);
    return [{ header: pick(block.header, 'block'), ...Object.fromEntries(lists) } as Line]; // as it is built
  });
}

interface Liar {
  readonly tell: (lie: PortalLie) => boolean;
  readonly untell: (lie: PortalLie) => void;
  readonly random: () => number;
}

function distort(
  lines: Line[],
  query: Query,
  { nowhere }: PortalDialect,
  { tell, untell, random }: Liar,
): void {
  const one = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
  const lieTo = <T>(lie: PortalLie, victim: T | undefined, change: (victim: T) => void): void => {
    if (!tell(lie)) return;
    if (victim === undefined) untell(lie);
    else change(victim);
  };
  const having = (list: string): Line[] => lines.filter((line) => (line[list] ?? []).length > 0);
  lieTo('dropped-logs', one(having('logs')), (line) => delete line['logs']);
  lieTo('cut-logs', one(having('logs')), (line) => line['logs']?.pop());
  lieTo('duplicate-logs', one(having('logs')), ({ logs = [] }) => logs.push({ ...logs[0] }));
  lieTo('foreign-log', query.fields['log']?.['data'] ? one(having('logs')) : undefined, ({ logs = [] }) =>
    logs.push({ ...logs[0], address: `0x${'11'.repeat(20)}`, logIndex: 4_000 }),
  );
  lieTo('missing-transaction', one(having('transactions')), ({ transactions = [] }) => transactions.pop());
  distortSolana(having('tokenBalances'), lieTo);
  lieTo('malformed', one(lines), ({ header }) => {
    header['hash'] = '0x12';
  });
  // Nothing in the range contradicts a lie about what stands before its first block.
  lieTo('broken-link', one(lines.slice(1)), ({ header }) => {
    header['parentHash'] = nowhere;
  });
  lieTo('overlong-line', one(lines), ({ header }) => {
    header['hash'] = `0x${'0'.repeat(OVERLONG_CHARS)}`;
  });
  if (lines.length > 2 && query.includeAllBlocks === true && tell('skipped-block')) lines.splice(1, 1);
  if (lines.length > 2 && tell('wrong-order')) lines.splice(0, 2, ...lines.slice(0, 2).reverse());
}

const SOLANA_LISTS = ['transactions', 'instructions', 'tokenBalances'];

/** In the middle of the range, so that its accounts move before and after. */
function distortSolana(
  lines: readonly Line[],
  lieTo: <T>(lie: PortalLie, victim: T | undefined, change: (victim: T) => void) => void,
): void {
  const line = lines[Math.floor(lines.length / 2)];
  lieTo('dropped-transaction', line, (victim) => {
    const index = victim['tokenBalances']?.[0]?.['transactionIndex'];
    for (const list of SOLANA_LISTS)
      victim[list] = (victim[list] ?? []).filter(({ transactionIndex }) => transactionIndex !== index);
  });
  lieTo('dropped-instruction', line, ({ instructions = [] }) => instructions.pop());
  lieTo('dropped-balances', line, (victim) => delete victim['tokenBalances']);
  lieTo('changed-amount', line, ({ tokenBalances = [] }) => {
    const victim = tokenBalances.find(({ postAmount }) => postAmount !== undefined);
    if (victim !== undefined) victim['postAmount'] = String(BigInt(String(victim['postAmount'])) + 1n);
  });
  // What no balance shows: unit prices, of candidates and of others.
  const called = lines.flatMap(({ instructions = [] }) => instructions);
  const prices = called.filter(({ programId }) => String(programId).startsWith('ComputeBudget'));
  lieTo('changed-data', prices[0], () => {
    for (const price of prices) price['data'] = `${String(price['data'])}2`;
  });
}

function sendLines(
  response: ServerResponse,
  lines: readonly Line[],
  headers: Record<string, string>,
  { tell, isPlain }: { readonly tell: (lie: PortalLie) => boolean; readonly isPlain: boolean },
): void {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const half = text.slice(0, Math.floor(text.length / 2) - 1);
  const encode = (part: string): Buffer => (isPlain ? Buffer.from(part) : gzipSync(part));
  response.writeHead(200, {
    'content-type': 'application/jsonl',
    ...(!isPlain && { 'content-encoding': 'gzip' }),
    ...headers,
  });
  if (tell('truncated')) {
    response.write(encode(half), () => response.destroy());
    return;
  }
  response.end(encode(tell('half-line') ? half : text));
}

function refuse(response: ServerResponse, status: number, code: string, retryAfter?: string): void {
  const body = JSON.stringify({ error: { type: 'error', code, message: 'secret-of-theirs' } });
  response
    .writeHead(status, {
      'content-type': 'application/json',
      ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
    })
    .end(body);
}
