import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../core/clock.ts';

/**
 * Rankings that are the same for every caller and cost a pass over a table: each is computed once, kept for a while and read by
 * all, and callers that ask while it is computed wait for the same computation. Only its best part is read, as far down as callers
 * ask, because the best thousand cost a fraction of the whole order.
 */

export interface Ranking {
  /** Unix milliseconds. */
  readonly rankedAtMs: number;
  /** Rows that it holds. */
  readonly size: number;
  /** Whether there are no others. */
  readonly isComplete: boolean;
}

export interface KeptRankings<Scope, Kept extends Ranking> {
  /** A ranking that is fresh and holds the first `wanted` rows, or all there are. */
  reaching(scope: Scope, wanted: number): Promise<Kept>;
}

const MAX_AGE_MS = 10_000;
/** A ranking is kept this many times as long as it took: at most a twentieth of the time goes into each. */
const REST_FACTOR = 20;
/** Callers choose filters freely, so the number of rankings is bounded; the least recently used one goes first. */
const KEPT_MAX = 64;

export function keepRankings<Scope, Kept extends Ranking>(options: {
  readonly clock: Clock;
  /** The rows to read for callers who ask for less than that many; ascending, the last one for every caller. */
  readonly depths: readonly number[];
  /** At least the first `depth` rows, or all there are. */
  readonly read: (scope: Scope, depth: number) => Promise<Kept>;
  /** Whether reading anew would give the same: then it is kept on. */
  readonly isCurrent: (kept: Kept) => Promise<boolean>;
}): KeptRankings<Scope, Kept> {
  const { clock, depths, read, isCurrent } = options;
  const kept = new LRUCache<string, { readonly ranking: Kept; readonly freshUntilMs: number }>({
    max: KEPT_MAX,
  });
  const underWay = new Map<string, Promise<Kept>>();

  const fresh = (name: string): Kept | undefined => {
    const entry = kept.get(name);
    return entry !== undefined && clock.nowMs() < entry.freshUntilMs ? entry.ranking : undefined;
  };
  const load = async (name: string, scope: Scope, depth: number): Promise<Kept> => {
    const startedMs = clock.nowMs();
    const last = kept.get(name)?.ranking;
    const isKeptOn = last !== undefined && (last.isComplete || last.size >= depth) && (await isCurrent(last));
    const ranking = isKeptOn ? last : await read(scope, depth);
    const restMs = Math.max(MAX_AGE_MS, (clock.nowMs() - startedMs) * REST_FACTOR);
    // A deeper one that is fresh serves these pages too.
    if ((fresh(name)?.size ?? 0) <= ranking.size)
      kept.set(name, { ranking, freshUntilMs: startedMs + restMs });
    return ranking;
  };
  return {
    async reaching(scope, wanted) {
      const name = JSON.stringify(scope);
      const at = fresh(name);
      if (at !== undefined && (at.isComplete || at.size >= wanted)) return at;
      const depth = depths.find((candidate) => candidate >= wanted);
      if (depth === undefined) throw new RangeError(`a ranking has no place ${wanted}`);
      const flight = `${depth} ${name}`;
      const started = underWay.get(flight) ?? load(name, scope, depth).finally(() => underWay.delete(flight));
      underWay.set(flight, started);
      return started;
    },
  };
}
