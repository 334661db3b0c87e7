import { type BlockRange, mergeRanges, missingRanges } from '../write/checkpoints.ts';
import type { FileKind } from './columns.ts';
import type { ImportFile } from './files.ts';
import { importProblems } from './problem.ts';
import type { StagedBlock } from './staging.ts';
import type { StagedWindow } from './window.ts';

/** Which files are staged together, and which blocks they may be said to cover. Pure. */

/** Files that are read together: all that holds anything of these blocks. */
export interface FileGroup {
  readonly blocks: BlockRange;
  readonly files: readonly ImportFile[];
}

/** Logs staged together: enough to make the cost of a group vanish, few enough for a gigabyte of disk. */
export const LOGS_PER_GROUP_TARGET = 4_000_000;
/** Each file becomes a part of a staging table. */
const FILES_PER_GROUP_TARGET = 128;
/** Of a file whose range is not known. */
const ANY_BLOCK: BlockRange = { from: 0, to: Number.MAX_SAFE_INTEGER };

/**
 * Cuts where no file holds blocks of both sides, so that every file is read once. One file over everything therefore makes one
 * group, which is staged whole.
 */
export function groupFiles(files: readonly ImportFile[], logsPerGroup = LOGS_PER_GROUP_TARGET): FileGroup[] {
  const sorted = files
    .filter(({ rows }) => rows > 0)
    .map((file) => ({ file, range: file.blocks ?? ANY_BLOCK }))
    .sort((a, b) => a.range.from - b.range.from);
  const groups: { from: number; to: number; logs: number; files: ImportFile[] }[] = [];
  for (const { file, range } of sorted) {
    const open = groups.at(-1);
    const isFull =
      open !== undefined && (open.logs >= logsPerGroup || open.files.length >= FILES_PER_GROUP_TARGET);
    const logs = file.kind === 'logs' ? file.rows : 0;
    if (open === undefined || (isFull && range.from > open.to)) {
      groups.push({ ...range, logs, files: [file] });
      continue;
    }
    open.to = Math.max(open.to, range.to);
    open.logs += logs;
    open.files.push(file);
  }
  return groups.map(({ from, to, files: members }) => ({ blocks: { from, to }, files: members }));
}

export interface Bounds {
  readonly fromBlock: number | null;
  readonly toBlock: number | null;
}

/**
 * The blocks that the export is said to hold whole: by the user's word, else by the names of the log files. Null when neither
 * says so; then only the blocks themselves can prove it (`provenRanges`).
 */
export function declaredRanges(
  files: readonly ImportFile[],
  { fromBlock, toBlock }: Bounds,
): BlockRange[] | null {
  const logs = files.filter(({ kind }) => kind === 'logs');
  const isNamed = logs.length > 0 && logs.every(({ named }) => named !== null);
  const names = isNamed ? mergeRanges(logs.flatMap(({ named }) => named ?? [])) : null;
  if (fromBlock === null || toBlock === null) return names && clipRanges(names, boundsOf(fromBlock, toBlock));
  if (fromBlock > toBlock) throw importProblems([`--from-block ${fromBlock} is above --to-block ${toBlock}`]);
  const gaps = names === null ? [] : missingRanges(fromBlock, toBlock, names);
  if (gaps.length > 0)
    throw importProblems([
      `--from-block ${fromBlock} --to-block ${toBlock} says that every block of that range is in the files, but by their names the logs lack ${formatRanges(gaps)}`,
    ]);
  return [{ from: fromBlock, to: toBlock }];
}

export function boundsOf(fromBlock: number | null, toBlock: number | null): BlockRange {
  return { from: fromBlock ?? 0, to: toBlock ?? Number.MAX_SAFE_INTEGER };
}

/** The parts of the ranges inside the bounds. */
export function clipRanges(ranges: readonly BlockRange[], bounds: BlockRange): BlockRange[] {
  return ranges
    .map(({ from, to }) => ({ from: Math.max(from, bounds.from), to: Math.min(to, bounds.to) }))
    .filter(({ from, to }) => from <= to);
}

/** The blocks in both. */
export function commonRanges(some: readonly BlockRange[], others: readonly BlockRange[]): BlockRange[] {
  return mergeRanges(others.flatMap((range) => clipRanges(some, range)));
}

/** The parts of the ranges that no other covers. */
export function withoutRanges(ranges: readonly BlockRange[], others: readonly BlockRange[]): BlockRange[] {
  return ranges.flatMap(({ from, to }) => missingRanges(from, to, others));
}

const RANGES_SHOWN_MAX = 5;

export function formatRanges(ranges: readonly BlockRange[]): string {
  const shown = ranges
    .slice(0, RANGES_SHOWN_MAX)
    .map(({ from, to }) => (from === to ? `${from}` : `${from}–${to}`));
  const more = ranges.length - shown.length;
  return `blocks ${shown.join(', ')}${more > 0 ? ` and ${more} more ranges` : ''}`;
}

/** The smallest range around all files of a kind; null when the blocks of none are known. */
export function spanOf(files: readonly ImportFile[], kind: FileKind): BlockRange | null {
  const ranges = files.flatMap((file) =>
    file.kind === kind && file.blocks && file.rows > 0 ? [file.blocks] : [],
  );
  if (ranges.length === 0) return null;
  return {
    from: ranges.reduce((lowest, { from }) => Math.min(lowest, from), Number.MAX_SAFE_INTEGER),
    to: ranges.reduce((highest, { to }) => Math.max(highest, to), 0),
  };
}

/** Candidate logs of one window: about as many settlements, a good insert, and a few megabytes of text. */
const CANDIDATES_PER_WINDOW_TARGET = 20_000;

/**
 * Cuts ranges into windows of about equal work. Together they are the ranges again, also where nothing happened. `blocks` are
 * those with candidates, ascending; what lies in no range is left out.
 */
export function cutWindows(
  ranges: readonly BlockRange[],
  blocks: readonly StagedBlock[],
  target = CANDIDATES_PER_WINDOW_TARGET,
): StagedWindow[] {
  const windows: StagedWindow[] = [];
  let at = 0;
  for (const { from, to } of ranges) {
    let start = from;
    let members: StagedBlock[] = [];
    let candidates = 0;
    for (let block = blocks[at]; block !== undefined && block.number <= to; block = blocks[++at]) {
      if (block.number < from) continue;
      members.push(block);
      candidates += block.candidates;
      if (candidates < target || block.number === to) continue;
      windows.push({ from: start, to: block.number, blocks: members });
      start = block.number + 1;
      members = [];
      candidates = 0;
    }
    windows.push({ from: start, to, blocks: members });
  }
  return windows;
}
