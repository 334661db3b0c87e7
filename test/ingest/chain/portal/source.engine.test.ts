import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type DemoChain, reorg, startDemoChain } from '../../../../demo/chain/anvil.ts';
import { callBatch, MULTICALL3, mintUsdc, USDC } from '../../../../demo/chain/deploy-usdc.ts';
import { authorizeWillingly, callTransferBytes } from '../../../../demo/chain/payments.ts';
import { installWillingPayers } from '../../../../demo/chain/permit2.ts';
import { mine, walletOf } from '../../../../demo/chain/sender.ts';
import { type LogFilter, ReadAbandoned } from '../../../../ingest/chain/block-source.ts';
import type { PortalSourceDeps } from '../../../../ingest/chain/portal/open.ts';
import { createPortalSource, type PortalConfig } from '../../../../ingest/chain/portal/source.ts';
import type { ProviderContradiction, RpcFailure } from '../../../../ingest/chain/rpc/failure.ts';
import { createRateLimit, limitPerUrl } from '../../../../ingest/chain/rpc/limits.ts';
import { TOPIC } from '../../../../ingest/decode/log-kind.ts';
import { lengthOf } from '../../../kit/lengths.ts';
import {
  type LyingPortal,
  type LyingPortalOptions,
  PORTAL_FAILURES,
  type PortalLie,
  startLyingPortal,
} from '../../../kit/lying-portal.ts';
import { readReceipts } from '../../../kit/oracle/receipts.ts';
import { waitUntil } from '../../../kit/wait-until.ts';
import { blockReaderContract, expectEqual, readTruth } from '../block-source.ts';

const filter: LogFilter = {
  addresses: [USDC],
  topics: Object.values(TOPIC),
  alwaysCandidates: [TOPIC.authorizationUsed],
  isCandidate: ({ topics }) => topics[0] === TOPIC.authorizationUsed,
};
/** Every log is a candidate, none of them always: the transactions come with a request of their own. */
const asking: LogFilter = { ...filter, alwaysCandidates: [], isCandidate: () => true };
const willing = walletOf('willing payer').address;
const payee = walletOf('payee').address;
const relayers = ['relayer 1', 'relayer 2'].map((label) => walletOf(label).address);
const limits = { backOffFirstMs: 1, backOffMaxMs: 20, lineBytesMax: 1_000_000 };
const FROM = 2;
const BLOCKS = 60;
const TO = FROM + BLOCKS - 1;

let chain: DemoChain;
const open: LyingPortal[] = [];

beforeAll(async () => {
  chain = await startDemoChain({ slotsInAnEpoch: 1 });
  await installWillingPayers(chain.rpc, [willing]);
  await mintUsdc(chain.sender, [{ to: willing, amount: 10n ** 12n }]);
  await mine(chain.rpc);
  for (let block = 1; block < BLOCKS; block++) {
    if (block % 3 !== 0) await pay(1 + (block % 4));
    await mine(chain.rpc);
  }
});
afterEach(async () => {
  for (const portal of open.splice(0)) await portal.stop();
});
afterAll(() => chain?.stop());

async function pay(count: number): Promise<void> {
  const calls = Array.from({ length: count }, () =>
    callTransferBytes(authorizeWillingly(willing, { to: payee, value: 5n })),
  );
  const [first = '0x', ...rest] = calls;
  await chain.sender.sendAll([
    ...relayers.slice(0, 1).map((from) => ({ from, to: USDC, data: first })),
    ...(rest.length > 0
      ? [{ from: relayers[1] ?? willing, to: MULTICALL3, data: callBatch(USDC, rest) }]
      : []),
  ]);
}

async function portalOf(options: Partial<LyingPortalOptions> = {}): Promise<LyingPortal> {
  const portal = await startLyingPortal({ rpc: chain.rpc, ...options });
  open.push(portal);
  return portal;
}

