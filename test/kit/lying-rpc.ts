import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Call,
  type ExchangeLie,
  type Liar,
  type LyingProxy,
  type LyingProxyOptions,
  type Reply,
  readBody,
  startLyingProxy,
} from './lying-proxy.ts';

/** A node of an EVM chain that lies. */

const ANSWER_LIES = [
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

type AnswerLie = (typeof ANSWER_LIES)[number];

export type Lie = AnswerLie | ExchangeLie;

export type LyingRpc = LyingProxy<AnswerLie>;

export interface LyingRpcOptions extends LyingProxyOptions<AnswerLie> {
  /** The first block of the range that is read: nothing in it could contradict a lie about what stands before. */
  readonly honestParentOf?: number;
}

interface WireLog {
  readonly blockNumber: string;
  readonly blockHash: string;
}

const NOWHERE = `0x${'ba5eba11'.repeat(8)}`;
const STALE_BY_MAX = 5;

export async function startLyingRpc(options: LyingRpcOptions): Promise<LyingRpc> {
  const { honestParentOf } = options;
  const distort = async (call: Call, reply: Reply, liar: Liar<AnswerLie>): Promise<void> => {
    if (call.method === 'eth_getLogs' && Array.isArray(reply.result)) distortLogs(call, reply, liar);
    if (call.method === 'eth_getBlockByNumber') await distortBlock(call, reply, liar, honestParentOf);
  };
  return startLyingProxy(ANSWER_LIES, distort, options);
}

function distortLogs(call: Call, reply: Reply, { tell, untell, random }: Liar<AnswerLie>): void {
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
  { tell, untell, random, forward }: Liar<AnswerLie>,
  honestParentOf: number | undefined,
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
