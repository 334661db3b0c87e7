/** Arithmetic of block ranges: what is indexed, what is missing, and which piece comes next. Pure. */

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
