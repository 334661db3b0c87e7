import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { loadConfig } from '../../../core/config/load.ts';
import { createLog } from '../../../core/log.ts';
import { type DemoChain, startDemoChain } from '../../../demo/chain/anvil.ts';
import { mintUsdc, USDC } from '../../../demo/chain/deploy-usdc.ts';
import { authorizeWillingly, callTransferBytes } from '../../../demo/chain/payments.ts';
import { installWillingPayers } from '../../../demo/chain/permit2.ts';
import { mine, walletOf } from '../../../demo/chain/sender.ts';
import { type BlockSource, type LogFilter, ReadAbandoned } from '../../../ingest/chain/block-source.ts';
import { createRpcSource } from '../../../ingest/chain/source.ts';
import { TOPIC } from '../../../ingest/decode/log-kind.ts';
import { expectEqual, readTruth } from './block-source.ts';
import { type Call, type Reply, type RewritingNode, startRewritingNode } from './rewriting-node.ts';

/** Nodes and chains that are honest, but not as the others are. */

/** One of the two events of a payment, so that every block has logs in its filter that are not ours. */
const filter: LogFilter = {
  addresses: [USDC],
  topics: [TOPIC.authorizationUsed],
  isCandidate: () => true,
};
const willing = walletOf('willing payer').address;
const payee = walletOf('payee').address;
const relayer = walletOf('relayer 1').address;
const FROM = 2;
const BLOCKS = 16;
const TO = FROM + BLOCKS - 1;

let chain: DemoChain;
const open: { stop(): void | Promise<void> }[] = [];

beforeAll(async () => {
  chain = await startDemoChain();
  await installWillingPayers(chain.rpc, [willing]);
  await mintUsdc(chain.sender, [{ to: willing, amount: 10n ** 12n }]);
  await mine(chain.rpc);
  for (let block = 1; block < BLOCKS; block++) {
    const data = callTransferBytes(authorizeWillingly(willing, { to: payee, value: 5n }));
    await chain.sender.sendAll([{ from: relayer, to: USDC, data }]);
    await mine(chain.rpc);
  }
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop();
});
afterAll(() => chain?.stop());

async function nodeThat(rewrite: (call: Call, reply: Reply) => Reply): Promise<RewritingNode> {
  const node = await startRewritingNode(chain.url, rewrite);
  open.push(node);
  return node;
}

function sourceOf(
  node: RewritingNode,
  limits: object = { backOffFirstMs: 1, backOffMaxMs: 20, maxCallAttempts: 2, maxSegmentAttempts: 3 },
) {
  const [config] = loadConfig({ env: { CHAINS: 'base-sepolia' } }).chains;
  if (config === undefined) throw new Error('Base Sepolia is built in');
  const stopping = new AbortController();
  open.push({ stop: () => stopping.abort() });
  return createRpcSource(
    { ...config, rpcUrls: [node.url], requestsPerSecond: 100_000 },
    { log: createLog('silent', 'test'), signal: stopping.signal, limits },
  );
}

const truth = () => readTruth(chain.rpc, FROM, TO, filter);
const isByHash = ({ method, params }: Call): boolean =>
  method === 'eth_getLogs' && JSON.stringify(params).includes('blockHash');

const isWhole = (call: Call): boolean => isByHash(call) || call.method === 'eth_getBlockReceipts';

interface WireLog {
  readonly topics: readonly string[];
  readonly transactionHash: string;
  readonly logIndex: string;
}

interface WireReceipt {
  readonly transactionHash: string;
  readonly logs: readonly WireLog[];
}

/** The answer with other logs, by range, by hash and by receipts alike. */
function retold(reply: Reply, tell: (logs: readonly WireLog[]) => readonly WireLog[]): Reply {
  const told = reply.result as readonly (WireLog | WireReceipt)[]; // what the methods with logs answer
  const receipts = told.filter((one): one is WireReceipt => 'logs' in one);
  if (receipts.length === 0) return { result: tell(told as readonly WireLog[]) }; // no receipt is among them
  const logs = tell(receipts.flatMap((receipt) => receipt.logs));
  const within = (receipt: WireReceipt) => ({
    ...receipt,
    logs: logs.filter(({ transactionHash }) => transactionHash === receipt.transactionHash),
  });
  return { result: receipts.map(within) };
}

