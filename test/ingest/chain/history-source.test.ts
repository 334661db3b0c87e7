import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Hash } from '../../../core/domain/account.ts';
import {
  type BlockBatch,
  type BlockSource,
  type LogFilter,
  ReadAbandoned,
} from '../../../ingest/chain/block-source.ts';
import { createHistorySource } from '../../../ingest/chain/history-source.ts';
import type { PortalSource } from '../../../ingest/chain/portal/source.ts';
import { RpcFailure } from '../../../ingest/chain/rpc/failure.ts';

const hashOf = (number: number, fork = '0'): Hash => `0x${fork}${String(number).padStart(63, '0')}` as Hash; // 64 digits
const filter: LogFilter = { addresses: [], topics: [], isCandidate: () => false };
const none = { calls: 1, retries: 2, contradictions: 3, contradictedAtMs: 4 };
const REST_MS = 1_000;

function batchOf(from: number, to: number, fork?: string): BlockBatch {
  const last = { number: to, hash: hashOf(to, fork), parentHash: hashOf(to - 1, fork), time: to };
  return { from, to, blocks: [last], logs: [], transactions: new Map() };
}

/** Two sources whose reads are counted; the Portal fails as long as it is told to. */
function world() {
  const state = { trouble: null as Error | null, fork: '0', finalized: 1_000, nowMs: 0 };
  const reads = { portal: 0, rpc: 0 };
  const lines: { level: number; msg: string }[] = [];
  const portal: PortalSource = {
    tip: () => Promise.reject(new Error('not asked')),
    blockAt: () => Promise.reject(new Error('not asked')),
    counters: () => none,
    finalizedAtLeast: async () => {
      if (state.trouble instanceof RpcFailure) throw state.trouble;
      return state.finalized;
    },
    async read(from, to) {
      reads.portal++;
      if (state.trouble !== null) throw state.trouble;
      return batchOf(from, to, state.fork);
    },
  };
  const rpc = {
    counters: () => none,
    blockAt: async (number: number) => ({
      number,
      hash: hashOf(number),
      parentHash: hashOf(number - 1),
      time: number,
    }),
    async read(from: number, to: number) {
      reads.rpc++;
      return batchOf(from, to);
    },
  } as unknown as BlockSource; // the methods that are called
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const rests = { firstMs: REST_MS, maxMs: 4 * REST_MS };
  const source = createHistorySource({ portal, rpc, log, nowMs: () => state.nowMs, rests });
  const read = async (options = {}) => (await source.read(1, 10, filter, options)).readFrom;
  return { state, reads, lines, source, read };
}

test('final blocks come from the Portal, and say so', async () => {
  const { read, reads } = world();
  expect(await read()).toBe('portal');
  expect(reads).toEqual({ portal: 1, rpc: 0 });
});

test('blocks near the tip, and above what the Portal has, are read over JSON-RPC without a word', async () => {
  const { state, read, reads, lines } = world();
  expect(await read({ everyHeader: true })).toBe('rpc');
  state.finalized = 9;
  expect(await read()).toBe('rpc');
  state.finalized = 10;
  expect(await read()).toBe('portal');
  expect(reads).toEqual({ portal: 1, rpc: 2 });
  expect(lines).toEqual([]);
});

test.each([
  ['refuses', new RpcFailure('busy', 'HTTP status 429')],
  ['gives ranges that are not whole', new ReadAbandoned(1, 10, new RpcFailure('timeout', 'no answer'))],
])(
  'a Portal that %s is left alone, longer each time, with one warning until it gives blocks again',
  async (_, trouble) => {
    const { state, read, lines } = world();
    state.trouble = trouble;
    for (const pauseMs of [1, 2, 4, 4]) {
      expect(await read()).toBe('rpc');
      state.trouble = null;
      state.nowMs += pauseMs * REST_MS - 1;
      expect(await read()).toBe('rpc');
      state.nowMs += 1;
      state.trouble = trouble;
    }
    state.trouble = null;
    expect(await read()).toBe('portal');
    expect(lines.map(({ level }) => level)).toEqual([40, 30]);
  },
);

test('a Portal is not asked before the time that it named', async () => {
  const { state, read } = world();
  state.trouble = new RpcFailure('busy', 'HTTP status 429', 3 * REST_MS);
  expect(await read()).toBe('rpc');
  state.trouble = null;
  state.nowMs = 3 * REST_MS - 1;
  expect(await read()).toBe('rpc');
  state.nowMs = 3 * REST_MS;
  expect(await read()).toBe('portal');
});

test('blocks of another chain or of an undone fork are not believed, whatever links them', async () => {
  const { state, read, lines } = world();
  state.fork = 'f';
  expect(await read()).toBe('rpc');
  expect(lines).toHaveLength(1);
});

test('an error that is no trouble of the Portal is not swallowed', async () => {
  const { state, read } = world();
  state.trouble = new TypeError('a bug');
  await expect(read()).rejects.toThrow('a bug');
});

test('the figures of both sources are one', () => {
  expect(world().source.counters()).toEqual({ calls: 2, retries: 4, contradictions: 6, contradictedAtMs: 4 });
});
