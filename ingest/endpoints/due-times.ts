import type { EndpointLimits } from './limits.ts';
import type { SourceState } from './source-states.ts';
import type { EndpointSource } from './sync-source.ts';

/**
 * When each source is read next. Configured sources are read at the start, when their configuration changes, and soon again after a
 * failure. Contested origins are strangers' hosts: for no reason are they asked again before `refreshMs` have passed.
 */
export interface DueTimes {
  isDue(source: EndpointSource): boolean;
  /** `isWhole`: everything that it lists was read. */
  wasRead(source: EndpointSource, isWhole: boolean): void;
  /** A configured source that comes back has nothing stored and is read at once. */
  forget(id: string): void;
  /** Drops what is kept of contested origins that are no longer contested and may be asked again; `ids` are sources now. */
  dropPast(ids: ReadonlySet<string>): void;
}

interface DueTime {
  readonly mark: string;
  /** On the monotonic clock. */
  readonly atMs: number;
  readonly isStranger: boolean;
}

/** `states` are those that a predecessor stored, `nowMs` is Unix time. */
export function createDueTimes(
  states: Iterable<SourceState>,
  { refreshMs, retryMs }: Pick<EndpointLimits, 'refreshMs' | 'retryMs'>,
  nowMs: number,
): DueTimes {
  const due = new Map<string, DueTime>();
  for (const { source, kind, triedAt } of states) {
    if (kind !== 'contested') continue;
    // A clock that was set back makes them wait no longer than usual.
    const waitMs = Math.min(refreshMs, triedAt * 1_000 + refreshMs - nowMs);
    due.set(source, { mark: '', atMs: performance.now() + waitMs, isStranger: true });
  }
  return {
    isDue({ id, kind, mark }) {
      const last = due.get(id);
      if (last === undefined || performance.now() >= last.atMs) return true;
      return kind !== 'contested' && (last.isStranger || last.mark !== mark);
    },
    wasRead({ id, kind, mark }, isWhole) {
      const isStranger = kind === 'contested';
      const waitMs = isWhole || isStranger ? refreshMs : retryMs;
      due.set(id, { mark, isStranger, atMs: performance.now() + waitMs });
    },
    forget(id) {
      if (due.get(id)?.isStranger !== true) due.delete(id);
    },
    dropPast(ids) {
      for (const [id, { atMs }] of due) if (!ids.has(id) && performance.now() >= atMs) due.delete(id);
    },
  };
}