function sourceOf(
  portal: Pick<LyingPortal, 'url'>,
  overrides: Partial<PortalConfig> = {},
  deps: Partial<PortalSourceDeps> = {},
) {
  const lines: string[] = [];
  const heard: (RpcFailure | ProviderContradiction)[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
  const config: PortalConfig = {
    portalUrl: portal.url,
    dataset: 'base-sepolia',
    requestsPer10Seconds: 1_000_000,
    completeness: 'every-block',
    finalityDepth: 2,
    ...overrides,
  };
  const source = createPortalSource(config, {
    log,
    limits,
    onRetry: (trouble) => void heard.push(trouble),
    ...deps,
  });
  return { source, lines, heard };
}

const truth = (by = filter) => readTruth(chain.rpc, FROM, TO, by);

describe('straight from an honest Portal', () => {
  let honest: LyingPortal;
  let early: LyingPortal;
  beforeAll(async () => {
    honest = await startLyingPortal({ rpc: chain.rpc });
    early = await startLyingPortal({ rpc: chain.rpc, blocksPerAnswer: 7, isPlain: true });
  });
  afterAll(() => Promise.all([honest?.stop(), early?.stop()]));
  const under = { filter, from: FROM, to: TO };

  blockReaderContract('in one answer', () => ({ ...sourceOf(honest), rpc: chain.rpc, ...under }));
  blockReaderContract('in answers of seven blocks, without compression', () => ({
    ...sourceOf(early),
    rpc: chain.rpc,
    ...under,
  }));
  blockReaderContract('with transactions that must be asked for', () => ({
    ...sourceOf(honest),
    rpc: chain.rpc,
    ...under,
    filter: asking,
  }));

  test('an honest Portal is never accused, and a whole range is two requests', async () => {
    const portal = await portalOf();
    const { source } = sourceOf(portal);
    await source.read(FROM, TO, filter);
    expect(source.counters()).toMatchObject({ calls: 2, retries: 0, contradictions: 0 });
  });

  test('final blocks are read from the stream that never changes', async () => {
    const portal = await portalOf();
    const { source } = sourceOf(portal);
    expect(await source.finalizedAtLeast(TO - 2)).toBeGreaterThanOrEqual(TO - 2);
    await source.read(FROM, TO - 2, filter);
    expect(new Set(portal.asked.map(({ path }) => path))).toEqual(new Set(['finalized-stream']));
  });

  test('the transactions come with what their receipts say that they cost', async () => {
    const { source } = sourceOf(honest);
    const { costs, transactions } = await source.read(FROM, TO, filter);
    const receipts = new Map(
      (await readReceipts(chain.rpc, FROM, TO)).map((receipt) => [receipt.transactionHash, receipt]),
    );
    expect(costs?.size).toBe(transactions.size);
    for (const [hash, cost] of costs ?? []) {
      const receipt = receipts.get(hash) as unknown as Record<string, string>; // anvil's own answer
      expect(cost).toEqual({
        transactionHash: hash,
        gasUsed: Number(receipt['gasUsed']),
        gasPrice: BigInt(receipt['effectiveGasPrice'] ?? 0),
        l1Fee: 0n,
      });
    }
  });

  test('with completeness settlement-blocks nothing is proved, and nothing of the settlements is lost', async () => {
    const portal = await portalOf({ blocksPerAnswer: 25 });
    const { source } = sourceOf(portal, { completeness: 'settlement-blocks' });
    const batch = await source.read(FROM, TO, filter);
    const whole = await truth();
    expect(batch.logs).toEqual(whole.logs);
    expect(batch.transactions).toEqual(whole.transactions);
    expect(batch.blocks[0]?.number).toBe(FROM);
    expect(batch.blocks.at(-1)?.number).toBe(TO);
    expect(batch.blocks.length).toBeLessThan(BLOCKS);
    expect(portal.asked).toHaveLength(3);
  });

  test('a range that the chain has not reached yet is answered when it has', async () => {
    const portal = await portalOf();
    const { source, heard } = sourceOf(portal);
    const { head } = await source.tip();
    const reading = source.read(head.number, head.number + 1, filter);
    await waitUntil('the Portal was asked in vain', () => heard.some(({ kind }) => kind === 'absent'));
    await pay(1);
    await mine(chain.rpc);
    expectEqual(await reading, await readTruth(chain.rpc, head.number, head.number + 1, filter));
  });

  test('a reorg during a read is answered with 409, and the read goes on from the common ancestor', async () => {
    const { head } = await sourceOf(honest).source.tip();
    const from = head.number - 20;
    const portal = await portalOf({
      // The first answer ends above the blocks that are undone before the second.
      blocksPerAnswer: 18,
      onStream: async (nth) => {
        if (nth !== 2) return;
        await reorg(chain, {
          depth: 5,
          blocks: 6,
          fill: async (position) => {
            if (position !== 1) await pay(2);
          },
        });
      },
    });
    const { source, heard } = sourceOf(portal);
    const batch = await source.read(from, head.number, filter);
    expectEqual(batch, await readTruth(chain.rpc, from, head.number, filter));
    expect(portal.forks()).toBeGreaterThan(0);
    expect(heard.map(({ kind }) => kind)).not.toContain('broken-link');
  });

  test('chains that share a Portal stay below its limit together', async () => {
    const portal = await portalOf({ blocksPerAnswer: 5 });
    const rateLimitOf = limitPerUrl((_url, perSecond) => createRateLimit(perSecond));
    const chains = ['base-mainnet', 'polygon-mainnet'].map((dataset) =>
      sourceOf(portal, { dataset, requestsPer10Seconds: 200 }, { rateLimitOf }),
    );
    await Promise.all(chains.map(({ source }) => source.read(FROM, TO - 5, filter)));
    const { requestedMs } = portal;
    expect(requestedMs.length).toBeGreaterThan(40);
    // The permitted 200 in ten seconds are 20 a second. A request that is on its way a little longer is followed closer by the next.
    const mostInSecond = Math.max(
      ...requestedMs.map(
        (atMs) => requestedMs.filter((other) => other >= atMs && other < atMs + 1_000).length,
      ),
    );
    expect(mostInSecond).toBeLessThanOrEqual(22);
  });
});

describe('through a Portal that lies once and is honest after', () => {
  const contradictions: readonly (readonly [PortalLie, ProviderContradiction['kind']])[] = [
    ['dropped-logs', 'missing-logs'],
    ['cut-logs', 'missing-logs'],
    ['duplicate-logs', 'duplicate-logs'],
    ['foreign-log', 'foreign-log'],
    ['broken-link', 'broken-link'],
    ['wrong-order', 'wrong-block'],
    ['skipped-block', 'wrong-block'],
    ['malformed', 'malformed'],
  ];
  test.each(contradictions)('%s is detected as %s, counted and survived', async (lie, kind) => {
    const portal = await portalOf({ probabilities: { [lie]: 1 }, maxTold: 1 });
    const { source, heard } = sourceOf(portal);
    expectEqual(await source.read(FROM, TO, filter), await truth());
    expect(portal.told[lie]).toBe(1);
    expect(heard.map((trouble) => trouble.kind)).toContain(kind);
    expect(source.counters().contradictions).toBeGreaterThan(0);
  });

  test('a transaction that is left out is asked for by itself', async () => {
    const portal = await portalOf({ probabilities: { 'missing-transaction': 1 }, maxTold: 1 });
    const { source } = sourceOf(portal);
    expectEqual(await source.read(FROM, TO, filter), await truth());
    expect(portal.told['missing-transaction']).toBe(1);
  });

  test.each(PORTAL_FAILURES)('%s is met as %s, asked again and survived', async (lie, kind) => {
    const portal = await portalOf({ probabilities: { [lie]: 1 }, maxTold: 1 });
    const { source, heard } = sourceOf(portal, {}, { limits: { ...limits, silenceMaxMs: 1_000 } });
    expectEqual(await source.read(FROM, TO, filter), await truth());
    expect(portal.told[lie]).toBe(1);
    if (lie !== 'overlong-line') expect(heard.map((trouble) => trouble.kind)).toContain(kind);
    expect(source.counters().contradictions).toBe(0);
  });
});

describe('through a Portal that lies all the time', () => {
  const everything: Partial<Record<PortalLie, number>> = {
    'rate-limited': 0.1,
    overloaded: 0.1,
    unavailable: 0.1,
    truncated: 0.1,
    'half-line': 0.1,
    empty: 0.1,
    'dropped-logs': 0.05,
    'cut-logs': 0.05,
    'duplicate-logs': 0.2,
    'foreign-log': 0.05,
    'broken-link': 0.02,
    'wrong-order': 0.02,
    'skipped-block': 0.02,
    'missing-transaction': 0.2,
    malformed: 0.02,
    'overlong-line': 0.02,
    fork: 0.1,
  };

  test.each([1, 2, 3, 4, 5].slice(0, lengthOf('liarSeeds')))(
    'with seed %i the whole range is the truth in the end',
    async (seed) => {
      const portal = await portalOf({ seed, probabilities: everything, blocksPerAnswer: 20 });
      const { source } = sourceOf(portal);
      expectEqual(await source.read(FROM, TO, filter), await truth());
      expect(Object.values(portal.told).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
    },
  );

  test.each(['dropped-logs', 'foreign-log', 'skipped-block', 'malformed'] as const)(
    '%s each time is never believed: the read is abandoned',
    async (lie) => {
      const portal = await portalOf({ probabilities: { [lie]: 1 } });
      const { source } = sourceOf(portal);
      await expect(source.read(FROM, TO, filter, { freshStartsMax: 3 })).rejects.toThrow(ReadAbandoned);
    },
  );

  test('a line without an end is not kept in memory: the read is abandoned', async () => {
    const portal = await portalOf({ probabilities: { 'overlong-line': 1 } });
    const { source, heard } = sourceOf(portal);
    await expect(source.read(FROM, FROM, filter, { freshStartsMax: 1 })).rejects.toThrow(ReadAbandoned);
    expect(heard.map(({ kind }) => kind)).toContain('too-large');
  });

  test('an answer that is too large is asked for in halves', async () => {
    const portal = await portalOf();
    const { source } = sourceOf(portal, {}, { limits: { ...limits, answerBytesMax: 60_000 } });
    expectEqual(await source.read(FROM, TO, filter), await truth());
    expect(source.counters().calls).toBeGreaterThan(4);
  });

  test('an abort ends a read at once, however long the Portal stays silent', async () => {
    const portal = await portalOf({ probabilities: { hang: 1 } });
    const ending = new AbortController();
    const { source } = sourceOf(portal, {}, { signal: ending.signal });
    const reading = source.read(FROM, TO, filter);
    await waitUntil('the Portal is silent', () => portal.told.hang > 0);
    ending.abort(new Error('the program ends'));
    await expect(reading).rejects.toThrow('the program ends');
  });

  test('no log line and no error shows more of a URL than its host, or what the Portal wrote', async () => {
    const portal = await portalOf({ probabilities: { unavailable: 0.5, 'dropped-logs': 0.3 }, maxTold: 3 });
    const { port } = new URL(portal.url);
    const { source, lines, heard } = sourceOf({
      url: `http://user-of-mine:password-of-mine@127.0.0.1:${port}/key-of-mine`,
    });
    expectEqual(await source.read(FROM, TO, filter), await truth());
    const written = lines.join() + heard.map(({ message, stack }) => `${message}${stack}`).join();
    expect(written).not.toMatch(/of-mine|secret-of-theirs/);
    expect(written).toContain(`"provider":"127.0.0.1:${port}"`);
  });
});
