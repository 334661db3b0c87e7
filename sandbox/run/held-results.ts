import { finished, type Readable } from 'node:stream';

/**
 * Which results the engine holds in its memory until they are read, and which in a file. Writing and reading the file is a
 * fifth of the work on a large result; the memory counts as the query's own, and only so many may have it at once.
 */
export interface HeldResults {
  /** Null when as many as may are held: the file it is. */
  take(): HeldResult | null;
}

export interface HeldResult {
  /** At the result's end or destruction. */
  freeWith(body: Readable): void;
  /** There is no result. */
  free(): void;
}

export function createHeldResults(max: number): HeldResults {
  let held = 0;
  return {
    take() {
      if (held >= max) return null;
      held += 1;
      let isFree = false;
      const free = (): void => {
        if (!isFree) held -= 1;
        isFree = true;
      };
      return { free, freeWith: (body) => void finished(body, free) };
    },
  };
}
