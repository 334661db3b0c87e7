import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { DEFAULT_PLANS } from '../../../core/domain/plan.ts';
import { Failure, fail } from '../../../core/errors.ts';
import { createLog } from '../../../core/log.ts';
import { type ControlStore, StoreUnavailable } from '../../../src/accounts/store.ts';
import { createSweeper } from '../../../src/accounts/sweeper.ts';
import type { Charge, Outcome } from '../../../src/operations/answer.ts';
import { addKey, createOrganization, ownTestStore } from '../../kit/access.ts';
import { chargeGate } from '../../kit/charge-gate.ts';
import { gateRequest, usageOperation, usedOutcome } from '../../kit/gate.ts';
import { lengthOf } from '../../kit/lengths.ts';
import { expectBooks } from '../../kit/unit-books.ts';

/** However calls by use end, and whenever the store fails, the units add up and no caller pays more than its answer says. */

const UNITS = 12;
const HELD = 3;

type End = 'answers' | 'fails after use' | 'fails' | 'breaks';

const aCall = fc.record({
  end: fc.constantFrom<End>('answers', 'answers', 'fails after use', 'fails', 'breaks'),
  used: fc.integer({ min: 0, max: HELD + 1 }),
  /** A few keys for many calls. */
  key: fc.option(fc.constantFrom('a', 'b', 'c')),
  /** Which call of the store fails, if one does. */
  trouble: fc.option(fc.constantFrom('capture', 'release', 'finish', 'hold'), { freq: 3 }),
  /** Whether it runs at the same time as the one before it. */
  beside: fc.boolean(),
});
type Call = typeof aCall extends fc.Arbitrary<infer Value> ? Value : never;

const { store, close } = ownTestStore();
afterAll(close);

test('charged is never more than held, reported charges are the spent units, and the books balance', {
  timeout: 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aCall, { minLength: 1, maxLength: 12 }), async (calls) => {
      const organizationId = await createOrganization(store, { units: UNITS });
      const credentials = { 'x-api-key': await addKey(store, { organizationId }) };
      const nowMs = Date.UTC(2026, 10, 21);
      const told: CommandOutput[] = [];
      let beside: Promise<unknown>[] = [];
      for (const call of calls) {
        if (!call.beside) {
          await Promise.all(beside);
          beside = [];
        }
        const gate = chargeGate(troubled(store, call.trouble), nowMs);
        const request = gateRequest(operationOf(call), {
          credentials,
          idempotencyKey: call.key ?? undefined,
        });
        beside.push(
          gate.call(request).then(
            ({ answer, replayed }) =>
              'body' in answer && told.push({ charge: chargeOf(answer.body), key: call.key, replayed }),
            (error: unknown) => {
              const charge = error instanceof Failure ? error.context.charged : undefined;
              if (charge !== undefined) told.push({ charge, key: call.key, replayed: false });
            },
          ),
        );
      }
      await Promise.all(beside);
      for (const { charge } of told) {
        expect(charge.chargedQu).toBeLessThanOrEqual(charge.heldQu);
        expect(charge.chargedQu).toBeGreaterThanOrEqual(0);
      }
      const { spent, granted } = await expectBooks(store, organizationId);
      expect(granted).toBe(UNITS);
      expect(spent).toBe(spentBy(told));
      await sweep(store, nowMs + 3_600_000);
      expect(await expectBooks(store, organizationId)).toMatchObject({ held: 0, spent });
    }),
    { numRuns: lengthOf('chargeProperties') },
  );
});

interface CommandOutput {
  readonly charge: Charge;
  readonly key: string | null;
  readonly replayed: boolean;
}

function chargeOf(body: Record<string, unknown>): Charge {
  return body as unknown as Charge; // what `usedOutcome` shows
}

/** Each key is charged once, however often it is reported; a call without one, each time. */
function spentBy(told: readonly CommandOutput[]): number {
  const byKey = new Map<string, number>();
  let spent = 0;
  for (const { key, charge } of told) {
    if (key === null) spent += charge.chargedQu;
    else byKey.set(key, Math.max(byKey.get(key) ?? 0, charge.chargedQu));
  }
  return [...byKey.values()].reduce((sum, units) => sum + units, spent);
}

function operationOf({ end, used }: Call) {
  return usageOperation(async (): Promise<Outcome> => {
    await Promise.resolve();
    switch (end) {
      case 'answers':
        return usedOutcome(used);
      case 'fails after use':
        throw fail('query_failed', { detail: 'No.', usedQu: used });
      case 'fails':
        throw fail('upstream_unavailable', { detail: 'No.' });
      case 'breaks':
        throw new TypeError('a bug');
    }
  });
}

/** The store of one call, of whose methods one fails before it does anything. */
function troubled(store: ControlStore, trouble: Call['trouble']): ControlStore {
  const down = () => Promise.reject(new StoreUnavailable(new Error('down')));
  const { units, replies } = store;
  const name = trouble ?? '';
  return {
    ...store,
    units: name in units ? { ...units, [name]: down } : units,
    replies: name in replies ? { ...replies, [name]: down } : replies,
  };
}

async function sweep(store: ControlStore, nowMs: number): Promise<void> {
  const plans = { ...DEFAULT_PLANS, free: { ...DEFAULT_PLANS.free, monthlyGrantQu: 0 } };
  const log = createLog('silent', 'test');
  await createSweeper({
    store,
    plans,
    clock: { nowMs: () => nowMs },
    log,
    resolvePayments: async () => 0,
  }).sweep();
}
