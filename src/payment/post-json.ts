import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { BodyTooLarge, readBounded } from '../../core/bounded-body.ts';
import { EVM_BYTES } from '../../core/domain/account.ts';
import { withDeadline } from '../../core/process/deadline.ts';
import type { ChainCall, ChainLog, ChainReceipt } from './proof.ts';

/** Asks another service over HTTP, once, with a bound on time and size. */

export interface JsonQuestion {
  /** May hold credentials: appears in no error. */
  readonly url: string;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly bytesMax: number;
  readonly signal?: AbortSignal | undefined;
}

export interface JsonAnswer {
  readonly status: number;
  /** Undefined when it is no JSON. */
  readonly body: unknown;
}

/** No complete answer arrived. Its message is a code, without URL, header or body. */
export class NoAnswer extends Error {
  /** False only when it is certain that nothing was sent: no connection could be made. */
  readonly sent: boolean;

  constructor(code: string, sent: boolean) {
    super(`no answer (${code})`);
    this.name = 'NoAnswer';
    this.sent = sent;
  }
}

/** These arise while connecting, before the first byte of a request is written. */
const CONNECT_CODES: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

/** Resolves with any status. Rejects with `NoAnswer` only. Never follows a redirect: the body can be spendable. */
export function postJson({ body, ...question }: JsonQuestion): Promise<JsonAnswer> {
  const headers = { ...question.headers, 'content-type': 'application/json' };
  return ask({ ...question, headers }, { method: 'POST', body: JSON.stringify(body) });
}

/** As `postJson`, for an answer that is only read. */
export function getJson(question: Omit<JsonQuestion, 'body'>): Promise<JsonAnswer> {
  return ask(question, { method: 'GET' });
}

async function ask(
  { url, headers = {}, timeoutMs, bytesMax, signal }: Omit<JsonQuestion, 'body'>,
  request: { readonly method: string; readonly body?: string },
): Promise<JsonAnswer> {
  try {
    return await withDeadline(timeoutMs, signal, async (deadline) => {
      const response = await fetch(url, {
        ...request,
        redirect: 'error',
        headers: { ...headers, accept: 'application/json' },
        signal: deadline.signal,
      });
      const body = await readBounded(response.body, bytesMax);
      return { status: response.status, body: parse(body.toString('utf8')) };
    });
  } catch (cause) {
    const code = codeOf(cause);
    throw new NoAnswer(code, !CONNECT_CODES.has(code));
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A system code (`ECONNRESET`) or the name of the error; never its text, which can quote the URL. */
function codeOf(error: unknown): string {
  if (error instanceof BodyTooLarge) return 'too large';
  if (!(error instanceof Error)) return 'unknown';
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return error.name;
}

/** The few questions that a confirmation asks a node of an EVM chain. Every method rejects when the node does not answer in the expected form. */
export interface JsonRpc {
  /** `eth_call` at the head: the hex that the contract returned. */
  call(to: string, data: string): Promise<string>;
  block(tag: 'latest' | number): Promise<{ readonly number: number; readonly timestamp: number }>;
  logs(filter: {
    readonly address: string;
    readonly topics: readonly (string | readonly string[])[];
    readonly from: number;
    readonly to: number;
  }): Promise<readonly ChainLog[]>;
  /** Null for a transaction that is not mined. */
  receipt(transaction: string): Promise<ChainReceipt | null>;
  /** What was called; null for a transaction that the node does not know. */
  transaction(hash: string): Promise<ChainCall | null>;
}

/** A receipt of a large batch is a few hundred KiB. */
const ANSWER_BYTES_MAX = 2 * 1024 * 1024;

const Hex = (bytes: number) =>
  Type.String({ pattern: '^0x[0-9a-fA-F]*$', minLength: 2 + bytes * 2, maxLength: 2 + bytes * 2 });
/** Six bytes at most: exact as a number. */
const Quantity = Type.String({ pattern: '^0x(?:0|[1-9a-f][0-9a-f]{0,11})$' });
const Data = Type.String({ pattern: '^0x[0-9a-fA-F]*$' });
const LogSchema = Type.Object({
  address: Hex(EVM_BYTES.address),
  topics: Type.Array(Hex(32), { maxItems: 4 }),
  data: Data,
  transactionHash: Hex(EVM_BYTES.transaction),
  logIndex: Quantity,
});
const BlockSchema = Type.Object({ number: Quantity, timestamp: Quantity });
const ReceiptSchema = Type.Union([
  Type.Null(),
  Type.Object({ transactionHash: Hex(EVM_BYTES.transaction), status: Quantity, logs: Type.Array(LogSchema) }),
]);
const CallSchema = Type.Union([
  Type.Null(),
  Type.Object({ to: Type.Union([Hex(EVM_BYTES.address), Type.Null()]), input: Data }),
]);

/** Asks a node one question. Rejects where it does not answer in the form of the schema. */
export type AskNode = <S extends TSchema>(
  schema: S,
  method: string,
  ...params: unknown[]
) => Promise<Static<S>>;

/** No connection is kept open beyond what fetch pools; `url` appears in no error. */
export function openNode({
  url,
  timeoutMs,
  signal,
}: {
  readonly url: string;
  /** Bound of each question. */
  readonly timeoutMs: number;
  /** Ends all of them. */
  readonly signal: AbortSignal;
}): AskNode {
  return async (schema, method, ...params) => {
    const body = { jsonrpc: '2.0', id: 1, method, params };
    const answer = await postJson({ url, body, timeoutMs, bytesMax: ANSWER_BYTES_MAX, signal });
    const result = resultOf(answer.body);
    if (!Value.Check(schema, result)) throw new Error(`the node has no usable answer to ${method}`);
    return result;
  };
}

/** A node of an EVM chain. */
export function evmNode(ask: AskNode): JsonRpc {
  return {
    call: (to, data) => ask(Data, 'eth_call', { to, data }, 'latest'),
    async block(tag) {
      const name = tag === 'latest' ? tag : hex(tag);
      const { number, timestamp } = await ask(BlockSchema, 'eth_getBlockByNumber', name, false);
      return { number: Number(number), timestamp: Number(timestamp) };
    },
    async logs({ address, topics, from, to }) {
      const filter = { address, topics, fromBlock: hex(from), toBlock: hex(to) };
      return (await ask(Type.Array(LogSchema), 'eth_getLogs', filter)).map(toLog);
    },
    async receipt(transaction) {
      const receipt = await ask(ReceiptSchema, 'eth_getTransactionReceipt', transaction);
      if (receipt === null) return null;
      const { transactionHash, status, logs } = receipt;
      return {
        transaction: transactionHash.toLowerCase(),
        succeeded: status === '0x1',
        logs: logs.map(toLog),
      };
    },
    async transaction(hash) {
      const call = await ask(CallSchema, 'eth_getTransactionByHash', hash);
      return call && { to: call.to?.toLowerCase() ?? null, input: call.input.toLowerCase() };
    },
  };
}

/** Undefined for an error and for anything that is no JSON-RPC answer: no schema here accepts it. */
function resultOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'result' in body ? body.result : undefined;
}

function toLog(log: Static<typeof LogSchema>): ChainLog {
  return {
    address: log.address.toLowerCase(),
    topics: log.topics.map((topic) => topic.toLowerCase()),
    data: log.data.toLowerCase(),
    transactionHash: log.transactionHash.toLowerCase(),
    logIndex: Number(log.logIndex),
  };
}

function hex(number: number): string {
  return `0x${number.toString(16)}`;
}
