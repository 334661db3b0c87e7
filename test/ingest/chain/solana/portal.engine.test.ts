import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../../core/config/load.ts';
import { createRpc } from '../../../../demo/chain/json-rpc.ts';
import { ReadAbandoned } from '../../../../ingest/chain/block-source.ts';
import { createHistorySource } from '../../../../ingest/chain/history-source.ts';
import { refOf } from '../../../../ingest/chain/read-answers.ts';
import type { ProviderContradiction, RpcFailure } from '../../../../ingest/chain/rpc/failure.ts';
import { createSolanaPortal } from '../../../../ingest/chain/solana/portal.ts';
import type { SolanaReader } from '../../../../ingest/chain/solana/source.ts';
import { createSolanaWindows } from '../../../../ingest/follow/solana-windows.ts';
import { buildCatalogue } from '../../../../ingest/grading/catalogue.ts';
import { encodeBatch } from '../../../../ingest/write/batch-rows.ts';
import {
  type LyingPortal,
  type LyingPortalOptions,
  PORTAL_FAILURES,
  type PortalLie,
  startLyingPortal,
} from '../../../kit/lying-portal.ts';
import { SOLANA_DIALECT } from '../../../kit/portal-solana.ts';
import {
  type Completeness,
  type SolanaChain,
  solanaSource,
  solanaTokens,
  startSolanaChain,
} from '../../../kit/solana-chain.ts';

/** Solana's history from a Portal: the rows of a node, through a Portal that is honest, that lies, and that refuses. */

const FROM = 0;
const BLOCKS = 40;
const limits = { backOffFirstMs: 1, backOffMaxMs: 20, lineBytesMax: 1_000_000 };
let world: SolanaChain;
let final: number;
let told: ReadonlyMap<string, string>;
const open: LyingPortal[] = [];

beforeAll(async () => {
  world = await startSolanaChain(23);
  await world.grow(BLOCKS);
  final = world.node.ledger.slot('finalized');
  told = await rowsFrom(rpcSource());
});
afterEach(async () => {
  for (const portal of open.splice(0)) await portal.stop();
});
afterAll(() => world?.node.stop());

const rpcSource = (completeness?: Completeness) =>
  solanaSource(world.chain, [world.node.url], { completeness });

async function portalOf(options: Partial<LyingPortalOptions> = {}): Promise<LyingPortal> {
  const rpc = createRpc(world.node.url);
  const portal = await startLyingPortal({ rpc, dialect: SOLANA_DIALECT, ...options });
  open.push(portal);
  return portal;
}

function sourceOf({ url: portalUrl }: LyingPortal, completeness: Completeness = 'every-block', own = {}) {
  const heard: (RpcFailure | ProviderContradiction)[] = [];
  const at = { portalUrl, dataset: 'solana-devnet', requestsPer10Seconds: 1_000_000, completeness };
  const source = createSolanaPortal(at, {
    log: pino({ level: 'silent' }),
    limits: { ...limits, ...own },
    onRetry: (trouble) => void heard.push(trouble),
  });
  return { source, heard };
}

/** What lands in the tables of a range, by table. */
async function rowsFrom(source: SolanaReader, from = FROM, to = final): Promise<ReadonlyMap<string, string>> {
  const catalogue = buildCatalogue(loadConfig({ env: {} }).catalogue);
  const config = { chain: world.chain, tokens: solanaTokens(world) };
  const batch = await createSolanaWindows({ config, source }).read(from, to, catalogue, {
    freshStartsMax: 5,
  });
  const { pieces } = await encodeBatch(batch.rowsBy(catalogue));
  const rows = [...pieces].map(([{ table }, parts]): [string, string] => [
    table,
    parts.map((part) => Buffer.from(part.at(1n)).toString('hex')).join(''),
  ]);
  return new Map([
    ...rows,
    ['blocks', JSON.stringify(batch.blocks.map(refOf))],
    ['size', String(batch.size)],
  ]);
}

