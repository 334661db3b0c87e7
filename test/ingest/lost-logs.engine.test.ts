import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { sql } from '../../clickhouse/engine/sql.ts';
import type { ChainConfig } from '../../core/config/chains.ts';
import { loadConfig } from '../../core/config/load.ts';
import { createLog } from '../../core/log.ts';
import { REVERSE_TOKEN } from '../../demo/chain/permit2.ts';
import { createRpcSource } from '../../ingest/chain/source.ts';
import { decodeContextOf } from '../../ingest/decode/context.ts';
import { TOPIC } from '../../ingest/decode/log-kind.ts';
import { createReceiptComparison } from '../../ingest/fees/compare-receipts.ts';
import { readFees } from '../../ingest/fees/read.ts';
import { createChainStatus } from '../../ingest/follow/chain-status.ts';
import { createEvmWindows } from '../../ingest/follow/evm-windows.ts';
import { createPipeline } from '../../ingest/follow/pipeline.ts';
import { createRepair, retryDeadLetters } from '../../ingest/follow/repair.ts';
import { createCatalogueHolder } from '../../ingest/grading/catalogue.ts';
import { createBatchWriter } from '../../ingest/write/batch-writer.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { emptyTables } from '../kit/empty-tables.ts';
import { type TestEngine, testEngine } from '../kit/engine.ts';
import { lengthOf } from '../kit/lengths.ts';
import { oracle } from '../kit/oracle/oracle.ts';
import { catalogueWith } from '../kit/regrade-world.ts';
import { nextVer } from '../kit/rows.ts';
import { startTruthWorld, type TruthWorld } from '../kit/truth-world.ts';
import { waitUntil } from '../kit/wait-until.ts';
import { type Call, type Reply, startRewritingNode } from './chain/rewriting-node.ts';

/**
 * From a real node's answers to rows in a real engine, with one lie about any log, by any method, once or for a while: nothing is
 * lost, nothing is too much.
 */

const BLOCKS = 24;
const WINDOW_BLOCKS = 9;
const LIMITS = { requestTimeoutMs: 2_000, backOffFirstMs: 1, backOffMaxMs: 5 };
const FEE_LIMITS = { pollMs: 10, retryMs: 10, blockRetryMs: 20 };
const RETRY_LIMITS = { pollMs: 10, firstRetryMs: 20 };
const CHAIN = 'eip155:84532' as const;
const NOWHERE = `0x${'ba5eba11'.repeat(8)}`;

interface WireLog {
  readonly blockNumber: string;
  readonly logIndex: string;
  readonly address: string;
  readonly topics: readonly string[];
  readonly transactionHash: string;
}

type Way = 'range' | 'hash' | 'receipts';

const WAYS: readonly Way[] = ['range', 'hash', 'receipts'];

function wayOf({ method, params }: Call): Way | null {
  if (method === 'eth_getBlockReceipts' || method === 'eth_getTransactionReceipt') return 'receipts';
  if (method !== 'eth_getLogs') return null;
  return JSON.stringify(params).includes('blockHash') ? 'hash' : 'range';
}

const isAt =
  (victims: readonly WireLog[]) =>
  (log: WireLog): boolean =>
    victims.some((one) => one.blockNumber === log.blockNumber && one.logIndex === log.logIndex);

