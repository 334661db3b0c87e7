/**
 * Lends shares of the engine's memory to queries of larger tiers. Every query has one of its own; as many again as there are places are
 * lent (clickhouse/guest/memory.ts).
 */
export interface SpareMemory {
  /** As many shares as are wanted and there are, at least the query's own. */
  take(shares: number): MemoryTaken;
}

export interface MemoryTaken {
  readonly shares: number;
  /** Idempotent. */
  giveBack(): void;
}

export function createSpareMemory(spareShares: number): SpareMemory {
  let left = spareShares;
  return {
    take(shares) {
      let lent = Math.min(Math.max(0, shares - 1), left);
      left -= lent;
      return {
        shares: 1 + lent,
        giveBack() {
          left += lent;
          lent = 0;
        },
      };
    },
  };
}
