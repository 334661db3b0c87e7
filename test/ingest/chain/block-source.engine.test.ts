import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ChainConfig } from '../../../core/config/chains.ts';
import { loadConfig } from '../../../core/config/load.ts';
import { type DemoChain, reorg, startAnvil, startDemoChain } from '../../../demo/chain/anvil.ts';
import { callBatch, MULTICALL3, mintUsdc, USDC } from '../../../demo/chain/deploy-usdc.ts';
import { authorizeWillingly, callTransferBytes } from '../../../demo/chain/payments.ts';
import { installWillingPayers } from '../../../demo/chain/permit2.ts';
import { mine, walletOf } from '../../../demo/chain/sender.ts';
import type { LogFilter } from '../../../ingest/chain/block-source.ts';
import {
  type ProviderContradiction,
  type RpcFailure,
  WrongChain,
} from '../../../ingest/chain/rpc/failure.ts';
import { createRpcSource, type RpcSourceDeps } from '../../../ingest/chain/source.ts';
import { TOPIC } from '../../../ingest/decode/log-kind.ts';
import { lengthOf } from '../../kit/lengths.ts';
import { type Lie, type LyingRpc, startLyingRpc } from '../../kit/lying-rpc.ts';
import { waitUntil } from '../../kit/wait-until.ts';
import { blockSourceContract, expectEqual, readTruth } from './block-source.ts';

const filter: LogFilter = {
  addresses: [USDC],
  topics: Object.values(TOPIC),
  isCandidate: ({ topics }) => topics[0] === TOPIC.authorizationUsed,
};
const willing = walletOf('willing payer').address;
const payee = walletOf('payee').address;
const relayers = ['relayer 1', 'relayer 2'].map((label) => walletOf(label).address);
/** Every bound short: the tests provoke each of them on purpose. */
const limits = { requestTimeoutMs: 400, backOffFirstMs: 1, backOffMaxMs: 20 };
/** A false answer that comes once must be read: a busy machine takes more than 400 ms for an answer. */
const PATIENT = { ...limits, requestTimeoutMs: 60_000 };
const FROM = 2;
const BLOCKS = 60;
const TO = FROM + BLOCKS - 1;

let chain: DemoChain;
const open: LyingRpc[] = [];

beforeAll(async () => {
  // Final two blocks below the head, so that a stale head can lie below its own finalised block.
  chain = await startDemoChain({ slotsInAnEpoch: 1 });
  await installWillingPayers(chain.rpc, [willing]);
  await mintUsdc(chain.sender, [{ to: willing, amount: 10n ** 12n }]);
  await mine(chain.rpc);
  for (let block = 1; block < BLOCKS; block++) {
    // A third of the blocks stays silent, the others hold one to four payments, some in one transaction.
    if (block % 3 !== 0) await pay(1 + (block % 4));
    await mine(chain.rpc);
  }
});
afterEach(async () => {
  for (const proxy of open.splice(0)) await proxy.stop();
});
afterAll(() => chain?.stop());

async function pay(count: number): Promise<void> {
  const calls = Array.from({ length: count }, () =>
    callTransferBytes(authorizeWillingly(willing, { to: payee, value: 5n })),
  );
  const [first = '0x', ...rest] = calls;
  const single = relayers.map((from) => ({ from, to: USDC, data: first }));
  await chain.sender.sendAll([
    ...single.slice(0, 1),
    ...(rest.length > 0
      ? [{ from: relayers[1] ?? willing, to: MULTICALL3, data: callBatch(USDC, rest) }]
      : []),
  ]);
}

function configOf(rpcUrls: readonly string[], overrides: Partial<ChainConfig> = {}): ChainConfig {
  const [config] = loadConfig({ env: { CHAINS: 'base-sepolia' } }).chains;
  if (config === undefined) throw new Error('Base Sepolia is built in');
  return { ...config, rpcUrls, requestsPerSecond: 100_000, ...overrides };
}