/** What each lie makes of a list of logs; `victims` are at most two logs of one block. */
const LIES: Readonly<Record<string, (logs: WireLog[], victims: readonly WireLog[]) => unknown[]>> = {
  'a log left out': (logs, victims) => logs.filter((log) => !isAt(victims.slice(0, 1))(log)),
  'two logs left out': (logs, victims) => logs.filter((log) => !isAt(victims)(log)),
  'a log twice': (logs, victims) => [...logs, ...logs.filter(isAt(victims))],
  'a log at another place': (logs, victims) =>
    logs.map((log) => (isAt(victims.slice(0, 1))(log) ? { ...log, logIndex: '0x4d2' } : log)),
  'logs out of order': (logs, victims) => (logs.some(isAt(victims)) ? [...logs].reverse() : logs),
  'a log of another block': (logs, victims) =>
    logs.map((log) => (isAt(victims)(log) ? { ...log, blockHash: NOWHERE } : log)),
  'a log marked as undone': (logs, victims) =>
    logs.map((log) => (isAt(victims)(log) ? { ...log, removed: true } : log)),
  'every log marked as undone': (logs) => logs.map((log) => ({ ...log, removed: true })),
  'an undone log besides': (logs, victims) => [
    ...logs,
    ...logs.filter(isAt(victims)).map((log) => ({ ...log, blockHash: NOWHERE, removed: true })),
  ],
};

interface Told {
  readonly lie: string;
  readonly ways: readonly Way[];
  /** How many answers of each way. */
  readonly times: number;
  /** Which log of the chain; the second one is the next of its block, if there is one. */
  readonly victim: number;
}

let engine: TestEngine;
let world: TruthWorld;
let config: ChainConfig;
let head: number;
let logs: WireLog[];
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  [engine, world] = await Promise.all([testEngine(), startTruthWorld(40)]);
  await world.grow(BLOCKS);
  const [loaded] = loadConfig({ env: { CHAINS: 'base-sepolia' } }).chains;
  const [token] = loaded?.tokens ?? [];
  if (loaded === undefined || token === undefined) throw new Error('Base Sepolia is built in');
  config = {
    ...loaded,
    tokens: [...loaded.tokens, { ...token, address: REVERSE_TOKEN, symbol: 'RUSD' }],
    requestsPerSecond: 100_000,
  };
  head = Number(await world.chain.rpc.call<string>('eth_blockNumber'));
  logs = await world.chain.rpc.call<WireLog[]>('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' });
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});
afterAll(async () => {
  await world?.stop();
  await engine?.close();
});

/** The node with one lie, which it tells while it `isLying`; `receipts: null` is a lie about no log. */
async function nodeThat({ lie, ways, times, victim }: Told, isLying: () => boolean = () => true) {
  const first = logs[victim % logs.length];
  const next = logs[(victim % logs.length) + 1];
  const victims = [first, next].filter(
    (log): log is WireLog => log !== undefined && log.blockNumber === first?.blockNumber,
  );
  const left = new Map<Way, number>(ways.map((way) => [way, times]));
  const tell = LIES[lie] ?? ((all: WireLog[]): unknown[] => all);
  return startRewritingNode(world.chain.url, (call, reply) => {
    const way = isLying() ? wayOf(call) : null;
    const leftOfWay = way === null ? 0 : (left.get(way) ?? 0);
    if (way === null || leftOfWay === 0 || reply.result === null || reply.result === undefined) return reply;
    const changed =
      lie === 'no receipts' && way === 'receipts'
        ? { result: null }
        : { result: distorted(way, reply, (all) => tell(all, victims)) };
    if (JSON.stringify(changed.result) === JSON.stringify(reply.result)) return reply;
    left.set(way, leftOfWay - 1);
    return changed;
  });
}

function distorted(way: Way, { result }: Reply, tell: (logs: WireLog[]) => unknown[]): unknown {
  if (way !== 'receipts') return tell(result as WireLog[]); // eth_getLogs answers a list
  const within = (receipt: { logs: WireLog[] }) => ({ ...receipt, logs: tell(receipt.logs) });
  return Array.isArray(result) ? result.map(within) : within(result as { logs: WireLog[] }); // as above
}

async function stored(): Promise<string[]> {
  const { rows } = await engine.reader.rows({
    name: 'test-rows',
    maxSeconds: 10,
    maxRows: 10_000,
    sql: sql`SELECT concat(toString(block_number), '/', toString(log_index), '/0x', lower(hex(payer)), '/0x', lower(hex(payee)), '/', toString(amount))
      FROM settlements FINAL WHERE chain = 'eip155:84532' AND del = 0
      UNION ALL SELECT concat('dead letter ', toString(block_number)) FROM dead_letters FINAL WHERE del = 0`,
  });
  return rows.map(([row]) => String(row)).sort();
}

