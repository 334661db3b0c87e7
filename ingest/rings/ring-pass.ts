import { randomInt } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { dateTime, sql, text, texts, uint64 } from '../../clickhouse/engine/sql.ts';
import { TABLES, WALLET_RING_COLUMNS } from '../../clickhouse/tables/schema.ts';
import { encodeRings } from './encode-rings.ts';
import { findRings, type RingCap } from './find-rings.ts';
import { type PassLimits, RING_METHOD_VERSION } from './pass-limits.ts';
import { type RingWindow, readEdges, ringWindow } from './read-edges.ts';

export interface RingPass {
  readonly gen: bigint;
  readonly window: RingWindow;
  readonly edges: number;
  /** Wallets that are in a ring. */
  readonly wallets: number;
  readonly rings: number;
  readonly capped: readonly (RingCap | 'edges')[];
  readonly readSeconds: number;
  readonly searchSeconds: number;
}

const MAX_SECONDS = 60;
/** One pass an hour leaves two behind; more only where a worker died again and again. */
const GENERATIONS_MAX = 10_000;
/** The one before stays for readers that are under way. */
const GENERATIONS_KEPT = 2;

/**
 * One pass: read the edges, find the rings, write them under a new generation, publish it, drop the old ones. A pass that is
 * killed at any point leaves the published one as it was, and rows that the next pass drops.
 */
export async function ringPass(
  writer: Writer,
  {
    nowMs,
    limits,
    signal,
  }: { readonly nowMs: number; readonly limits: PassLimits; readonly signal?: AbortSignal },
): Promise<RingPass> {
  const window = ringWindow(nowMs, limits.windowDays);
  const started = performance.now();
  const { edges, isCapped } = await readEdges(writer, window, limits, signal);
  const read = performance.now();
  const found = await findRings(edges, limits, signal);
  const searched = performance.now();
  const gen = await nextGeneration(writer, nowMs, limits);
  const pass: RingPass = {
    gen,
    window,
    edges: edges.length,
    wallets: found.byWallet.size,
    rings: found.ringCount,
    capped: isCapped ? ['edges', ...found.capped] : found.capped,
    readSeconds: seconds(read - started),
    searchSeconds: seconds(searched - read),
  };
  const rows = encodeRings(found.byWallet, { window, gen, rowsPerBuffer: limits.rowsPerBuffer });
  if (found.byWallet.size > 0)
    await writer.insert('wallet-rings', TABLES.walletRings, WALLET_RING_COLUMNS, Readable.from(rows));
  await publish(writer, pass);
  await dropOld(writer);
  return pass;
}

function seconds(ms: number): number {
  return Math.round(ms) / 1_000;
}

/**
 * Above every generation there is, also when the clock was set back, and nobody else's: two workers that begin at the same moment
 * would write their rings as those of one pass.
 */
async function nextGeneration(
  writer: Writer,
  nowMs: number,
  { generationSpread }: PassLimits,
): Promise<bigint> {
  const { rows } = await writer.rows({
    name: 'ring-generation',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT greatest((SELECT max(gen) FROM ring_passes), (SELECT max(gen) FROM wallet_rings))`,
  });
  const newest = BigInt(String(rows[0]?.[0] ?? 0));
  const least = newest >= BigInt(nowMs) ? newest + 1n : BigInt(nowMs);
  return least + BigInt(randomInt(generationSpread));
}

/** The moment from which readers see this pass. */
async function publish(writer: Writer, pass: RingPass): Promise<void> {
  const { gen, window, wallets, edges, rings, capped } = pass;
  await writer.run({
    name: 'publish-rings',
    maxSeconds: MAX_SECONDS,
    sql: sql`INSERT INTO ring_passes (gen, window_start, window_end, method_version, wallets, edges, rings, capped)
      SELECT ${uint64(gen)}, ${dateTime(window.from)}, ${dateTime(window.to)}, ${text(RING_METHOD_VERSION)},
        ${uint64(wallets)}, ${uint64(edges)}, ${uint64(rings)}, ${texts(capped)}`,
  });
}

/** Generations above the published one belong to a pass that another worker is writing. */
async function dropOld(writer: Writer): Promise<void> {
  const { rows } = await writer.rows({
    name: 'old-rings',
    maxSeconds: MAX_SECONDS,
    maxRows: GENERATIONS_MAX,
    sql: sql`WITH (SELECT max(gen) FROM ring_passes) AS published
      SELECT DISTINCT gen FROM wallet_rings
      WHERE gen < published
        AND gen NOT IN (SELECT gen FROM ring_passes ORDER BY gen DESC LIMIT ${uint64(GENERATIONS_KEPT)})`,
  });
  for (const [gen] of rows) {
    await writer.dropPartition({
      name: 'drop-rings',
      table: TABLES.walletRings,
      partition: BigInt(String(gen)),
      maxSeconds: MAX_SECONDS,
    });
  }
}
