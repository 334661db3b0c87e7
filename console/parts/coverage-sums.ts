import type { CoverageDay } from '../wire.ts';

/** What the days of an answer add up to. Pure. */

/** A name with its count. */
export interface Counted {
  readonly name: string;
  readonly count: number;
}

export interface CoverageSums {
  readonly seen: number;
  readonly unpaired: number;
  readonly payments: number;
  readonly named: number;
  readonly deadLetters: number;
  /** Of the days whose blocks are known. */
  readonly blocksIndexed: number;
  readonly blocksPartial: number;
  readonly blocksMissing: number;
  readonly byKind: readonly Counted[];
  readonly byMethod: readonly Counted[];
  readonly byReason: readonly Counted[];
}

type Counts = Readonly<Record<string, number>>;

export function coverageSums(days: readonly CoverageDay[]): CoverageSums {
  const sum = (of: (day: CoverageDay) => number): number => days.reduce((all, day) => all + of(day), 0);
  const sums = (of: (day: CoverageDay) => Counts): Counted[] =>
    Object.keys(days[0] === undefined ? {} : of(days[0])).map((name) => ({
      name,
      count: sum((day) => of(day)[name] ?? 0),
    }));
  return {
    seen: sum(({ authorizations }) => authorizations.seen),
    unpaired: sum(({ authorizations }) => authorizations.unpaired),
    payments: sum(({ by_kind: kinds }) => kinds.payment),
    named: sum(({ by_facilitator: by }) => by.named),
    deadLetters: sum(deadLettersOf),
    blocksIndexed: sum(({ blocks }) => blocks?.indexed ?? 0),
    blocksPartial: sum(({ blocks }) => blocks?.partial ?? 0),
    blocksMissing: sum(({ blocks }) => blocks?.missing ?? 0),
    byKind: sums(({ by_kind: kinds }) => kinds),
    byMethod: sums(({ by_method: methods }) => methods),
    byReason: sums(({ dead_letters: letters }) => letters),
  };
}

export function deadLettersOf({ dead_letters: letters }: CoverageDay): number {
  return Object.values(letters).reduce((all, count) => all + count, 0);
}
