import { Readable } from 'node:stream';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { dateTime, text, texts, uint64 } from '../../clickhouse/engine/sql.ts';
import { RING_PASSES, WALLET_RINGS, type WalletRingRow } from '../../clickhouse/tables/generations.ts';
import { columnNames, encodeRows } from '../../clickhouse/tables/table.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { type DerivedTable, derive } from '../passes/derived-table.ts';
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

const RINGS: DerivedTable = { name: 'ring', rows: [WALLET_RINGS], passes: RING_PASSES };

/** One pass: read the edges, find the rings, write and publish them. */
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
  const { byWallet, ringCount, capped } = await findRings(edges, limits, signal);
  const figures = {
    window,
    edges: edges.length,
    wallets: byWallet.size,
    rings: ringCount,
    capped: isCapped ? (['edges', ...capped] as const) : capped,
    readSeconds: seconds(read - started),
    searchSeconds: seconds(performance.now() - read),
  };
  const gen = await derive(writer, RINGS, {
    fresh: BigInt(nowMs),
    spread: limits.generationSpread,
    async write(gen) {
      const rows = encodeRings(byWallet, { window, gen, rowsPerBuffer: limits.rowsPerBuffer });
      if (byWallet.size > 0)
        await writer.insert(
          'wallet-rings',
          WALLET_RINGS.name,
          columnNames(WALLET_RINGS),
          Readable.from(rows),
        );
      return {
        window_start: dateTime(window.from),
        window_end: dateTime(window.to),
        method_version: text(RING_METHOD_VERSION),
        wallets: uint64(figures.wallets),
        edges: uint64(figures.edges),
        rings: uint64(figures.rings),
        capped: texts(figures.capped),
      };
    },
  });
  return { gen, ...figures };
}

function seconds(ms: number): number {
  return Math.round(ms) / 1_000;
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
