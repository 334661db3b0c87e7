import { Readable } from 'node:stream';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { dateTime, sql, text, texts, uint64 } from '../../clickhouse/engine/sql.ts';
import {
  dropOldGenerations,
  ownGeneration,
  RING_PASSES,
  WALLET_RINGS,
  type WalletRingRow,
} from '../../clickhouse/tables/generations.ts';
import { columnNames, encodeRows } from '../../clickhouse/tables/table.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { type Pass, restOf } from '../passes/repeat.ts';
import {
  PASS_LIMITS,
  type PassLimits,
  RING_METHOD_VERSION,
  type RingWindow,
  readEdges,
  ringWindow,
} from './edges.ts';
import { findRings, type Ring, type RingCap } from './find.ts';

/** A hundred times what a pass took costs one per cent; soon again while a first backfill is filling the window. */
const REST = { perPass: 100, minMs: 5 * 60_000, maxMs: 60 * 60_000 } as const;

/** Searches for payment rings after the start and then every hour, more often while passes are quick. */
export function ringPasses(deps: {
  readonly writer: Writer;
  readonly log: Log;
  readonly clock: Clock;
  readonly limits?: Partial<PassLimits>;
}): Pass {
  const { writer, log, clock } = deps;
  const limits: PassLimits = { ...PASS_LIMITS, ...deps.limits };
  return {
    name: 'rings',
    failureText: 'the search for payment rings failed; the rings of the last pass stay',
    restMs: restOf(REST),
    async run(signal) {
      report(log, await ringPass(writer, { nowMs: clock.nowMs(), limits, signal }));
      return 'done';
    },
  };
}

function report(log: Log, { gen, window, capped, ...figures }: Awaited<ReturnType<typeof ringPass>>): void {
  const fields = { ...figures, until: new Date(window.to * 1_000).toISOString().slice(0, 10), capped };
  if (capped.length === 0) log.info(fields, 'payment rings found');
  else log.warn(fields, 'payment rings found; weaker ones may be missing');
}

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
/** Keeps the previous generation for running readers. */
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
    await writer.insert('wallet-rings', WALLET_RINGS.name, columnNames(WALLET_RINGS), Readable.from(rows));
  await publish(writer, pass);
  await dropOldGenerations(writer, { rows: WALLET_RINGS, passes: RING_PASSES }, GENERATIONS_KEPT);
  return pass;
}

function seconds(ms: number): number {
  return Math.round(ms) / 1_000;
}

/** Above every existing generation, even if the clock was set back. */
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
  return ownGeneration({ fresh: BigInt(nowMs), newest, spread: generationSpread });
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

interface RowsOf {
  readonly window: RingWindow;
  readonly gen: bigint;
  readonly rowsPerBuffer: number;
}

/** Rows of table `wallet_rings`: one for each wallet and ring of it. */
export function* encodeRings(
  byWallet: ReadonlyMap<string, readonly Ring[]>,
  { window, gen, rowsPerBuffer }: RowsOf,
): Generator<Uint8Array> {
  const fixed = { windowStart: window.from, windowEnd: window.to, methodVersion: RING_METHOD_VERSION, gen };
  let rows: Omit<WalletRingRow, keyof typeof fixed>[] = [];
  for (const [wallet, rings] of byWallet) {
    for (const ring of rings) rows.push({ wallet, length: ring.members.length, ...ring });
    if (rows.length < rowsPerBuffer) continue;
    yield encodeRows(WALLET_RINGS, rows, fixed);
    rows = [];
  }
  if (rows.length > 0) yield encodeRows(WALLET_RINGS, rows, fixed);
}
