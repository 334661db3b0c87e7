import type { FAMILIES } from './metric-families.ts';

/** What parts of the program may say about themselves. The library behind it is known to one file (prometheus-meter.ts). */

export type FamilyName = keyof typeof FAMILIES;
type NamesOf<Kind> = {
  [Name in FamilyName]: (typeof FAMILIES)[Name]['kind'] extends Kind ? Name : never;
}[FamilyName];
export type CounterName = NamesOf<'counter'>;
export type HistogramName = NamesOf<'histogram'>;
export type LabelsOf<Name extends FamilyName> = Readonly<
  Record<(typeof FAMILIES)[Name]['labels'][number], string>
>;

/** A value that is read when somebody asks, instead of being counted. */
export interface Reading {
  readonly name: Exclude<FamilyName, HistogramName>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Meter {
  /** Adds to a counter; `by` is 1 when absent. */
  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, by?: number): void;
  /** Takes one duration, in seconds. */
  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): void;
  /**
   * Asked at every scrape. What it gave before is forgotten first, so that a load that fails leaves nothing stale: its figures are
   * absent then. `group` names the load where its failures are counted.
   */
  read(group: string, load: () => Promise<readonly Reading[]>): void;
}

const MS_PER_SECOND = 1_000;

/** Seconds since a `performance.now()`. */
export function secondsSince(startedMs: number): number {
  return (performance.now() - startedMs) / MS_PER_SECOND;
}
