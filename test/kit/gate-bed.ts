import { DEFAULT_PLANS, type PlanId } from '../../core/domain/plan.ts';
import { Failure } from '../../core/errors.ts';
import { createLog } from '../../core/log.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import { createSweeper, type Sweeper } from '../../src/accounts/sweeper.ts';
import { createGate } from '../../src/gate/call.ts';
import type { Gate, GateAnswer } from '../../src/gate/gate.ts';
import type { GateDeps } from '../../src/gate/tools.ts';
import { addKey, createOrganization, ownTestStore } from './access.ts';
import { type TestClock, testClock } from './api.ts';

/** A gate over a real store of its own; what it guards are small operations. */
export interface GateBed {
  readonly store: ControlStore;
  readonly clock: TestClock;
  /** With parts of its own; the x402 lane is none unless one is given. */
  over(parts?: Partial<GateDeps>): Gate;
  customer(units?: number, plan?: PlanId): Promise<GateCustomer>;
  /** Each row as `kind units`, and what of a hold went back. */
  ledger(organizationId: string): Promise<string[]>;
  /** What the sweeper does at the time of the clock. */
  sweep(plans?: Partial<typeof DEFAULT_PLANS>): ReturnType<Sweeper['sweep']>;
}

export interface GateCustomer {
  readonly organizationId: string;
  readonly key: string;
  readonly credentials: { readonly 'x-api-key': string };
}

export const GATE_ACCESS = {
  anonymous: 'priced',
  trialKeyDays: 30,
  trialRequestsPerMinute: 60,
  requestsPerMinute: 1_000,
} as const;

const log = createLog('silent', 'test');

export function openGateBed(): GateBed & { close(): Promise<void> } {
  const { store, close } = ownTestStore();
  const clock = testClock();
  return {
    store,
    clock,
    over: (parts = {}) =>
      createGate({
        ...{ store, lane: null, bearer: null, plans: DEFAULT_PLANS, access: GATE_ACCESS, clock, log },
        // A store that does not answer here never will.
        limits: { captureRetryMs: 0 },
        ...parts,
      }),
    async customer(units = 0, plan = 'free') {
      const organizationId = await createOrganization(store, { units, plan });
      const key = await addKey(store, { organizationId });
      return { organizationId, key, credentials: { 'x-api-key': key } };
    },
    ledger: async (organizationId) =>
      (await store.units.ledger({ organizationId, after: 0, limit: 100 })).map(
        ({ kind, units, released }) => `${kind} ${units}${released > 0 ? ` (${released} back)` : ''}`,
      ),
    sweep: (plans = {}) =>
      createSweeper({
        store,
        plans: { ...DEFAULT_PLANS, ...plans },
        clock,
        log,
        resolvePayments: async () => 0,
      }).sweep(),
    close,
  };
}

export async function textOf({ answer }: GateAnswer): Promise<string> {
  if ('body' in answer) return JSON.stringify(answer.body);
  if ('file' in answer) throw new Error('a file');
  return Buffer.concat(await answer.stream.body.toArray()).toString();
}

/** The object of an answer, also where it is a stream of JSON. */
export async function answerOf(answer: GateAnswer): Promise<unknown> {
  return JSON.parse(await textOf(answer));
}

/** What the answer says; or the code of the refusal, with what was charged for it. */
export async function outcomeOf(asked: Promise<GateAnswer>): Promise<unknown> {
  try {
    return await answerOf(await asked);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { charged } = error.context;
    return charged === undefined ? error.code : { code: error.code, ...charged };
  }
}
