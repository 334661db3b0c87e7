import type { Writer } from '../../clickhouse/engine/engine.ts';
import type { ChainConfig } from '../../core/config/chains.ts';
import type { Log } from '../../core/log.ts';
import type { ChainTip } from '../chain/block-source.ts';
import type { RateLimitOf } from '../chain/rpc/limits.ts';
import type { ChainStatus } from '../follow/chain-status.ts';
import type { WorkObservation } from '../follow/observe-work.ts';
import type { WindowReader } from '../follow/pipeline.ts';
import type { Repair } from '../follow/repair.ts';
import type { CatalogueHolder } from '../grading/catalogue.ts';
import type { Versions } from '../write/versions.ts';

/**
 * How the chains of one namespace are read. Everything behind it (head, ranges, repair, checkpoints, status) is the same for all:
 *
 *   const { source, windows } = familyOf(chain).openHistory(deps, chain); // family-of.ts
 */
export interface Family {
  /** For the leader of a chain, who follows its head. */
  openHead(deps: OpenDeps, chain: ChainConfig): OpenHead;
  /** For range jobs: final blocks, from where they are cheapest to read. */
  openHistory(deps: OpenDeps, chain: ChainConfig): OpenChain;
}

export interface OpenDeps {
  readonly catalogues: CatalogueHolder;
  readonly writer: Pick<Writer, 'rows'>;
  /** Requests to one URL are counted together, over all sources and all processes. */
  readonly rateLimitOf: RateLimitOf;
  readonly observation: WorkObservation;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** One for the leader and one for the jobs: each counts its own trouble, ends with its own signal, and the rate is counted by URL. */
export interface OpenChain {
  readonly source: ChainTip;
  readonly windows: WindowReader;
}

export interface OpenHead extends OpenChain {
  /** What the leader reads besides blocks, until its signal aborts. */
  passes(deps: PassDeps): Promise<void>[];
}

export interface PassDeps {
  readonly writer: Writer;
  readonly versions: Versions;
  readonly status: ChainStatus;
  readonly repair: Repair;
}
