import { type Address, address, type Hash } from './account.ts';
import type { Chain } from './chains.ts';

/**
 * What a row is. Only payments count in figures: a deposit moves the payer's money into a channel or an escrow, a payout pays a seller what
 * was counted before, and a refund, a withdrawal and a void give money back.
 */
export const SETTLEMENT_KINDS = ['payment', 'deposit', 'payout', 'refund', 'withdrawal', 'void'] as const;
export type SettlementKind = (typeof SETTLEMENT_KINDS)[number];

/**
 * The x402 scheme whose form a row has: `exact` by an EIP-3009 authorization, `exact-permit2` and `upto` by the proxy that settled it, the
 * others by their contracts. The form says nothing about the evidence that it was x402.
 */
export const PAYMENT_SCHEMES = [
  'exact',
  'exact-permit2',
  'upto',
  'batch-settlement',
  'auth-capture',
  'unknown',
] as const;
export type PaymentScheme = (typeof PAYMENT_SCHEMES)[number];

/** x402BatchSettlement, at the same address on every chain (CREATE2). Source: @x402/evm 2.27.0. */
export const BATCH_SETTLEMENT = address('0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003');

/** Of a row that belongs to no channel. */
export const NO_CHANNEL: Hash = '0x';
/** Of a row that is no event of a channel contract. */
export const NO_CONTRACT = '0x' as Address; // no account at all

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
