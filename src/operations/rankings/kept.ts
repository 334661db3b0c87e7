import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../core/clock.ts';

/**
 * Rankings that are the same for every caller and cost a pass over a table: each is computed once, kept for a while and read by
 * all. Callers that ask while it is computed anew get the one before, or wait for the same computation where that is too old. Only its
 * best part is read, as far down as callers ask, because the best thousand cost a fraction of the whole order.
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
  /** A ranking that is fresh, or is computed anew, and holds the first `wanted` rows, or all there are. */
  reaching(scope: Scope, wanted: number): Promise<Kept>;
}

const MAX_AGE_MS = 10_000;
/** A ranking is kept this many times as long as it took: at most a twentieth of the time goes into each. */
const REST_FACTOR = 20;
/** How far beyond the time for which it is kept a ranking is answered while a new one is computed, in parts of that time. */
const STALE_FACTOR = 1;
/** Callers choose filters freely, so the number of rankings is bounded; the least recently used one goes first. */
const KEPT_MAX = 64;

export function keepRankings<Scope, Kept extends Ranking>(options: {
  readonly clock: Clock;
  /** The rows to read for callers who ask for less than that many; ascending, the last one for every caller. */
  readonly depths: readonly number[];
  /** At least the first `depth` rows, or all there are. `old`: callers get it until then; undefined where they wait. */
  readonly read: (scope: Scope, depth: number, old: Kept | undefined) => Promise<Kept>;
  /** Whether reading anew would give the same: then it is kept on. */
  readonly isCurrent: (kept: Kept) => Promise<boolean>;
}): KeptRankings<Scope, Kept> {
  const { clock, depths, read, isCurrent } = options;
  const kept = new LRUCache<string, Entry<Kept>>({ max: KEPT_MAX });
  const underWay = new Map<string, Promise<Kept>>();

  const load = async (name: string, scope: Scope, depth: number, old: Kept | undefined): Promise<Kept> => {
    const startedMs = clock.nowMs();
    const last = kept.get(name)?.ranking;
    const isKeptOn = last !== undefined && reaches(last, depth) && (await isCurrent(last));
    const ranking = isKeptOn ? last : await read(scope, depth, old);
    const restMs = Math.max(MAX_AGE_MS, (clock.nowMs() - startedMs) * REST_FACTOR);
    // A deeper one that is fresh serves these pages too.
    const known = kept.get(name);
    if (known === undefined || known.ranking.size <= ranking.size || clock.nowMs() >= known.freshUntilMs)
      kept.set(name, {
        ranking,
        freshUntilMs: startedMs + restMs,
        usableUntilMs: startedMs + restMs * (1 + STALE_FACTOR),
      });
    return ranking;
  };
  return {
    async reaching(scope, wanted) {
      const name = JSON.stringify(scope);
      const nowMs = clock.nowMs();
      const known = kept.get(name);
      const isUsable = known !== undefined && reaches(known.ranking, wanted) && nowMs < known.usableUntilMs;
      if (isUsable && nowMs < known.freshUntilMs) return known.ranking;
      const old = isUsable ? known.ranking : undefined;
      const depth = depths.find((candidate) => candidate >= wanted);
      if (depth === undefined) throw new RangeError(`a ranking has no place ${wanted}`);
      const flight = `${depth} ${name}`;
      const started =
        underWay.get(flight) ?? load(name, scope, depth, old).finally(() => underWay.delete(flight));
      underWay.set(flight, started);
      if (old === undefined) return started;
      // The next caller computes it again; once the old one is too old, callers get the error.
      started.catch(() => undefined);
      return old;
    },
  };
}

interface Entry<Kept> {
  readonly ranking: Kept;
  /** Unix milliseconds. */
  readonly freshUntilMs: number;
  /** Until when it is answered while a new one is computed. */
  readonly usableUntilMs: number;
}

function reaches({ isComplete, size }: Ranking, wanted: number): boolean {
  return isComplete || size >= wanted;
}
