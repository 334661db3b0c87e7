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
