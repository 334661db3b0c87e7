import type { Surface } from './caller.ts';
import type { SqlTierId } from './plan.ts';

/** What the callers of an account used: calls and units by day, and the SQL that they ran. */

const DAY_MS = 86_400_000;

/**
 * How a counted call was paid for: `units` of the organization, `x402`, or not at all, with the key or token of an organization
 * (`free`) or with a trial key (`trial`). `earned`: a call that others paid for, and the units that the organization got of it.
 */
export const USAGE_LANES = ['units', 'x402', 'trial', 'free', 'earned'] as const;
export type UsageLane = (typeof USAGE_LANES)[number];

/** The UTC day of a time, counted from 1970-01-01. */
export function dayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}

export function dayStartMs(day: number): number {
  return day * DAY_MS;
}

/** `2026-11-25` */
export function dayText(day: number): string {
  return new Date(dayStartMs(day)).toISOString().slice(0, 10);
}

/** Names one count of an account. */
export interface UsageName {
  readonly day: number;
  /** '' for callers without a key of ours (a bearer token), and for what was charged before keys were counted. */
  readonly keyId: string;
  readonly operation: string;
  readonly lane: UsageLane;
}

export interface UsageRow extends UsageName {
  readonly calls: number;
  readonly units: number;
  /** Millionths of a US dollar that settled over x402. */
  readonly usdMicros: number;
}

/** Longer texts are cut for the list of queries; `text_cut` says so. */
export const QUERY_TEXT_MAX_CHARS = 16_384;
export const QUERIES_KEPT_DAYS = 30;
export const QUERIES_KEPT_MS = QUERIES_KEPT_DAYS * DAY_MS;

/** One run of SQL by a caller with an organization. */
export interface QueryRun {
  /** `qry_…` */
  readonly id: string;
  readonly organizationId: string;
  /** '' for a bearer token. */
  readonly keyId: string;
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly surface: Surface;
  readonly tier: SqlTierId;
  /** The most that it could cost. */
  readonly budgetQu: number;
  readonly chargedQu: number;
  /** Null where it failed, and where a job was ended by another process than the one that ran it. */
  readonly rows: number | null;
  /** `succeeded`, `cancelled` where its caller stopped it or left, the code of its failure, or of a job `expired`. */
  readonly status: string;
  readonly text: string;
  readonly textCut: boolean;
}
