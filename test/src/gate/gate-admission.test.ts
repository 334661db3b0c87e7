import { expect } from 'vitest';
import { Failure } from '../../../core/errors.ts';
import { type AdmissionLimits, createAdmission } from '../../../src/gate/admission.ts';
import type { Gate, GateRequest } from '../../../src/gate/gate.ts';
import type { PaymentLane } from '../../../src/payment/payment-lane.ts';
import { test } from '../../kit/fixtures.ts';
import { gateRequest, offersWith, openHandedLane, pricedOperation } from '../../kit/gate.ts';
import type { GateBed } from '../../kit/gate-bed.ts';

/** An overloaded gate: with one place for reads, an empty queue and a real store. */

let gates: GateBed;
test.beforeAll(({ gates: bed }) => {
  gates = bed;
});

const ONE = { all: 1, heavy: 1, waitingMax: 0, waitingMaxPerCaller: 0, waitMaxMs: 0, retryAfterSeconds: 2 };
const LIMITS: AdmissionLimits = { reads: ONE, queries: ONE };

const fullGate = (lane: PaymentLane | null = null): Gate =>
  gates.over({ lane, limits: { admission: createAdmission(LIMITS) } });

function signal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((made) => {
    resolve = made;
  });
  return { promise, resolve };
}

/** Runs a call for as long as `work` takes, with everybody else outside. */
async function whileBusy<Result>(gate: Gate, work: () => Promise<Result>): Promise<Result> {
  const { credentials } = await gates.customer(5);
  const running = signal();
  const over = signal();
  const operation = pricedOperation('keyed', async () => {
    running.resolve();
    await over.promise;
    return {};
  });
  const busy = gate.call(gateRequest(operation, { credentials }));
  await running.promise;
  try {
    return await work();
  } finally {
    over.resolve();
    await busy;
  }
}

const codeOf = (gate: Gate, request: GateRequest): Promise<string> =>
  gate.call(request).then(
    () => 'ok',
    (error: unknown) => {
      if (error instanceof Failure) return `${error.code} ${error.context.retryAfterSeconds ?? '-'}`;
      throw error;
    },
  );

test('a call without a place is refused before units are held for it, and was counted', async () => {
  const { organizationId, credentials } = await gates.customer(5);
  const gate = fullGate();
  const request = gateRequest(pricedOperation('metered'), { credentials });
  expect(await whileBusy(gate, () => codeOf(gate, request))).toBe('overloaded 2');
  expect(request.events).toEqual(['rate 119']);
  expect(await gates.ledger(organizationId)).toEqual(['grant 5']);
  expect(await codeOf(gate, request)).toBe('ok');
});

test('a payment is not taken for a call without a place', async () => {
  const lane = openHandedLane();
  const gate = fullGate(lane);
  const request = gateRequest(pricedOperation('metered'), { offers: offersWith('payment') });
  expect(await whileBusy(gate, () => codeOf(gate, request))).toBe('overloaded 2');
  expect(lane.taken).toEqual([]);
});

test('who has paid is served, also when every place was taken while the payment settled', async () => {
  const lane = openHandedLane();
  const gate = fullGate({
    ...lane,
    // The place must be free while the facilitator settles: another call takes it, and keeps it until the end.
    take: (sent) => whileBusy(gate, () => lane.take(sent)),
  });
  const request = gateRequest(pricedOperation('metered'), { offers: offersWith('payment') });
  expect(await codeOf(gate, request)).toBe('ok');
  expect(lane.taken).toEqual(['payment']);
});

test('an offer is made whatever else is going on', async () => {
  const gate = fullGate(openHandedLane());
  const request = gateRequest(pricedOperation('metered'), { offers: offersWith() });
  expect(await whileBusy(gate, () => codeOf(gate, request))).toBe('payment_required -');
});

test('a run that fails gives its place back', async () => {
  const { credentials } = await gates.customer(5);
  const gate = fullGate();
  const broken = pricedOperation('keyed', () => Promise.reject(new Error('broken')));
  await expect(gate.call(gateRequest(broken, { credentials }))).rejects.toThrow('broken');
  expect(await codeOf(gate, gateRequest(pricedOperation('keyed'), { credentials }))).toBe('ok');
});
