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
  /** Payments that a named facilitator relayed, and others, of the days of which `isNamedTelling`. */
  readonly named: number;
  readonly unnamed: number;
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
    named: sum((day) => (isNamedTelling(day) ? day.by_facilitator.named : 0)),
    unnamed: sum((day) => (isNamedTelling(day) ? day.by_facilitator.unknown : 0)),
    deadLetters: sum(deadLettersOf),
    blocksIndexed: sum(({ blocks }) => blocks?.indexed ?? 0),
    blocksPartial: sum(({ blocks }) => blocks?.partial ?? 0),
    blocksMissing: sum(({ blocks }) => blocks?.missing ?? 0),
    byKind: sums(({ by_kind: kinds }) => kinds),
    byMethod: sums(({ by_method: methods }) => methods),
    byReason: sums(({ dead_letters: letters }) => letters),
  };
}

/** Where only transactions of named fee payers are read, no other payment is there, and a share of them says nothing. */
export function isNamedTelling({ blocks }: Pick<CoverageDay, 'blocks'>): boolean {
  return (blocks?.partial ?? 0) === 0;
}

export function deadLettersOf({ dead_letters: letters }: CoverageDay): number {
  return Object.values(letters).reduce((all, count) => all + count, 0);
}
