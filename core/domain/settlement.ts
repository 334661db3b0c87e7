import type { Chain } from './chains.ts';

/** The position of an event in the feed. Unique per event; the whole sort key of every settlement list. */
export interface Position {
  /** Unix seconds, UTC. */
  readonly blockTime: number;
  readonly chain: Chain;
  readonly blockNumber: number;
  /** Index of the Transfer log in its block. */
  readonly logIndex: number;
}

/** `head` can still be undone by a reorg; `finalized` cannot. */
export type Finality = 'head' | 'finalized';

/**
 * Versions of written rows (`ver`, `gen`) are the clock in milliseconds times this (ingest/write/versions.ts). The rollup worker and
 * telemetry read the time back from them.
 */
export const VERSION_UNITS_PER_MS = 1_000_000n;

/** When a version was assigned, milliseconds since the Unix epoch. Ahead of the clock if the clock was set back. */
export function versionTimeMs(version: bigint): number {
  return Number(version / VERSION_UNITS_PER_MS);
}
