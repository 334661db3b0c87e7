import { createHash } from 'node:crypto';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { RowBinary } from '../../clickhouse/engine/row-binary.ts';
import { sql, text, uint64 } from '../../clickhouse/engine/sql.ts';
import { BLOCK_COLUMNS } from '../../clickhouse/tables/schema.ts';
import type { Address } from '../../core/domain/address.ts';
import type { Chain } from '../../core/domain/chains.ts';
import type { Hash } from '../../core/domain/settlement.ts';
import type { BlockRef } from '../chain/block-source.ts';
import { type BlockRange, mergeRanges } from './coverage.ts';
import { encodeBlocks } from './encode.ts';
import type { Versions } from './versions.ts';

/**
 * What is known to be indexed. Written only after the rows of a range are acknowledged (docs/design/storage.md), so after any
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

const CHECKPOINT_COLUMNS = [
  'chain',
  'contracts',
  'kind',
  'range_start',
  'range_end',
  'end_hash',
  'ver',
  'del',
] as const;
const CONTRACTS_NAME_CHARS = 16;
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

/** `contracts` names what is read of the chain (`contractsName`): ranges that were read for another set promise nothing. */
export function createCheckpoints(
  { chain, contracts }: { readonly chain: Chain; readonly contracts: string },
  writer: Writer,
  versions: Versions,
): Checkpoints {
  const save = async (entries: readonly Entry[]): Promise<void> => {
    const ver = versions.next();
    const body = new RowBinary();
    for (const { kind, from, to, hash, del } of entries) {
      body.string(chain).string(contracts).u8(KIND[kind]).u64(from).u64(to).hex32(hash).u64(ver).u8(del);
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
    load: () => loadProgress(chain, contracts, writer),
    saveHead: (head) => save([asEntry('head', head, 0)]),
    saveBackfill: (ranges) =>
      save(ranges.map(({ from, to, endHash }) => ({ kind: 'backfill', from, to, hash: endHash, del: 0 }))),
    restartHead: (retired, head) =>
      // An empty head range becomes an empty backfill range, which merging drops.
      save([
        ...(retired ? [asEntry('backfill', retired, 0), asEntry('head', retired, 1)] : []),
        asEntry('head', head, 0),
      ]),
    async saveBlocks(blocks) {
      if (blocks.length === 0) return;
      const rows = encodeBlocks(chain, blocks, versions.next());
      await writer.insert(`save-blocks ${chain}`, 'blocks', BLOCK_COLUMNS, [rows]);
    },
    loadBlocks: (from, to) => loadBlocks(chain, writer, from, to),
  };
}

/** A short name of a set of contracts, the same in any order. */
export function contractsName(addresses: readonly Address[]): string {
  return createHash('sha256')
    .update([...addresses].sort().join())
    .digest('hex')
    .slice(0, CONTRACTS_NAME_CHARS);
}

async function loadProgress(chain: Chain, contracts: string, writer: Writer): Promise<Progress> {
  const { rows } = await writer.rows({
    name: `load-checkpoints ${chain}`,
    sql: sql`SELECT kind, range_start, range_end, concat('0x', lower(hex(end_hash))) FROM checkpoints FINAL
             WHERE chain = ${text(chain)} AND contracts = ${text(contracts)} AND del = 0 ORDER BY kind, range_start`,
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
