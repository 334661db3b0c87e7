import type { Catalogue } from './catalogue.ts';

/**
 * The catalogue that rows are graded by now. It may be replaced at any moment; what was graded by the one before and is not
 * acknowledged yet is known, so that a regrade can wait until no such row can land behind it.
 */
export interface CatalogueHolder {
  current(): Catalogue;
  /** Whether other processes publish catalogues too, so that one may be outdated when its rows arrive. */
  isShared(): boolean;
  /**
   * Lends the current catalogue until `work` ends. `work` must not end before its rows are acknowledged. `pass` is the number of
   * the pass that published it, by which the engine refuses rows of an older one; null where one process alone grades.
   */
  lend<T>(work: (catalogue: Catalogue, pass: bigint | null) => Promise<T>): Promise<T>;
  /** From now on `next` is lent; resolves when everything that was lent before has ended. */
  replace(next: Catalogue, pass?: bigint): Promise<void>;
  /** Resolves when a catalogue of a later pass is lent. */
  after(pass: bigint, signal: AbortSignal | undefined): Promise<void>;
}

export function createCatalogueHolder(initial: Catalogue, initialPass?: bigint): CatalogueHolder {
  let current = initial;
  let currentPass: bigint | null = initialPass ?? null;
  const lent = new Set<Promise<unknown>>();
  const waiting = new Set<() => void>();
  return {
    current: () => current,
    isShared: () => currentPass !== null,
    lend(work) {
      const running = work(current, currentPass);
      lent.add(running);
      const returned = () => lent.delete(running);
      running.then(returned, returned);
      return running;
    },
    async replace(next, pass) {
      current = next;
      currentPass = pass ?? null;
      for (const look of waiting) look();
      await Promise.allSettled([...lent]);
    },
    after: (pass, signal) =>
      new Promise((resolve, reject) => {
        const end = (settle: () => void): void => {
          waiting.delete(look);
          signal?.removeEventListener('abort', abort);
          settle();
        };
        const look = (): void => {
          if (currentPass !== null && currentPass > pass) end(resolve);
        };
        const abort = (): void => end(() => reject(signal?.reason));
        waiting.add(look);
        signal?.addEventListener('abort', abort, { once: true });
        if (signal?.aborted) abort();
        else look();
      }),
  };
}