/** Polygon's older state-sync logs: answered, but in no header. */
function withLogOf(address: string, topic: string, logs: readonly WireLog[]): readonly WireLog[] {
  const last = logs.at(-1);
  const extra = { address, topics: [topic], data: '0x', logIndex: `0x${logs.length.toString(16)}` };
  return last === undefined ? logs : [...logs, { ...last, ...extra }];
}

test('logs of others that the chain leaves out of its headers do not keep a block from being proved', async () => {
  const node = await nodeThat((call, reply) =>
    isWhole(call)
      ? retold(reply, (logs) => withLogOf(`0x${'10'.repeat(20)}`, `0x${'5a'.repeat(32)}`, logs))
      : reply,
  );
  expectEqual(await sourceOf(node).read(FROM, TO, filter), await truth());
  expect(node.calls.some(isWhole)).toBe(true);
});

test('a log of another kind that is missing from a whole block is noticed by the bits that nothing explains', async () => {
  const node = await nodeThat((call, reply) =>
    isWhole(call) ? retold(reply, (logs) => logs.slice(0, 1)) : reply,
  );
  const source = sourceOf(node);
  await expect(source.read(FROM, TO, filter, { freshStartsMax: 1 })).rejects.toThrow(ReadAbandoned);
});

test('an invented log of ours is refused although range and block agree on it', async () => {
  const invent = (logs: readonly WireLog[]): readonly WireLog[] => [
    ...logs,
    ...logs
      .filter(({ topics }) => topics[0] === TOPIC.authorizationUsed)
      // A block has the two logs of one payment: the next place is free.
      .map((log) => ({
        ...log,
        topics: [...log.topics.slice(0, 2), `0x${'1e'.repeat(32)}`],
        logIndex: '0x2',
      })),
  ];
  const node = await nodeThat((call, reply) =>
    call.method === 'eth_getLogs' || isWhole(call) ? retold(reply, invent) : reply,
  );
  const source = sourceOf(node);
  await expect(source.read(FROM, TO, filter, { freshStartsMax: 1 })).rejects.toThrow(ReadAbandoned);
});

test.each([
  ['the tip', (source: BlockSource) => source.tip(), 'eth_getBlockByNumber', 2],
  ['one block', (source: BlockSource) => source.read(FROM, FROM, filter), 'eth_getLogs', 1],
] as const)(
  'a node that finds even %s too large is asked with growing pauses, not for ever at once',
  async (_, ask, method, callsPerRound) => {
    const error = { code: -32000, message: 'response is too big' };
    const times: number[] = [];
    const node = await nodeThat((call, reply) => {
      if (call.method !== method) return reply;
      times.push(performance.now());
      return { error };
    });
    const [backOffFirstMs, maxCallAttempts] = [40, 1];
    const asking = ask(sourceOf(node, { backOffFirstMs, backOffMaxMs: 10_000, maxCallAttempts }));
    asking.catch(() => undefined); // the test ends before it does
    await vi.waitUntil(() => times.length > 3 * callsPerRound, { timeout: 10_000 });
    const elapsedMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
    // Half of each of the three pauses is certain, the rest is jitter.
    expect(elapsedMs).toBeGreaterThan((backOffFirstMs / 2) * (1 + 2 + 4));
  },
);

test('a range refused in unknown words is read in smaller ones, and the limit is learned', async () => {
  const isWide = ({ method, params }: Call): boolean => {
    const { fromBlock, toBlock } = (params[0] ?? {}) as { fromBlock?: string; toBlock?: string }; // as eth_getLogs takes it
    return method === 'eth_getLogs' && Number(toBlock) - Number(fromBlock) >= 5;
  };
  const node = await nodeThat((call, reply) =>
    isWide(call) ? { error: { code: -32000, message: 'five at once, please' } } : reply,
  );
  const source = sourceOf(node);
  expectEqual(await source.read(FROM, TO, filter), await truth());
  const refused = node.calls.filter(isWide).length;
  expect(refused).toBeGreaterThan(0);
  await source.read(FROM, TO, filter);
  expect(node.calls.filter(isWide)).toHaveLength(refused);
});

test('a refused header is no reason to ask for smaller ranges', async () => {
  const node = await nodeThat((call, reply) =>
    call.method === 'eth_getBlockByNumber' ? { error: { code: -32000, message: 'unknown block' } } : reply,
  );
  await expect(sourceOf(node).read(FROM, TO, filter, { freshStartsMax: 1 })).rejects.toThrow(ReadAbandoned);
  expect(node.calls.filter(({ method }) => method === 'eth_getLogs')).toHaveLength(1);
});
