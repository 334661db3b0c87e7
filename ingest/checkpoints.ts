import type { Writer } from '../clickhouse/engine.ts';
import { RowBinary } from '../clickhouse/row-binary.ts';
import { BLOCK_COLUMNS } from '../clickhouse/schema.ts';
import { sql, text, uint64 } from '../clickhouse/sql.ts';
import type { Chain } from '../src/domain/chain.ts';
import type { Hash } from '../src/domain/settlement.ts';
import { type BlockRange, mergeRanges } from './coverage.ts';
import type { BlockRef } from './sources/block-source.ts';
import { encodeBlocks } from './stages/encode.ts';
import type { Versions } from './versions.ts';

/**
 * What is known to be indexed. Written only after the rows of a range are acknowledged (design.md 3 rule 3), so after any
 * crash the ranges here are a promise about the tables.
 */
export interface Checkpoints {
  load(): Promise<Progress>;
  /** Moves the range that follows the tip. */
  saveHead(head: HeadRange): Promise<void>;
  /** Records finished backfill windows. */
  saveBackfill(ranges: readonly FinishedRange[]): Promise<void>;
  /** Turns the head range into a backfill range, before following starts anew nearer to the tip. */
  retireHead(head: HeadRange): Promise<void>;
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

const CHECKPOINT_COLUMNS = ['chain', 'kind', 'range_start', 'range_end', 'end_hash', 'ver', 'del'] as const;
const KIND = { head: 1, backfill: 2 } as const;
const MAX_SECONDS = 30;
/** More ranges than a chain of a billion blocks leaves behind at 1,000 blocks a window. */
const MAX_RANGES = 1_000_000;
/** Above the deepest finality of any configured chain. */
const MAX_BLOCKS = 1_000_000;

interface Entry {
  readonly kind: keyof typeof KIND;
  readonly from: number;
  readonly to: number;
  readonly hash: Hash;
  readonly del: 0 | 1;
}

export function createCheckpoints(chain: Chain, writer: Writer, versions: Versions): Checkpoints {
  const save = async (entries: readonly Entry[]): Promise<void> => {
    const ver = versions.next();
    const body = new RowBinary();
    for (const { kind, from, to, hash, del } of entries) {
      body.string(chain).u8(KIND[kind]).u64(from).u64(to).hex32(hash).u64(ver).u8(del);
    }
    await writer.insert(`save-checkpoint ${chain}`, 'checkpoints', CHECKPOINT_COLUMNS, [body.finish()]);
  };
  const asEntry = (kind: Entry['kind'], head: HeadRange, del: 0 | 1): Entry => ({
    kind,
    from: head.start,
    to: head.end,
    hash: head.hash,
    del,
  });
  return {
    load: () => loadProgress(chain, writer),
    saveHead: (head) => save([asEntry('head', head, 0)]),
    saveBackfill: (ranges) =>
      save(ranges.map(({ from, to, endHash }) => ({ kind: 'backfill', from, to, hash: endHash, del: 0 }))),
    // An empty head range becomes an empty backfill range, which merging drops.
    retireHead: (head) => save([asEntry('backfill', head, 0), asEntry('head', head, 1)]),
    async saveBlocks(blocks) {
      if (blocks.length === 0) return;
      const rows = encodeBlocks(chain, blocks, versions.next());
      await writer.insert(`save-blocks ${chain}`, 'blocks', BLOCK_COLUMNS, [rows]);
    },
    loadBlocks: (from, to) => loadBlocks(chain, writer, from, to),
  };
}

async function loadProgress(chain: Chain, writer: Writer): Promise<Progress> {
  const { rows } = await writer.rows({
    name: `load-checkpoints ${chain}`,
    sql: sql`SELECT kind, range_start, range_end, concat('0x', lower(hex(end_hash))) FROM checkpoints FINAL
             WHERE chain = ${text(chain)} AND del = 0 ORDER BY kind, range_start`,
    maxSeconds: MAX_SECONDS,
    maxRows: MAX_RANGES,
  });
  const entries = rows.map(([kind, from, to, hash]) => ({
    kind,
    from: Number(from),
    to: Number(to),
    hash: hash as Hash,
  })); // decoder of our own column
  const heads = entries.filter(({ kind }) => kind === 'head');
  const newest = heads.reduce<(typeof heads)[number] | undefined>(
    (best, next) => (best && best.to > next.to ? best : next),
    undefined,
  );
  return {
    head: newest ? { start: newest.from, end: newest.to, hash: newest.hash } : null,
    backfilled: mergeRanges(entries.filter(({ kind }) => kind === 'backfill')),
  };
}

async function loadBlocks(
  chain: Chain,
  writer: Writer,
  from: number,
  to: number,
): Promise<{ number: number; hash: Hash; time: number }[]> {
  const { rows } = await writer.rows({
    name: `load-blocks ${chain}`,
    sql: sql`SELECT number, concat('0x', lower(hex(hash))), toUnixTimestamp(time) FROM blocks FINAL
             WHERE chain = ${text(chain)} AND number >= ${uint64(from)} AND number <= ${uint64(to)} ORDER BY number`,
    maxSeconds: MAX_SECONDS,
    maxRows: MAX_BLOCKS,
  });
  return rows.map(([number, hash, time]) => ({
    number: Number(number),
    hash: hash as Hash,
    time: Number(time),
  })); // decoder of our own column
}
