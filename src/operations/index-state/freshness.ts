import type { Reader } from '../../../clickhouse/engine/engine.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { Finality } from '../../../core/domain/settlement.ts';
import { cached } from '../ask.ts';
import { type ChainStatus, isImported, readChainStatus } from './chain-status.ts';

/** How fresh the index is, asked at most once a second for all requests together, and at most three seconds old. */
export interface Freshness {
  statuses(): Promise<ReadonlyMap<Chain, ChainStatus>>;
}

const MAX_AGE_MS = 1_000;
const STALE_MS = 2_000;

/** An index further behind than this says so in every answer: two minutes are sixty blocks of Base. */
export const INDEX_LAG_WARNING_SECONDS = 120;

/** The closed vocabulary of `meta.warnings`. */
export const WARNINGS = {
  index_lagging: `A served chain is more than ${INDEX_LAG_WARNING_SECONDS} seconds behind, or its node does not answer.`,
  index_not_started: 'A served chain has not reported any indexed block yet.',
  backfill_in_progress: 'Older blocks of a served chain are still being indexed.',
  other_chains_left_out:
    'The page is empty, and only the chain that was asked for was looked at: without `chain` it spans every indexed chain.',
  finality_unknown:
    'Only final settlements were asked for, and a served chain has not stated a final block: it contributes none.',
  snapshot_is_partial:
    'The snapshot lacks rows of a chain that is served, or the verdict was made without rings: `left_out` says what is missing.',
  graph_edges_cut: 'More pairs of wallets paid each other than max_edges shows: the largest are shown.',
  endpoints_catalog_stale:
    'Part of the endpoint directory may be outdated: a source was not read to its end lately, or none ever was.',
  no_agent_on_this_page_has_a_score:
    'No agent on this page has the score that it is ranked by: no rating of it stands, or none proves a payment.',
  rankings_not_computed:
    'The payments of wallets are being added up for the first time: no wallet is ranked yet, and none is left out for its payments.',
  graph_scan_capped: 'The window holds more settlements than one graph may read: the newest were read.',
} as const;

export type Warning = keyof typeof WARNINGS;

/** The entry of one chain in `meta.freshness`. */
export interface ChainFreshness {
  readonly chain: Chain;
  readonly indexedBlock: number | null;
  readonly indexedAt: number | null;
  readonly headBlock: number | null;
  readonly finalizedBlock: number | null;
  readonly lagSeconds: number | null;
}

export function createFreshness(deps: { readonly reader: Reader; readonly clock: Clock }): Freshness {
  return {
    statuses: cached({
      clock: deps.clock,
      maxAgeMs: MAX_AGE_MS,
      staleMs: STALE_MS,
      load: () => readChainStatus(deps.reader),
    }),
  };
}

/**
 * `lagSeconds`: null for a chain without a node. At the tip, the time since the tip was last read (a quiet chain is not a lagging
 * index); below it, the age of the newest indexed block. A configured chain without a report appears with nulls.
 */
export function chainFreshness(chain: Chain, status: ChainStatus | undefined, nowMs: number): ChainFreshness {
  return {
    chain,
    indexedBlock: status?.indexedBlock ?? null,
    indexedAt: status?.indexedTime ?? null,
    headBlock: status?.headBlock ?? null,
    finalizedBlock: status?.finalizedBlock ?? null,
    lagSeconds: status === undefined ? null : lagSeconds(status, Math.floor(nowMs / 1_000)),
  };
}

function lagSeconds(status: ChainStatus, now: number): number | null {
  const { indexedBlock, indexedTime, headBlock, headSeenAt } = status;
  if (indexedBlock === null || indexedTime === null || isImported(status)) return null;
  const atTip = headBlock !== null && indexedBlock >= headBlock;
  return Math.max(0, now - (atTip && headSeenAt !== null ? headSeenAt : indexedTime));
}

/** Warnings about the chains behind an answer. */
export function warningsOf(
  chains: readonly Chain[],
  statuses: ReadonlyMap<Chain, ChainStatus>,
  nowMs: number,
): Warning[] {
  const lags = chains
    .filter((chain) => !isImported(statuses.get(chain)))
    .map((chain) => chainFreshness(chain, statuses.get(chain), nowMs).lagSeconds);
  const backfilling = chains
    .map((chain) => statuses.get(chain))
    .some((status) => status !== undefined && status.backfillBlocksDone < status.backfillBlocksTotal);
  return [
    ...(lags.some((lag) => lag !== null && lag > INDEX_LAG_WARNING_SECONDS)
      ? (['index_lagging'] as const)
      : []),
    ...(lags.some((lag) => lag === null) ? (['index_not_started'] as const) : []),
    ...(backfilling ? (['backfill_in_progress'] as const) : []),
  ];
}

/** `finalized` is claimed only for blocks that the chain itself called final. */
export function finalityOf(blockNumber: number, status: ChainStatus | undefined): Finality {
  const finalized = status?.finalizedBlock ?? null;
  return finalized !== null && blockNumber <= finalized ? 'finalized' : 'head';
}
