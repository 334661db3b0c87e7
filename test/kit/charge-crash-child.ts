import type { ControlStore } from '../../src/accounts/store.ts';
import { chargeGate, type DyingOrders } from './charge-gate.ts';
import { gateRequest, usageOperation, usedOutcome } from './gate.ts';
import { openControl } from './open-control.ts';

/** One call by use, in a process that kills itself at the given moment. */

const die = (): void => {
  process.kill(process.pid, 'SIGKILL');
};

async function main({ place, key, idempotencyKey, dieAt }: DyingOrders): Promise<void> {
  const store = openControl(place);
  const at = <Done>(moment: DyingOrders['dieAt'], done: Done): Done => {
    if (moment === dieAt) die();
    return done;
  };
  const { units, replies } = store;
  const dying: ControlStore = {
    ...store,
    units: {
      ...units,
      capture: async (capture) => at('captured', await units.capture(capture)),
    },
    replies: {
      ...replies,
      finish: async (reply) =>
        at(reply.scope.startsWith('hold:') ? 'claimed' : 'kept', await replies.finish(reply)),
    },
  };
  const operation = usageOperation(async () => at('ran', usedOutcome(2)));
  const request = gateRequest(operation, { credentials: { 'x-api-key': key }, idempotencyKey });
  await chargeGate(dying, Date.now()).call(request);
}

// Written by the test.
await main(JSON.parse(process.argv[2] ?? '') as DyingOrders);
