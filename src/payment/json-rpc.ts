import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { postJson } from './post-json.ts';
import type { ChainCall, ChainLog, ChainReceipt } from './proof.ts';

/** The few questions that a confirmation asks a node. Every method rejects when the node does not answer in the expected form. */
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

const Hex = (bytes: number) => Type.String({ pattern: `^0x[0-9a-fA-F]{${bytes * 2}}$` });
/** Six bytes at most: exact as a number. */
const Quantity = Type.String({ pattern: '^0x(?:0|[1-9a-f][0-9a-f]{0,11})$' });
const Data = Type.String({ pattern: '^0x[0-9a-fA-F]*$' });
const LogSchema = Type.Object({
  address: Hex(20),
  topics: Type.Array(Hex(32), { maxItems: 4 }),
  data: Data,
  transactionHash: Hex(32),
  logIndex: Quantity,
});
const BlockSchema = Type.Object({ number: Quantity, timestamp: Quantity });
const ReceiptSchema = Type.Union([
  Type.Null(),
  Type.Object({ transactionHash: Hex(32), status: Quantity, logs: Type.Array(LogSchema) }),
]);
const CallSchema = Type.Union([
  Type.Null(),
  Type.Object({ to: Type.Union([Hex(20), Type.Null()]), input: Data }),
]);

/** No connection is kept open beyond what fetch pools; `url` appears in no error. */
export function openJsonRpc({
  url,
  timeoutMs,
  signal,
}: {
  readonly url: string;
  /** Bound of each question. */
  readonly timeoutMs: number;
  /** Ends all of them. */
  readonly signal: AbortSignal;
}): JsonRpc {
  const ask = async <S extends TSchema>(
    schema: S,
    method: string,
    ...params: unknown[]
  ): Promise<Static<S>> => {
    const body = { jsonrpc: '2.0', id: 1, method, params };
    const answer = await postJson({ url, body, timeoutMs, bytesMax: ANSWER_BYTES_MAX, signal });
    const result = resultOf(answer.body);
    if (!Value.Check(schema, result)) throw new Error(`the node has no usable answer to ${method}`);
    return result;
  };
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
