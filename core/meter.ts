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

/** Spans, as the program sees them. The library behind it is loaded only where traces are sent (otel-tracer.ts). */

/** Facts of a span: ids, codes, counts. Never a text of SQL, a parameter, an address of a caller, a key or a URL. */
export type SpanFacts = Readonly<Record<string, string | number | boolean>>;

export interface OpenSpan {
  /** Adds what is known only later. */
  tell(facts: SpanFacts): void;
}

/** The span of a request that came in; everything that runs `within` it lies below it. */
export interface RequestSpan extends OpenSpan {
  within<T>(work: () => T): T;
  /** Ends the span. `failed` marks it as an error. */
  end(failed: boolean): void;
}

export interface Tracer {
  /** Runs the work in a span below the one it is called in. A rejection marks the span with the name of the error. */
  span<T>(name: string, facts: SpanFacts, work: (span: OpenSpan) => Promise<T>): Promise<T>;
  /** Begins the span of a request; `headers` may name the trace that it belongs to (W3C traceparent). */
  request(name: string, facts: SpanFacts, headers: Readonly<Record<string, unknown>>): RequestSpan;
  /** What a request that leaves has to carry to belong to the present span; nothing outside of one. */
  headers(): Readonly<Record<string, string>>;
  /** Sends what is left. Rejects never. */
  close(): Promise<void>;
}
