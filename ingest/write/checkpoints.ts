import { createHash } from 'node:crypto';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql, text, uint64 } from '../../clickhouse/engine/sql.ts';
import type { Del } from '../../clickhouse/tables/columns.ts';
import { BLOCKS, CHECKPOINTS, type CheckpointRow } from '../../clickhouse/tables/ingest-state.ts';
import { insertRows, reading } from '../../clickhouse/tables/table.ts';
import type { Address, Hash } from '../../core/domain/account.ts';
import type { Chain } from '../../core/domain/chains.ts';
import type { BlockRef } from '../chain/block-source.ts';
import type { Versions } from './versions.ts';

/** Arithmetic of block ranges: which are indexed, which are missing, and which piece comes next. Pure. */

/** Inclusive on both ends. */
export interface BlockRange {
  readonly from: number;
  readonly to: number;
}

/** Sorted, overlapping and adjacent ranges joined. */
export function mergeRanges(ranges: readonly BlockRange[]): BlockRange[] {
  const sorted = ranges.filter(({ from, to }) => from <= to).sort((a, b) => a.from - b.from);
  const merged: { from: number; to: number }[] = [];
  for (const { from, to } of sorted) {
    const last = merged.at(-1);
    if (last && from <= last.to + 1) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}

/** The parts of [from, to] that no range covers, ascending. */
export function missingRanges(from: number, to: number, covered: readonly BlockRange[]): BlockRange[] {
  const missing: BlockRange[] = [];
  let next = from;
  for (const range of mergeRanges(covered)) {
    if (range.to < next) continue;
    if (range.from > to) break;
    if (range.from > next) missing.push({ from: next, to: range.from - 1 });
    next = range.to + 1;
  }
  if (next <= to) missing.push({ from: next, to });
  return missing;
}

/** Blocks in all ranges together. */
export function countBlocks(ranges: readonly BlockRange[]): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
}

/**
 * Hands out windows of the missing ranges, newest first, so that the feed is useful at once. The size is asked for at each
 * step because it adapts to the answers.
 */
export function createWindows(missing: readonly BlockRange[]): {
  takeNewest(size: number): BlockRange | undefined;
  /** Blocks that were not taken yet. */
  left(): number;
} {
  const stack = mergeRanges(missing).map(({ from, to }) => ({ from, to }));
  let left = countBlocks(stack);
  return {
    left: () => left,
    takeNewest(size) {
      const top = stack.at(-1);
      if (!top) return undefined;
      const from = Math.max(top.from, top.to - Math.max(1, size) + 1);
      const taken = { from, to: top.to };
      left -= top.to - from + 1;
      if (from === top.from) stack.pop();
      else top.to = from - 1;
      return taken;
    },
  };
}

/**
 * The ranges that are known to be indexed. Written only after the rows of a range are acknowledged (docs/design/storage.md), so after any
 * crash the ranges here are a promise about the tables.
 */
export interface Checkpoints {
  load(): Promise<Progress>;
  /** Moves the range that follows the tip. */
  saveHead(head: HeadRange): Promise<void>;
  /** Records finished backfill windows. */
  saveBackfill(ranges: readonly FinishedRange[]): Promise<void>;
  /** Begins a new head range nearer to the tip; the retired one, if any, becomes a finished backfill range in the same insert. */
  restartHead(retired: HeadRange | null, head: HeadRange): Promise<void>;
  /** Remembers which block stands at each height, for walking back after a reorg. */
  saveBlocks(blocks: readonly BlockRef[]): Promise<void>;
  loadBlocks(from: number, to: number): Promise<{ number: number; hash: Hash; time: number }[]>;
}

/** The contiguous range [start, end] behind the tip; empty while end = start - 1. `hash` is the block at `end`. */
export interface HeadRange {
  readonly start: number;
  readonly end: number;
  readonly hash: Hash;
}

export interface FinishedRange extends BlockRange {
  readonly endHash: Hash;
}

export interface Progress {
  readonly head: HeadRange | null;
  /** Merged. */
  readonly backfilled: readonly BlockRange[];
}

const CONTRACTS_NAME_CHARS = 16;
const MAX_SECONDS = 30;
/** More ranges than a chain of a billion blocks leaves behind at 1,000 blocks a window. */
const MAX_RANGES = 1_000_000;
/** Above the deepest finality of any configured chain. */
const MAX_BLOCKS = 1_000_000;

