import type { Address } from './address.ts';
import type { Chain } from './chains.ts';
import type { EvidenceMethod } from './evidence.ts';

/** A 32-byte hash: `0x` and 64 lower-case hex digits. */
export type Hash = `0x${string}`;

/** The position of an event in the feed. Unique per event; the whole sort key of every settlement list. */
export interface Position {
  /** Unix seconds, UTC. */
  readonly blockTime: number;
  readonly chain: Chain;
  readonly blockNumber: number;
  /** Index of the Transfer log in its block. */
  readonly logIndex: number;
}

/** One payment that moved funds, as decoded from a chain and graded. The row of table `settlements`. */
export interface Settlement extends Position {
  readonly blockHash: Hash;
  readonly txHash: Hash;
  readonly payer: Address;
  readonly payee: Address;
  readonly asset: Address;
  readonly assetSymbol: string;
  /** Atomic units of the asset, uint256. */
  readonly amount: bigint;
  /** Face value in millionths of a dollar. */
  readonly amountUsdMicros: bigint;
  /** The sender of the transaction, who paid the gas. */
  readonly relayer: Address;
  /** Id of the facilitator, or '' when none is known. */
  readonly facilitator: string;
  readonly method: EvidenceMethod;
  /** Bits of `SEEN`. */
  readonly seen: number;
  /** ERC-8021 facilitator code (`w`), or ''. The relayer claims it; it proves nothing. */
  readonly builderFacilitator: string;
  /** ERC-8021 app codes (`a`, or the codes of schema 0), joined by commas, or ''. */
  readonly builderApps: string;
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
