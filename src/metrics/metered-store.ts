import type { ControlStore } from '../control/control-store.ts';
import { watchedPort } from '../watched-port.ts';
import type { Meter } from './meter.ts';

/** Counts the calls of the control store that fail, by name: `units.hold`. */
export function meteredStore(store: ControlStore, meter: Meter): ControlStore {
  const counted = <Part extends object>(name: string, part: Part): Part =>
    watchedPort(part, ({ method }, work) => {
      const answer = work();
      answer.catch(() => meter.count('control_store_errors_total', { call: `${name}.${method}` }));
      return answer;
    });
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