async function truth(): Promise<string[]> {
  const rows = await oracle.settlements.ofChain(world.chain.rpc, world.catalogue);
  return rows
    .map((row) => `${row.block_number}/${row.log_index}/${row.payer}/${row.payee}/${row.amount}`)
    .sort();
}

/** Reads the chain through the node, window by window. `follow` starts passes that run until `end`. */
async function index(url: string, changes: Partial<ChainConfig> = {}) {
  const stopping = new AbortController();
  const deps = { log: createLog('silent', 'test'), signal: stopping.signal };
  const own = { ...deps, config, writer: engine.writer, versions: createVersions(nextVer()) };
  const source = createRpcSource({ ...config, ...changes, rpcUrls: [url] }, { ...deps, limits: LIMITS });
  const catalogues = createCatalogueHolder(
    catalogueWith({
      payees: world.catalogue.payees.map((payee) => ({
        chain: CHAIN,
        address: payee as (typeof config.tokens)[number]['address'], // an address of the world
        name: '',
        resource: '',
      })),
    }),
  );
  const status = createChainStatus(config, source, { ...NO_COUNTERS, finalizedBlock: head });
  const context = decodeContextOf(config, catalogues.current());
  const windows = createEvmWindows({ ...own, source, context });
  const batches = createBatchWriter({ ...own, chain: CHAIN });
  const pipeline = createPipeline({ ...own, windows, catalogues, batches, status });
  for (let from = 0; from <= head; from += WINDOW_BLOCKS)
    await pipeline.store(await pipeline.read(from, Math.min(head, from + WINDOW_BLOCKS - 1)));
  const again = { ...own, source, windows, catalogues, status };
  const repair = createRepair(again);
  const comparison = createReceiptComparison({ ...again, context, repair });
  const running: Promise<void>[] = [];
  return {
    follow(passes: readonly ('fees' | 'dead letters')[]): void {
      if (passes.includes('fees')) running.push(readFees({ ...again, comparison, limits: FEE_LIMITS }));
      if (passes.includes('dead letters'))
        running.push(retryDeadLetters({ ...again, repair, limits: RETRY_LIMITS }));
      for (const pass of running) pass.catch(() => undefined); // `end` awaits it
    },
    async end(): Promise<void> {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

const NO_COUNTERS = {
  rowsWritten: 0,
  reorgs: 0,
  deepestReorg: 0,
  retries: 0,
  contradictions: 0,
  deadLetters: 0,
  lastWrittenAt: 0,
  indexedBlock: 0,
  indexedTime: 0,
  finalizedBlock: 0,
};

async function expectNothingLost(told: Told, expected: readonly string[]): Promise<void> {
  await emptyTables(engine.writer);
  const node = await nodeThat(told);
  try {
    const indexed = await index(node.url);
    indexed.follow(['fees', 'dead letters']);
    const isTrue = async (): Promise<boolean> => JSON.stringify(await stored()) === JSON.stringify(expected);
    await waitUntil('the rows equal the chain', isTrue).finally(() => indexed.end());
  } catch (error) {
    expect(await stored(), JSON.stringify(told)).toEqual(expected); // says which rows
    throw error;
  } finally {
    await node.stop();
  }
}

const anyLie: fc.Arbitrary<Told> = fc.record({
  lie: fc.constantFrom(...Object.keys(LIES), 'no receipts', 'a log left out', 'a log left out'),
  ways: fc.subarray([...WAYS], { minLength: 1 }),
  times: fc.constantFrom(1, 4, 25),
  victim: fc.nat(),
});

test('whatever a node says wrongly of any log, once or for a while, the rows equal the chain', async () => {
  const expected = await truth();
  expect(expected.length).toBeGreaterThan(BLOCKS);
  await fc.assert(
    fc.asyncProperty(anyLie, (told) => expectNothingLost(told, expected)),
    {
      numRuns: lengthOf('lostLogs'),
    },
  );
}, 600_000);

/** With `settlement-blocks` the backfill trusts the range answer: only the steps below find a lost log then. */
const TRUSTING = { completeness: 'settlement-blocks' } as const;
const FOR_EVER = Number.POSITIVE_INFINITY;

/**
 * The place in the chain of a log of a payment with an authorization; `authorizations` belong to its transaction. The payee is not
 * catalogued: a transfer to one that is counts without an authorization too.
 */
function placeOfPayment(part: 'authorization' | 'transfer', authorizations: 'one' | 'several'): number {
  const at = logs.findIndex((log, place) => {
    const next = logs[place + 1];
    const ofTransaction = logs.filter(({ transactionHash }) => transactionHash === log.transactionHash);
    const count = ofTransaction.filter(({ topics }) => topics[0] === TOPIC.authorizationUsed).length;
    return (
      log.topics[0] === TOPIC.authorizationUsed &&
      next?.topics[0] === TOPIC.transfer &&
      next.transactionHash === log.transactionHash &&
      !world.catalogue.payees.some((payee) => next.topics[2]?.endsWith(payee.slice(2)) === true) &&
      (authorizations === 'one' ? count === 1 : count > 1)
    );
  });
  if (at < 0) throw new Error('the world has no such payment');
  return part === 'transfer' ? at + 1 : at;
}

test('a transfer that range answers leave out is in the receipt of its authorization, and never a dead letter', async () => {
  await emptyTables(engine.writer);
  const victim = placeOfPayment('transfer', 'one');
  const node = await nodeThat({ lie: 'a log left out', ways: ['range'], times: FOR_EVER, victim });
  ends.push(() => node.stop());
  const indexed = await index(node.url, TRUSTING);
  ends.push(() => indexed.end());
  expect(await stored()).toEqual(await truth());
  expect(node.calls.filter(({ method }) => method === 'eth_getBlockReceipts')).toEqual([]);
});

test('a dead letter becomes a payment once the node shows its transfer', async () => {
  await emptyTables(engine.writer);
  const victim = placeOfPayment('transfer', 'one');
  let isLying = true;
  const node = await nodeThat({ lie: 'a log left out', ways: WAYS, times: FOR_EVER, victim }, () => isLying);
  ends.push(() => node.stop());
  const indexed = await index(node.url, TRUSTING);
  ends.push(() => indexed.end());
  expect(await stored()).toContain(`dead letter ${Number(logs[victim]?.blockNumber)}`);
  isLying = false;
  indexed.follow(['dead letters']);
  const expected = JSON.stringify(await truth());
  await waitUntil('the rows equal the chain', async () => JSON.stringify(await stored()) === expected);
});

test('a payment that leaves no trace in range answers is in the receipts that are read for the fees of others', async () => {
  await emptyTables(engine.writer);
  const victim = placeOfPayment('authorization', 'several');
  const node = await nodeThat({ lie: 'a log left out', ways: ['range'], times: FOR_EVER, victim });
  ends.push(() => node.stop());
  const indexed = await index(node.url, TRUSTING);
  ends.push(() => indexed.end());
  const expected = await truth();
  const lost = expected.filter((row) => row.startsWith(placeIn(logs[victim + 1])));
  expect(lost).toHaveLength(1);
  expect(await stored()).toEqual(expected.filter((row) => !lost.includes(row)));
  indexed.follow(['fees']);
  await waitUntil(
    'the rows equal the chain',
    async () => JSON.stringify(await stored()) === JSON.stringify(expected),
  );
});

function placeIn(log: WireLog | undefined): string {
  return `${Number(log?.blockNumber)}/${Number(log?.logIndex)}/`;
}
