import type { PaymentPair } from '../../../core/domain/payment-graph.ts';

/**
 * Graphs of whole days in memory, each under the mark of what was written to its days. An insert reaches the rows and the mark in
 * no certain order, so what is read while one is under way may lack rows that its mark already counts: such an answer is kept
 * briefly. What is read longer after its mark was first seen than any write can take is whole, and kept until the mark changes.
 */
export interface KeptGraphs {
  /** The pairs, unless they may be out of date at `atMs`. */
  get(key: string, mark: string, atMs: number): readonly PaymentPair[] | undefined;
  put(key: string, read: MarkedRead): void;
}

export interface MarkedRead {
  readonly pairs: readonly PaymentPair[];
  readonly mark: string;
  /** When the mark was read, which is before the pairs were. */
  readonly atMs: number;
  /**
   * Whether every write that the pairs depend on is in the mark. Those of one wallet come from its log, which is repaired by itself
   * after a crash: they are always kept briefly.
   */
  readonly isMarkComplete: boolean;
}

/** Some 2 MB each at most. */
const KEPT_MAX = 16;
const UNSETTLED_MAX_AGE_MS = 60_000;
/** Above the bound of every statement that writes settlements (300 s, a batch of a regrade). */
const SETTLED_AFTER_MS = 600_000;

interface Entry extends MarkedRead {
  readonly markSeenMs: number;
}

export function createKeptGraphs(): KeptGraphs {
  // A Map keeps the order of insertion: the first is the one that was used least lately.
  const entries = new Map<string, Entry>();
  return {
    get(key, mark, atMs) {
      const entry = entries.get(key);
      if (entry === undefined || entry.mark !== mark) return undefined;
      const isSettled = entry.isMarkComplete && entry.atMs - entry.markSeenMs >= SETTLED_AFTER_MS;
      if (!isSettled && Math.abs(atMs - entry.atMs) >= UNSETTLED_MAX_AGE_MS) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.pairs;
    },
    put(key, read) {
      const before = entries.get(key);
      entries.delete(key);
      entries.set(key, { ...read, markSeenMs: before?.mark === read.mark ? before.markSeenMs : read.atMs });
      for (const oldest of entries.keys()) {
        if (entries.size <= KEPT_MAX) break;
        entries.delete(oldest);
      }
    },
  };
}
