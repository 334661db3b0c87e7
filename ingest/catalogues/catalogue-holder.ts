import type { Catalogue } from './catalogue.ts';

/**
 * The catalogue that rows are graded by now. It may be replaced at any moment; what was graded by the one before and is not
 * acknowledged yet is known, so that a regrade can wait until no such row can land behind it.
 */
export interface CatalogueHolder {
  current(): Catalogue;
  /** Lends the current catalogue until `work` ends. `work` must not end before its rows are acknowledged. */
  lend<T>(work: (catalogue: Catalogue) => Promise<T>): Promise<T>;
  /** From now on `next` is lent; resolves when everything that was lent before has ended. */
  replace(next: Catalogue): Promise<void>;
}

export function createCatalogueHolder(initial: Catalogue): CatalogueHolder {
  let current = initial;
  const lent = new Set<Promise<unknown>>();
  return {
    current: () => current,
    lend(work) {
      const running = work(current);
      lent.add(running);
      const returned = () => lent.delete(running);
      running.then(returned, returned);
      return running;
    },
    async replace(next) {
      current = next;
      await Promise.allSettled([...lent]);
    },
  };
}
