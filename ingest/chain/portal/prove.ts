import type { Header, LogFilter, RawLog } from '../block-source.ts';
import { createBlooms } from '../logs-bloom.ts';
import { createSuspicion, type Suspect } from '../prove-complete.ts';
import { ProviderContradiction } from '../rpc/failure.ts';
import { oursOfWhole } from '../whole-block.ts';
import { type PortalBlock, placesOf } from './read-line.ts';

/**
 * Proves that no log is missing from a range answer, as prove-complete.ts does over JSON-RPC: a block that the filter in its header does not
 * excuse is asked for with all its logs, ours and others', which must have no gap, make that filter, and hold of ours what the range answer
 * said. The Portal gives many such blocks in one answer, so that the proof costs bytes and hardly any requests. It says no more of a block
 * than its list of logs: what is not proved is what prove-complete.ts names for a node without receipts.
 */
export interface PortalProver {
  /** Runs of blocks to read with all their logs, each with `check` for every block of it. */
  runsOf(headers: readonly Header[], logs: readonly RawLog[], filter: LogFilter): readonly ProofRun[];
}

export interface ProofRun {
  readonly from: number;
  readonly to: number;
  /** Throws `ProviderContradiction`. Blocks that need no proof are passed over. */
  check(block: PortalBlock): void;
}

/** Blocks without need that are read with their neighbours: a request of its own takes as long as about so many blocks. */
const PASSED_OVER_MAX = 50;

export function createPortalProver(log: Parameters<typeof createSuspicion>[0]): PortalProver {
  const blooms = createBlooms();
  const findSuspects = createSuspicion(log, blooms);
  return {
    runsOf(headers, logs, filter) {
      const suspects = findSuspects(headers, logs, filter);
      const byNumber = new Map(suspects.map((suspect) => [suspect.block.number, suspect]));
      const check = ({ header, logs: all }: PortalBlock): void => {
        const suspect = byNumber.get(header.number);
        if (suspect === undefined) return;
        if (suspect.block.hash !== header.hash)
          throw new ProviderContradiction('wrong-fork', `two answers name two blocks ${header.number}`);
        const found = oursOfWhole(suspect.block, all, filter, blooms);
        if (placesOf(found) !== placesOf(suspect.logs))
          throw new ProviderContradiction(
            'missing-logs',
            `block ${header.number} has other logs than the range answer`,
          );
      };
      return cutRuns(suspects).map((run) => ({ ...run, check }));
    },
  };
}

/** Neighbours share a run; `suspects` ascend. */
function cutRuns(suspects: readonly Suspect<Header>[]): { readonly from: number; readonly to: number }[] {
  const runs: { from: number; to: number }[] = [];
  for (const { block } of suspects) {
    const run = runs.at(-1);
    if (run !== undefined && block.number - run.to <= PASSED_OVER_MAX) run.to = block.number;
    else runs.push({ from: block.number, to: block.number });
  }
  return runs;
}
