import type { BlockRange } from '../write/coverage.ts';
import type { StagedWindow } from './read-window.ts';
import type { StagedBlock } from './staged-blocks.ts';

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