type Entry = Omit<CheckpointRow, 'chain' | 'contracts' | 'isPartial' | 'ver'>;

/**
 * `contracts` names the contracts whose logs are read (`contractsName`): ranges that were read for another set promise nothing. `isPartial`:
 * their blocks were not read whole.
 */
export function createCheckpoints(
  {
    chain,
    contracts,
    isPartial = false,
  }: { readonly chain: Chain; readonly contracts: string; readonly isPartial?: boolean | undefined },
  writer: Writer,
  versions: Versions,
): Checkpoints {
  const save = (rows: readonly Entry[]): Promise<void> =>
    insertRows(writer, {
      name: `save-checkpoint ${chain}`,
      table: CHECKPOINTS,
      rows,
      fixed: { chain, contracts, isPartial, ver: versions.next() },
      scopes: [chain],
    });
  const asEntry = (kind: Entry['kind'], head: HeadRange, del: Del): Entry => ({
    kind,
    rangeStart: head.start,
    rangeEnd: head.end,
    endHash: head.hash,
    del,
  });
  return {
    load: () => loadProgress(chain, contracts, writer),
    saveHead: (head) => save([asEntry('head', head, 0)]),
    saveBackfill: (ranges) =>
      save(
        ranges.map(({ from, to, endHash }) => ({
          kind: 'backfill',
          rangeStart: from,
          rangeEnd: to,
          endHash,
          del: 0,
        })),
      ),
    restartHead: (retired, head) =>
      // An empty head range becomes an empty backfill range, which merging drops.
      save([
        ...(retired ? [asEntry('backfill', retired, 0), asEntry('head', retired, 1)] : []),
        asEntry('head', head, 0),
      ]),
    saveBlocks: (rows) =>
      insertRows(writer, {
        name: `save-blocks ${chain}`,
        table: BLOCKS,
        rows,
        fixed: { chain, ver: versions.next() },
        scopes: [chain],
      }),
    loadBlocks: (from, to) => loadBlocks(chain, writer, from, to),
  };
}

/** A short name of a set of contracts, the same in any order; of what is read in part, another. */
export function contractsName(addresses: readonly Address[], isPartial = false): string {
  return createHash('sha256')
    .update([...(isPartial ? ['partial'] : []), ...[...addresses].sort()].join())
    .digest('hex')
    .slice(0, CONTRACTS_NAME_CHARS);
}

const RANGES = reading(CHECKPOINTS, ['kind', 'range_start', 'range_end', 'end_hash']);

async function loadProgress(chain: Chain, contracts: string, writer: Writer): Promise<Progress> {
  const { rows } = await writer.rows({
    name: `load-checkpoints ${chain}`,
    sql: sql`SELECT ${RANGES.columns} FROM checkpoints FINAL
             WHERE chain = ${text(chain)} AND contracts = ${text(contracts)} AND del = 0 ORDER BY kind, range_start`,
    maxSeconds: MAX_SECONDS,
    maxRows: MAX_RANGES,
  });
  const ranges = rows.map(RANGES.read);
  const heads = ranges.filter(({ kind }) => kind === 'head');
  const newest = heads.reduce<(typeof heads)[number] | undefined>(
    (best, next) => (best && best.rangeEnd > next.rangeEnd ? best : next),
    undefined,
  );
  const backfilled = ranges.filter(({ kind }) => kind === 'backfill');
  return {
    head: newest ? { start: newest.rangeStart, end: newest.rangeEnd, hash: newest.endHash } : null,
    backfilled: mergeRanges(
      backfilled.map(({ rangeStart, rangeEnd }) => ({ from: rangeStart, to: rangeEnd })),
    ),
  };
}

const STORED_BLOCK = reading(BLOCKS, ['number', 'hash', 'time']);

async function loadBlocks(
  chain: Chain,
  writer: Writer,
  from: number,
  to: number,
): Promise<{ number: number; hash: Hash; time: number }[]> {
  const { rows } = await writer.rows({
    name: `load-blocks ${chain}`,
    sql: sql`SELECT ${STORED_BLOCK.columns} FROM blocks FINAL
             WHERE chain = ${text(chain)} AND number >= ${uint64(from)} AND number <= ${uint64(to)} ORDER BY number`,
    maxSeconds: MAX_SECONDS,
    maxRows: MAX_BLOCKS,
  });
  return rows.map(STORED_BLOCK.read);
}