describe('straight from an honest Portal', () => {
  test.each([
    ['in one answer', {}],
    ['in answers of seven blocks, without compression', { blocksPerAnswer: 7, isPlain: true }],
  ])('the rows of a node, byte for byte, %s', async (_, options) => {
    const portal = await portalOf(options);
    const { source, heard } = sourceOf(portal);
    expect(told.get('settlements')?.length).toBeGreaterThan(5_000);
    expect(await rowsFrom(source)).toEqual(told);
    expect(heard).toEqual([]);
    expect(new Set(portal.asked.map(({ path }) => path))).toEqual(new Set(['finalized-stream']));
  });

  test('a whole range is two requests', async () => {
    const portal = await portalOf();
    await rowsFrom(sourceOf(portal).source);
    expect(portal.asked).toHaveLength(2);
  });

  test('every single slot has the rows of a node, also where it was skipped', async () => {
    const { source } = sourceOf(await portalOf());
    for (let slot = FROM; slot <= final; slot++)
      expect(await rowsFrom(source, slot, slot)).toEqual(await rowsFrom(rpcSource(), slot, slot));
  });

  test('with completeness settlement-blocks only transactions are asked for that can be payments, with the same rows', async () => {
    const portal = await portalOf({ blocksPerAnswer: 11 });
    const { source } = sourceOf(portal, 'settlement-blocks');
    const { size: all, ...others } = Object.fromEntries(told);
    const { size, ...rows } = Object.fromEntries(await rowsFrom(source));
    expect(rows).toEqual(others);
    expect(Number(size)).toBeLessThanOrEqual(Number(all));
  });

  test('a larger answer than permitted is read in several', async () => {
    const { source, heard } = sourceOf(await portalOf(), 'every-block', { answerBytesMax: 60_000 });
    expect(await rowsFrom(source)).toEqual(told);
    expect(heard.length).toBeGreaterThan(0);
  });
});

describe('through a Portal that lies once and is honest after', () => {
  const contradictions: readonly (readonly [PortalLie, ProviderContradiction['kind']])[] = [
    ['missing-transaction', 'missing-transaction'],
    ['dropped-transaction', 'wrong-balance'],
    ['dropped-instruction', 'wrong-balance'],
    ['dropped-balances', 'wrong-balance'],
    ['changed-amount', 'wrong-balance'],
    ['changed-data', 'wrong-signature'],
    ['broken-link', 'broken-link'],
    ['wrong-order', 'wrong-block'],
    ['skipped-block', 'wrong-block'],
    ['malformed', 'malformed'],
  ];
  test.each(contradictions)('%s is detected as %s, counted and survived', async (lie, kind) => {
    const portal = await portalOf({ probabilities: { [lie]: 1 }, maxTold: 1 });
    const { source, heard } = sourceOf(portal);
    expect(await rowsFrom(source)).toEqual(told);
    expect(portal.told[lie]).toBe(1);
    expect(heard.map((trouble) => trouble.kind)).toEqual([kind]);
    expect(source.counters().contradictions).toBe(1);
  });

  test.each(PORTAL_FAILURES)('%s is met as %s, asked again and survived', async (lie, kind) => {
    const portal = await portalOf({ probabilities: { [lie]: 1 }, maxTold: 1 });
    const { source, heard } = sourceOf(portal, 'every-block', { silenceMaxMs: 1_000 });
    expect(await rowsFrom(source)).toEqual(told);
    expect(portal.told[lie]).toBe(1);
    expect(heard.map((trouble) => trouble.kind)).toEqual([kind]);
  });

  test.each(['dropped-balances', 'skipped-block', 'malformed'] as const)(
    '%s each time is never believed: the read is abandoned',
    async (lie) => {
      const { source } = sourceOf(await portalOf({ probabilities: { [lie]: 1 } }));
      await expect(source.read(FROM, final, world.filter, { freshStartsMax: 3 })).rejects.toThrow(
        ReadAbandoned,
      );
    },
  );
});

test('where the Portal refuses, the rows are those that the node gives, and later the Portal’s again', async () => {
  const portal = await portalOf();
  const history = createHistorySource({
    portal: sourceOf(portal).source,
    rpc: rpcSource(),
    log: pino({ level: 'silent' }),
    rests: { firstMs: 1, maxMs: 1 },
  });
  portal.refuse(503);
  expect(await rowsFrom(history)).toEqual(told);
  portal.refuse(null);
  expect(portal.asked).toHaveLength(0);
  expect(await rowsFrom(history)).toEqual(told);
  expect(portal.asked.length).toBeGreaterThan(0);
  expect((await history.read(FROM, final, world.filter)).readFrom).toBe('portal');
});
