import { versionTimeMs } from '../../core/domain/version-time.ts';
import type { RollupLimits } from './limits.ts';
import { type DirtySlice, HOUR_SECONDS, rangeOf, type Slice, sliceName } from './slice.ts';

/** Whether a slice ended long enough ago. Its figures would be right in any case; this only saves work. */
export function isClosable(
  slice: Slice,
  nowMs: number,
  { closeAfterMs }: Pick<RollupLimits, 'closeAfterMs'>,
): boolean {
  return rangeOf(slice).to * 1_000 + closeAfterMs <= nowMs;
}

/** Whether a slice, or at least its first hour, is closable: the present day is, should it have to be closed by hours. */
export function isPartlyClosable(
  slice: Slice,
  nowMs: number,
  { closeAfterMs }: Pick<RollupLimits, 'closeAfterMs'>,
): boolean {
  return (rangeOf(slice).from + HOUR_SECONDS) * 1_000 + closeAfterMs <= nowMs;
}

/** Remembers since when slices wait to become quiet; bounded by the number of dirty slices. */
export interface Waiting {
  /** Whether a closable slice is quiet, or has waited for it long enough. */
  isDue(slice: DirtySlice, nowMs: number): boolean;
  /** The slice was computed: it waits anew from when it is next seen dirty. */
  computed(slice: Slice): void;
  /** Forgets the slices of days that are not among these. */
  keepDays(dirty: readonly Slice[]): void;
}

export function createWaiting(limits: Pick<RollupLimits, 'quietMs' | 'closeAnywayAfterMs'>): Waiting {
  const waits = new Map<string, { readonly dayStart: number; readonly sinceMs: number }>();
  return {
    isDue(slice, nowMs) {
      const name = sliceName(slice);
      const { sinceMs } = waits.get(name) ?? { sinceMs: nowMs };
      waits.set(name, { dayStart: slice.dayStart, sinceMs });
      return (
        nowMs - versionTimeMs(slice.ver) >= limits.quietMs || nowMs - sinceMs >= limits.closeAnywayAfterMs
      );
    },
    computed: (slice) => void waits.delete(sliceName(slice)),
    keepDays(dirty) {
      const days = new Set(dirty.map(({ dayStart }) => dayStart));
      for (const [name, { dayStart }] of waits) if (!days.has(dayStart)) waits.delete(name);
    },
  };
}
