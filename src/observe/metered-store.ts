import type { Meter } from '../../core/meter.ts';
import type { ControlStore } from '../accounts/store.ts';

/** Counts the calls of the control store that fail, by name: `units.hold`. */
export function meteredStore(store: ControlStore, meter: Meter): ControlStore {
  const counted = <Part extends object>(name: string, part: Part): Part => countFailures(name, part, meter);
  return {
    accounts: counted('accounts', store.accounts),
    units: counted('units', store.units),
    payments: counted('payments', store.payments),
    rates: counted('rates', store.rates),
    replies: counted('replies', store.replies),
    ping: () => store.ping(),
    close: () => store.close(),
  };
}

/** Every request asks the store: leaner than `watchedPort`, a call that succeeds costs one reaction more. */
function countFailures<Part extends object>(name: string, part: Part, meter: Meter): Part {
  const watched = Object.entries(part).map(([method, call]: [string, unknown]) => {
    if (typeof call !== 'function') return [method, call];
    const told = (): void => meter.count('control_store_errors_total', { call: `${name}.${method}` });
    return [
      method,
      (...given: readonly unknown[]): unknown => {
        const answer: unknown = Reflect.apply(call, part, given);
        if (answer instanceof Promise) answer.catch(told);
        return answer;
      },
    ];
  });
  return Object.fromEntries(watched) as Part; // the same methods under the same names
}
