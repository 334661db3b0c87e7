import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Rpc } from '../../demo/chain/json-rpc.ts';
import { createRandom, readBody } from './lying-proxy.ts';
import { readAll, type WireBlock } from './portal-blocks.ts';

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
  /** A transaction is left out. */
  'missing-transaction',
  /** A hash is no hash. */
  'malformed',
  /** HTTP 409 on a continuation, with the ancestors in either order. */
  'fork',
] as const;

export type PortalLie = (typeof PORTAL_LIES)[number];

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
  readonly held?: readonly WireBlock[];
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
  readonly logs?: readonly LogRequest[];
}

interface LogRequest {
  readonly address?: readonly string[];
  readonly topic0?: readonly string[];
  readonly topic1?: readonly string[];
  readonly topic2?: readonly string[];
  readonly topic3?: readonly string[];
  readonly transaction?: boolean;
}

type Line = {
  header: Record<string, unknown>;
  logs?: Record<string, unknown>[];
  transactions?: Record<string, unknown>[];
};

const NOWHERE = `0x${'ba5eba11'.repeat(8)}`;
const OVERLONG_CHARS = 5_000_000;
const KEYS = new Set([
  'type',
  'fromBlock',
  'toBlock',
  'parentBlockHash',
  'includeAllBlocks',
  'fields',
  'logs',
]);
const LOG_KEYS = new Set(['address', 'topic0', 'topic1', 'topic2', 'topic3', 'transaction']);
const FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  block: new Set(['number', 'hash', 'parentHash', 'timestamp', 'logsBloom']),
  log: new Set(['address', 'topics', 'data', 'logIndex', 'transactionHash', 'transactionIndex']),
  transaction: new Set(['hash', 'from', 'to', 'input', 'status', 'gasUsed', 'effectiveGasPrice', 'l1Fee']),
};

