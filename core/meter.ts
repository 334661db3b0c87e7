import type { FAMILIES } from './metric-families.ts';

/** The port for metrics. Only prometheus-meter.ts knows the library behind it. */

export type FamilyName = keyof typeof FAMILIES;
type NamesOf<Kind> = {
  [Name in FamilyName]: (typeof FAMILIES)[Name]['kind'] extends Kind ? Name : never;
}[FamilyName];
export type CounterName = NamesOf<'counter'>;
export type HistogramName = NamesOf<'histogram'>;
export type LabelsOf<Name extends FamilyName> = Readonly<
  Record<(typeof FAMILIES)[Name]['labels'][number], string>
>;

/** A value that is read at scrape time instead of being counted. */
export interface Reading {
  readonly name: Exclude<FamilyName, HistogramName>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Meter {
  /** Adds to a counter; `by` is 1 when absent. */
  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, by?: number): void;
  /** Records one duration, in seconds. */
  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): void;
  /**
   * Called at every scrape. Its previous values are dropped first, so that a failed load leaves its figures absent instead of stale.
   * `group` is the label under which its failures are counted.
   */
  read(group: string, load: () => Promise<readonly Reading[]>): void;
}

const MS_PER_SECOND = 1_000;

/** Seconds since a `performance.now()`. */
export function secondsSince(startedMs: number): number {
  return (performance.now() - startedMs) / MS_PER_SECOND;
}

/** The port for spans. The library behind it is loaded only if traces are sent (otel-tracer.ts). */

/** Attributes of a span: ids, codes, counts. Never SQL text, a parameter, a caller's address, a key or a URL. */
export type SpanFacts = Readonly<Record<string, string | number | boolean>>;

export interface OpenSpan {
  /** Adds attributes that become known later. */
  tell(facts: SpanFacts): void;
}

/** The span of an incoming request; spans begun `within` it become its children. */
export interface RequestSpan extends OpenSpan {
  within<T>(work: () => T): T;
  /** Ends the span. `failed` marks it as an error. */
  end(failed: boolean): void;
}

export interface Tracer {
  /** Runs the work in a child of the current span. A rejection marks the span with the name of the error. */
  span<T>(name: string, facts: SpanFacts, work: (span: OpenSpan) => Promise<T>): Promise<T>;
  /** Begins the span of a request; `headers` may carry the trace to continue (W3C traceparent). */
  request(name: string, facts: SpanFacts, headers: Readonly<Record<string, unknown>>): RequestSpan;
  /** Headers that tie an outgoing request to the current span; empty outside of one. */
  headers(): Readonly<Record<string, string>>;
  /** Sends the remaining spans. Never rejects. */
  close(): Promise<void>;
}