/** A source whose log lines are kept, so that a test can look for what must not be in them. */
function sourceOf(
  rpcUrls: readonly string[],
  overrides: Partial<ChainConfig> = {},
  deps: Partial<RpcSourceDeps> = {},
) {
  const lines: string[] = [];
  const heard: (RpcFailure | ProviderContradiction)[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
  const onRetry = (trouble: RpcFailure | ProviderContradiction): void => void heard.push(trouble);
  return {
    source: createRpcSource(configOf(rpcUrls, overrides), { log, onRetry, limits, ...deps }),
    lines,
    heard,
  };
}

async function liar(lie: Lie, maxTold: number): Promise<LyingRpc> {
  return lying({ [lie]: 1 }, { maxTold });
}

async function lying(
  probabilities: Partial<Record<Lie, number>>,
  options: { maxTold?: number; seed?: number } = {},
): Promise<LyingRpc> {
  const proxy = await startLyingRpc({
    target: chain.url,
    seed: options.seed ?? 7,
    probabilities,
    honestParentOf: FROM,
    ...options,
  });
  open.push(proxy);
  return proxy;
}

const truth = () => readTruth(chain.rpc, FROM, TO, filter);

describe('straight from the node', () => {
  blockSourceContract('over http', () => ({
    ...sourceOf([chain.url]),
    rpc: chain.rpc,
    filter,
    from: FROM,
    to: TO,
  }));
  blockSourceContract('over a websocket', () => ({
    ...sourceOf([chain.wsUrl]),
    rpc: chain.rpc,
    filter,
    from: FROM,
    to: TO,
  }));
  blockSourceContract('in windows of one block', () => ({
    ...sourceOf([chain.url], { logWindowMax: 1 }),
    rpc: chain.rpc,
    filter,
    from: FROM,
    to: TO,
  }));

  test('an honest node is never accused', async () => {
    const { source } = sourceOf([chain.url]);
    await source.read(FROM, TO, filter);
    expect(source.counters()).toMatchObject({ retries: 0, contradictions: 0 });
  });

  test('with completeness settlement-blocks only first, last and candidate blocks are read, and nothing of them is lost', async () => {
    const { source } = sourceOf([chain.url], { completeness: 'settlement-blocks' });
    const batch = await source.read(FROM, TO, filter);
    const whole = await truth();
    const candidates = whole.logs.filter((log) => filter.isCandidate(log));
    expect(batch.blocks[0]?.number).toBe(FROM);
    expect(batch.blocks.at(-1)?.number).toBe(TO);
    expect(batch.blocks.length).toBeLessThan(BLOCKS);
    expect(batch.logs.filter((log) => filter.isCandidate(log))).toEqual(candidates);
    expect(batch.transactions.size).toBe(whole.transactions.size);
  });

  test('asked for every header, completeness settlement-blocks leaves nothing out either', async () => {
    const { source } = sourceOf([chain.url], { completeness: 'settlement-blocks', logWindowMax: 20 });
    expectEqual(await source.read(FROM, TO, filter, { everyHeader: true }), await truth());
  });

  test('a reader gets the blocks that a reorg put in place of the old ones', async () => {
    const { source } = sourceOf([chain.url]);
    const before = await source.read(TO - 5, TO, filter);
    await reorg(chain, {
      depth: 4,
      blocks: 4,
      fill: async (position) => {
        if (position !== 1) await pay(2);
      },
    });
    const after = await source.read(TO - 5, TO, filter);
    expectEqual(after, await readTruth(chain.rpc, TO - 5, TO, filter));
    expect(after.blocks.at(-1)?.hash).not.toBe(before.blocks.at(-1)?.hash);
  });

  test('a range that the chain has not reached yet is answered when it has', async () => {
    const { source, heard } = sourceOf([chain.url]);
    const { head } = await source.tip();
    const reading = source.read(head.number, head.number + 1, filter);
    await waitUntil('the node was asked in vain', () => heard.some(({ kind }) => kind === 'absent'));
    await pay(1);
    await mine(chain.rpc);
    expectEqual(await reading, await readTruth(chain.rpc, head.number, head.number + 1, filter));
  });
});

describe('through a node that lies once and is honest after', () => {
  const contradictions: readonly (readonly [Lie, ProviderContradiction['kind']])[] = [
    ['empty-logs', 'missing-logs'],
    ['dropped-block', 'missing-logs'],
    ['cut-logs', 'missing-logs'],
    ['other-fork', 'wrong-fork'],
    ['duplicate-logs', 'duplicate-logs'],
    ['broken-link', 'broken-link'],
  ];
  test.each(contradictions)('%s is detected as %s, counted and survived', async (lie, kind) => {
    const proxy = await liar(lie, 1);
    const { source, heard } = sourceOf([proxy.url], {}, { limits: PATIENT });
    expectEqual(await source.read(FROM, TO, filter), await truth());
    expect(proxy.told[lie]).toBe(1);
    expect(heard.map((trouble) => trouble.kind)).toContain(kind);
    expect(source.counters().contradictions).toBeGreaterThan(0);
  });

  test.each(contradictions)(
    '%s is detected near the tip even with completeness settlement-blocks',
    async (lie, kind) => {
      const proxy = await liar(lie, 1);
      const { source, heard } = sourceOf(
        [proxy.url],
        { completeness: 'settlement-blocks' },
        { limits: PATIENT },
      );
      expectEqual(await source.read(FROM, TO, filter, { everyHeader: true }), await truth());
      expect(heard.map((trouble) => trouble.kind)).toContain(kind);
    },
  );

  test('logs withheld inside a block are noticed although the block has others', async () => {
    const crowded = (await truth()).logs.find(({ logIndex }) => logIndex >= 3)?.blockNumber ?? 0;
    const proxy = await liar('cut-logs', 1);
    const { source, heard } = sourceOf([proxy.url]);
    expectEqual(
      await source.read(crowded, crowded, filter),
      await readTruth(chain.rpc, crowded, crowded, filter),
    );
    expect(heard.map((trouble) => trouble.kind)).toEqual(['missing-logs']);
  });

  const failures: readonly (readonly [Lie, RpcFailure['kind']])[] = [
    ['rate-limited', 'busy'],
    ['server-error', 'unavailable'],
    ['truncated', 'unreadable'],
    ['hang', 'timeout'],
    ['too-many-results', 'too-large'],
  ];
  test.each(failures)('%s is met as %s, asked again and survived', async (lie, kind) => {
    const proxy = await liar(lie, 1);
    const { source, heard } = sourceOf([proxy.url]);
    expectEqual(await source.read(FROM, TO, filter), await truth());
    expect(proxy.told[lie]).toBe(1);
    expect(heard.map((trouble) => trouble.kind)).toContain(kind);
    expect(source.counters().contradictions).toBe(0);
  });
});

describe('through a node that lies all the time', () => {
  /** Everything at once, but for what changes the tip: the contract asks for that one exactly. */
  const everything: Partial<Record<Lie, number>> = {
    'rate-limited': 0.1,
    'server-error': 0.1,
    truncated: 0.1,
    hang: 0.03,
    'empty-logs': 0.2,
    'other-fork': 0.2,
    'duplicate-logs': 0.2,
    'dropped-block': 0.2,
    'cut-logs': 0.2,
    'too-many-results': 0.2,
    'broken-link': 0.01,
  };
  let proxy: LyingRpc;
  beforeAll(async () => {
    proxy = await startLyingRpc({ target: chain.url, seed: 20, probabilities: everything });
  });
  afterAll(() => proxy?.stop());

  blockSourceContract('every lie at once', () => ({
    ...sourceOf([proxy.url]),
    rpc: chain.rpc,
    filter,
    from: FROM,
    to: TO,
  }));

  test.each([1, 2, 3, 4, 5].slice(0, lengthOf('liarSeeds')))(
    'with seed %i the whole range is the truth in the end',
    async (seed) => {
      const seeded = await lying(everything, { seed });
      const { source } = sourceOf([seeded.url], { logWindowMax: 20 });
      expectEqual(await source.read(FROM, TO, filter), await truth());
      expect(Object.values(seeded.told).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
    },
  );

  test('a node that takes one block per eth_getLogs only is read block by block, and its limit is learned', async () => {
    const strict = await lying({ 'too-many-results': 1 });
    const { source } = sourceOf([strict.url]);
    expectEqual(await source.read(FROM, TO, filter), await truth());
    const first = strict.told['too-many-results'];
    await source.read(FROM, TO, filter);
    expect(strict.told['too-many-results']).toBe(first);
  });

  test('a node that always withholds logs is caught each time, and the next URL gives them', async () => {
    const thief = await lying({ 'empty-logs': 1 });
    const { source } = sourceOf([thief.url, chain.url]);
    expectEqual(await source.read(FROM, TO, filter), await truth());
    expect(source.counters().contradictions).toBeGreaterThan(0);
  });

  test('a node that never answers costs a bounded time, then the next URL is asked', async () => {
    const silent = await lying({ hang: 1 });
    const { source } = sourceOf([silent.url, chain.url]);
    const startedMs = performance.now();
    expectEqual(await source.read(FROM, TO, filter), await truth());
    expect(performance.now() - startedMs).toBeLessThan(10 * limits.requestTimeoutMs);
  });

  test('an abort ends a read at once, however long the node stays silent', async () => {
    const silent = await lying({ hang: 1 });
    const ending = new AbortController();
    const { source } = sourceOf(
      [silent.url],
      {},
      { signal: ending.signal, limits: { requestTimeoutMs: 60_000 } },
    );
    const reading = source.read(FROM, TO, filter);
    await waitUntil('the node is silent', () => silent.told.hang > 0);
    ending.abort(new Error('the program ends'));
    await expect(reading).rejects.toThrow('the program ends');
  });

  test('a stale head is never below its own finalised block', async () => {
    const stale = await lying({ 'stale-head': 1 });
    const { source } = sourceOf([stale.url], { finalityDepth: 2 });
    for (let round = 0; round < 12; round++) {
      const { head, finalized } = await source.tip();
      expect(finalized.number).toBeLessThanOrEqual(head.number);
    }
    expect(stale.told['stale-head']).toBe(12);
  });

  test('without the tag `finalized` the configured depth decides', async () => {
    const old = await lying({ 'no-finalized-tag': 1 });
    const { source } = sourceOf([old.url], { finalityDepth: 10 });
    const { head, finalized } = await source.tip();
    expect(finalized).toEqual(await source.blockAt(head.number - 10));
    expect(old.told['no-finalized-tag']).toBe(1);
  });
});

describe('the configured URLs', () => {
  test('a URL of another chain is refused with both chain ids and without its path', async () => {
    const proxy = await lying({});
    const { source } = sourceOf([`${proxy.url}/key-of-mine`], {
      chain: 'eip155:8453',
    });
    const reading = source.read(FROM, TO, filter);
    await expect(reading).rejects.toThrow(WrongChain);
    await expect(reading).rejects.toThrow(/127\.0\.0\.1:\d+ serves eip155:84532/);
    await expect(reading).rejects.not.toThrow(/key-of-mine/);
  });

  test('a URL of another chain is passed over when another URL is right', async () => {
    const other = await startAnvil({ chainId: 1 });
    try {
      const { source, lines } = sourceOf([other.url, chain.url]);
      expectEqual(await source.read(FROM, TO, filter), await truth());
      expect(lines.join()).toContain('serves another chain');
    } finally {
      await other.stop();
    }
  });

  test('no log line and no error shows more of a URL than its host', async () => {
    const nobody = 'http://user-of-mine:password-of-mine@127.0.0.1:1/key-of-mine?token=token-of-mine';
    const busy = await lying({ 'server-error': 0.3, truncated: 0.2, 'empty-logs': 0.3, hang: 0.1 });
    const { source, lines, heard } = sourceOf([
      nobody,
      `${busy.url}/key-of-mine`,
      `ws://127.0.0.1:1/key-of-mine`,
    ]);
    expectEqual(await source.read(FROM, TO, filter), await truth());
    const written =
      lines.join() + heard.map(({ message, stack, cause }) => `${message}${stack}${String(cause)}`).join();
    expect(written).not.toMatch(/of-mine/);
    expect(lines.join()).toContain('"provider":"127.0.0.1:1"');
  });

  test('never more calls per second are sent than configured', async () => {
    const counted = await lying({});
    const { source } = sourceOf([counted.url], { requestsPerSecond: 20 });
    const startedMs = performance.now();
    await source.read(FROM, TO, filter);
    const elapsedMs = performance.now() - startedMs;
    expect(counted.calls()).toBeGreaterThan(BLOCKS);
    // The last of the exchanges, the smaller one of full blocks and headers, waits for all places before it.
    expect(elapsedMs).toBeGreaterThanOrEqual((BLOCKS / 3 / 20) * 1_000);
  });
});
