import { DEFAULT_PLANS } from '../../core/domain/plan.ts';
import { createLog } from '../../core/log.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import { createGate } from '../../src/gate/call.ts';
import type { Gate } from '../../src/gate/gate.ts';
import type { GateLimits } from '../../src/gate/tools.ts';
import type { ControlPlace } from './open-control.ts';

/** The moments of a call by use after which its process can be gone, in order. */
export const MOMENTS = ['ran', 'claimed', 'captured', 'kept'] as const;
export type Moment = (typeof MOMENTS)[number];

export interface DyingOrders {
  readonly place: ControlPlace;
  readonly key: string;
  readonly idempotencyKey: string | undefined;
  readonly dieAt: Moment;
}

/** A gate at a time of its own, over a store. */
export function chargeGate(store: ControlStore, nowMs: number, limits: GateLimits = {}): Gate {
  return createGate({
    store,
    lane: null,
    bearer: null,
    plans: DEFAULT_PLANS,
    access: { anonymous: 'priced', trialKeyDays: 30, trialRequestsPerMinute: 60, requestsPerMinute: 1_000 },
    clock: { nowMs: () => nowMs },
    log: createLog('silent', 'test'),
    // A store that does not answer here never will.
    limits: { captureRetryMs: 0, ...limits },
  });
}
