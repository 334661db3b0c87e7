/**
 * A port whose calls somebody looks at from outside, for counts and traces: the parts that make and use it know nothing of it.
 * `around` runs the call and gives its promise on. Methods that give no promise, and those named in `except`, are left alone.
 */
export function watchedPort<Port extends object>(
  port: Port,
  around: (call: WatchedCall, work: () => Promise<unknown>) => Promise<unknown>,
  except: readonly (keyof Port)[] = [],
): Port {
  const left: readonly PropertyKey[] = except;
  const watched = Object.entries(port).map(([method, call]: [string, unknown]) => {
    if (typeof call !== 'function' || left.includes(method)) return [method, call];
    return [
      method,
      (...given: readonly unknown[]) =>
        around({ method, given }, () => Promise.resolve(Reflect.apply(call, port, given))),
    ];
  });
  return Object.fromEntries(watched) as Port; // the same methods under the same names
}

export interface WatchedCall {
  readonly method: string;
  readonly given: readonly unknown[];
}

/**
 * What a call of a port to the engine is called: the first thing given is a statement with its name, or the name. Behind a space
 * some names say which chain or slice they are about, which is left out: names are few.
 */
export function statementName({ method, given: [first] }: WatchedCall): string {
  const name = typeof first === 'string' ? first : nameOf(first);
  const [family = ''] = (name ?? method).split(' ', 1);
  return family;
}

function nameOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('name' in value)) return null;
  return typeof value.name === 'string' ? value.name : null;
}
