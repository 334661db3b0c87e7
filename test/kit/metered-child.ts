import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ControlStore } from '../../src/accounts/store.ts';
import type { MeteredOrders } from './metered-processes.ts';
import { openControl } from './open-control.ts';

/** One API process of two: many metered calls at once for one organization, begun when the test says so. */

const T0 = 1_750_000_000_000;

async function main({ store: place, organizationId, name, calls }: MeteredOrders): Promise<void> {
  const store = openControl(place);
  await store.ping();
  process.stdout.write('ready\n');
  await once(process.stdin, 'data');
  const outcomes = await Promise.all(
    Array.from({ length: calls }, (_, index) => meteredCall(store, organizationId, `${name}:${index}`)),
  );
  process.stdout.write(`${JSON.stringify(outcomes)}\n`);
  await store.close();
  process.exit(0);
}

/** Hold, run, capture. */
async function meteredCall({ units }: ControlStore, organizationId: string, holdId: string): Promise<string> {
  const hold = { organizationId, holdId, units: 1, operation: 'sql.run' };
  const { outcome } = await units.hold({ ...hold, heldAtMs: T0, overdueAtMs: T0 + 60_000 });
  if (outcome !== 'held') return outcome;
  await nextTurn();
  return (await units.capture({ organizationId, holdId, units: 1, atMs: T0 })).outcome;
}

// Written by the test.
await main(JSON.parse(process.argv[2] ?? '') as MeteredOrders);