export async function startLyingPortal(options: LyingPortalOptions): Promise<LyingPortal> {
  const { rpc } = options;
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
    const isUndone = await isForked(rpc, query);
    if (isUndone) forks++;
    if (isUndone || (parentBlockHash !== undefined && tell('fork')))
      return sendFork(response, rpc, fromBlock, random() < 0.5);
    const { blocksPerAnswer = Number.POSITIVE_INFINITY, isPlain = false } = options;
    const to = Math.min(toBlock ?? top, top, fromBlock + blocksPerAnswer - 1);
    const blocks =
      options.held?.filter(({ header: { number } }) => Number(number) >= fromBlock && Number(number) <= to) ??
      (await readAll(rpc, fromBlock, to));
    const lines = selectLines(blocks, query);
    distort(lines, query, { tell, untell, random });
    sendLines(response, tell('empty') ? [] : lines, headers, { tell, isPlain });
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requestedMs.push(performance.now());
    const body = await readBody(request);
    if (isRefused(response)) return;
    await delay(options.delayMs ?? 0);
    const heads = await readHeads(rpc, options.behind ?? 0);
    const path = (request.url ?? '').split('/').at(-1) ?? '';
    if (request.method === 'GET') return sendHead(response, rpc, path, heads);
    const query = JSON.parse(body) as Query; // checked by the next line
    const problem = problemOf(query);
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

interface Heads {
  readonly head: number;
  readonly finalized: number;
}

function headersOf({ head, finalized }: Heads): Record<string, string> {
  return {
    'x-sqd-head-number': String(head),
    'x-sqd-finalized-head-number': String(finalized),
    'x-sqd-data-source': 'network',
  };
}

async function readHeads(rpc: Rpc, behind: number): Promise<Heads> {
  const [head, finalized] = await Promise.all([
    rpc.call<string>('eth_blockNumber'),
    rpc.call<{ number: string } | null>('eth_getBlockByNumber', 'finalized', false),
  ]);
  const top = Math.max(0, Number(head) - behind);
  return { head: top, finalized: Math.min(top, Number(finalized?.number ?? 0)) };
}

async function hashAt(rpc: Rpc, number: number): Promise<string | null> {
  const block = await rpc.call<{ hash: string } | null>(
    'eth_getBlockByNumber',
    `0x${number.toString(16)}`,
    false,
  );
  return block?.hash ?? null;
}

async function sendHead(response: ServerResponse, rpc: Rpc, path: string, heads: Heads): Promise<void> {
  const number = path === 'finalized-head' ? heads.finalized : heads.head;
  if (path !== 'head' && path !== 'finalized-head') return refuse(response, 404, 'not_found');
  const body = JSON.stringify({ number, hash: await hashAt(rpc, number) });
  response.writeHead(200, { 'content-type': 'application/json', ...headersOf(heads) }).end(body);
}

/** Unknown fields are refused, as the protocol says. */
function problemOf(query: Query): string | null {
  const isKnown =
    Object.keys(query).every((key) => KEYS.has(key)) &&
    query.type === 'evm' &&
    Number.isSafeInteger(query.fromBlock) &&
    Object.entries(query.fields).every(([what, fields]) =>
      Object.keys(fields).every((field) => FIELDS[what]?.has(field)),
    ) &&
    (query.logs ?? []).every((request) => Object.keys(request).every((key) => LOG_KEYS.has(key)));
  return isKnown ? null : 'malformed_request';
}

async function isForked(rpc: Rpc, { fromBlock, parentBlockHash }: Query): Promise<boolean> {
  return parentBlockHash !== undefined && (await hashAt(rpc, fromBlock - 1)) !== parentBlockHash;
}

const ANCESTORS = 5;

async function sendFork(
  response: ServerResponse,
  rpc: Rpc,
  fromBlock: number,
  isAscending: boolean,
): Promise<void> {
  const previousBlocks: { number: number; hash: string | null }[] = [];
  for (let number = fromBlock - 1; number >= Math.max(0, fromBlock - ANCESTORS); number--)
    previousBlocks.push({ number, hash: await hashAt(rpc, number) });
  if (isAscending) previousBlocks.reverse();
  const error = { type: 'invalid_request_error', code: 'base_block_mismatch', message: 'fork' };
  response
    .writeHead(409, { 'content-type': 'application/json' })
    .end(JSON.stringify({ error, previousBlocks }));
}

/** The lines of an honest answer. */
function selectLines(blocks: readonly WireBlock[], query: Query): Line[] {
  const pick = (value: Readonly<Record<string, unknown>>, what: string): Record<string, unknown> =>
    Object.fromEntries(
      Object.keys(query.fields[what] ?? {})
        .filter((field) => value[field] !== undefined)
        .map((field) => [field, value[field]]),
    );
  return blocks.flatMap(({ header, logs, transactions }, at) => {
    const matching = (query.logs ?? []).map((request) => ({
      request,
      logs: logs.filter((log) => isMatch(log, request)),
    }));
    const chosen = new Set(matching.flatMap((match) => match.logs));
    const paid = new Set(
      matching
        .filter(({ request }) => request.transaction === true)
        .flatMap((match) => match.logs.map(({ transactionHash }) => transactionHash)),
    );
    const isBoundary = at === 0 || at === blocks.length - 1;
    if (chosen.size === 0 && !isBoundary && query.includeAllBlocks !== true) return [];
    const line: Line = { header: pick(header, 'block') };
    if (query.fields['log'] !== undefined && chosen.size > 0)
      line.logs = logs.filter((log) => chosen.has(log)).map((log) => pick(log, 'log'));
    if (query.fields['transaction'] !== undefined && paid.size > 0)
      line.transactions = transactions
        .filter(({ hash }) => paid.has(hash))
        .map((transaction) => pick(transaction, 'transaction'));
    return [line];
  });
}

function isMatch(log: WireBlock['logs'][number], request: LogRequest): boolean {
  const has = (list: readonly string[] | undefined, value: string | undefined): boolean =>
    list === undefined || (value !== undefined && list.includes(value));
  return (
    has(request.address, log.address) &&
    has(request.topic0, log.topics[0]) &&
    has(request.topic1, log.topics[1]) &&
    has(request.topic2, log.topics[2]) &&
    has(request.topic3, log.topics[3])
  );
}

interface Liar {
  readonly tell: (lie: PortalLie) => boolean;
  readonly untell: (lie: PortalLie) => void;
  readonly random: () => number;
}

function distort(lines: Line[], query: Query, { tell, untell, random }: Liar): void {
  const one = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
  const lieTo = (lie: PortalLie, victim: Line | undefined, change: (line: Line) => void): void => {
    if (!tell(lie)) return;
    if (victim === undefined) untell(lie);
    else change(victim);
  };
  const withLogs = lines.filter(({ logs = [] }) => logs.length > 0);
  lieTo('dropped-logs', one(withLogs), (line) => delete line.logs);
  lieTo('cut-logs', one(withLogs), (line) => line.logs?.pop());
  lieTo('duplicate-logs', one(withLogs), ({ logs = [] }) => logs.push({ ...logs[0] }));
  lieTo('foreign-log', query.fields['log']?.['data'] ? one(withLogs) : undefined, ({ logs = [] }) =>
    logs.push({ ...logs[0], address: `0x${'11'.repeat(20)}`, logIndex: 4_000 }),
  );
  lieTo(
    'missing-transaction',
    one(lines.filter(({ transactions = [] }) => transactions.length > 0)),
    ({ transactions = [] }) => transactions.pop(),
  );
  lieTo('malformed', one(lines), ({ header }) => {
    header['hash'] = '0x12';
  });
  // Nothing in the range contradicts a lie about what stands before its first block.
  lieTo('broken-link', one(lines.slice(1)), ({ header }) => {
    header['parentHash'] = NOWHERE;
  });
  lieTo('overlong-line', one(lines), ({ header }) => {
    header['hash'] = `0x${'0'.repeat(OVERLONG_CHARS)}`;
  });
  if (lines.length > 2 && query.includeAllBlocks === true && tell('skipped-block')) lines.splice(1, 1);
  if (lines.length > 2 && tell('wrong-order')) lines.splice(0, 2, ...lines.slice(0, 2).reverse());
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
