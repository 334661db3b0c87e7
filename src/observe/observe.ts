import type { Meter, OpenSpan, SpanFacts, Tracer } from '../../core/meter.ts';

/**
 * The one decorator that counts and traces the calls of a port. It is transparent to the port and its callers: arguments, answers and
 * rejections pass unchanged. Usage: `observe(sandbox, { run: { span: …, count: … } }, observers)`.
 */
export function observe<Port extends object>(port: Port, views: Views<Port>, observers: Observers): Port {
  if (observers.meter === null && observers.tracer === null) return port;
  const observed = Object.entries(port).map(([method, call]: [string, unknown]) => {
    const view = Reflect.get(views, method) as AnyView | undefined; // by the type of `views`
    if (typeof call !== 'function' || view === undefined) return [method, call];
    const work = (args: readonly unknown[]): Promise<unknown> => Reflect.apply(call, port, args);
    return [method, (...args: readonly unknown[]) => observeCall(work, args, view, observers)];
  });
  return Object.fromEntries(observed) as Port; // the same methods under the same names
}

/** Null where switched off. */
export interface Observers {
  readonly meter: Meter | null;
  readonly tracer: Tracer | null;
}

/** Methods that give no promise have no view, and are passed on as they are. */
export type Views<Port> = {
  readonly [Method in keyof Port]?: NonNullable<Port[Method]> extends (
    ...args: infer Args
  ) => Promise<infer Answer>
    ? View<Args, Answer>
    : never;
};

export interface View<Args extends readonly unknown[], Answer> {
  /** The span around a call; none where it is not given. */
  readonly span?: (...args: Args) => { readonly name: string; readonly facts: SpanFacts };
  /** Facts of the span that only the answer has. */
  readonly told?: (answer: Answer) => SpanFacts;
  /** Counts a call that has ended. Labels are bounded: never a text of a caller. */
  readonly count?: (meter: Meter, ended: Ended<Answer>, ...args: Args) => void;
  /** Counts only calls that reject, and adds less to those that do not. */
  readonly countFailure?: (meter: Meter, error: unknown) => void;
  /** Puts an answer that is itself a port under observation. */
  readonly within?: (answer: Answer, observers: Observers) => Answer;
}

export type Ended<Answer> = { readonly seconds: number } & (
  | { readonly answer: Answer; readonly failed: false }
  | { readonly error: unknown; readonly failed: true }
);

/** The type of one view is lost where the views of a port are looked up by name. */
type AnyView = View<readonly unknown[], unknown>;

const MS_PER_SECOND = 1_000;

function observeCall(
  work: (args: readonly unknown[]) => Promise<unknown>,
  args: readonly unknown[],
  view: AnyView,
  { meter, tracer }: Observers,
): Promise<unknown> {
  const counted = (): Promise<unknown> => (meter === null ? work(args) : countCall(work, args, view, meter));
  const spanned = (): Promise<unknown> => {
    if (tracer === null || view.span === undefined) return counted();
    const { name, facts } = view.span(...args);
    return tracer.span(name, facts, async (span: OpenSpan) => {
      const answer = await counted();
      if (view.told !== undefined) span.tell(view.told(answer));
      return answer;
    });
  };
  const { within } = view;
  return within === undefined ? spanned() : spanned().then((answer) => within(answer, { meter, tracer }));
}

async function countCall(
  work: (args: readonly unknown[]) => Promise<unknown>,
  args: readonly unknown[],
  { count, countFailure }: AnyView,
  meter: Meter,
): Promise<unknown> {
  const startedMs = performance.now();
  const seconds = (): number => (performance.now() - startedMs) / MS_PER_SECOND;
  try {
    const answer = await work(args);
    count?.(meter, { answer, failed: false, seconds: seconds() }, ...args);
    return answer;
  } catch (error) {
    countFailure?.(meter, error);
    count?.(meter, { error, failed: true, seconds: seconds() }, ...args);
    throw error;
  }
}

/** The same view for every method of a port that gives a promise, but for those named in `except`. */
export function everyMethod<Port extends object>(
  port: Port,
  viewOf: (method: string) => View<readonly unknown[], unknown>,
  except: readonly (keyof Port)[] = [],
): Views<Port> {
  const left: readonly PropertyKey[] = except;
  const methods = Object.keys(port).filter((method) => !left.includes(method));
  return Object.fromEntries(methods.map((method) => [method, viewOf(method)])) as Views<Port>; // views of any call
}
