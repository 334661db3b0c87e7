import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'vitest';
import { DEFAULT_PLANS } from '../../core/domain/plan.ts';
import { createLog } from '../../core/log.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import { createSweeper } from '../../src/accounts/sweeper.ts';
import { addKey, createOrganization } from './access.ts';
import { chargeGate, type DyingOrders, MOMENTS, type Moment } from './charge-gate.ts';
import { compiledSources } from './compile-sources.ts';
import { gateRequest, usageOperation, usedOutcome } from './gate.ts';
import { type ControlPlace, openControl } from './open-control.ts';
import { expectBooks } from './unit-books.ts';

/** Above every lease and every hold of the tier. */
const LATER_MS = 10 * 60_000;
const NO_GRANTS = {
  ...DEFAULT_PLANS,
  free: { ...DEFAULT_PLANS.free, monthlyGrantQu: 0 },
};

/**
 * A process dies by `kill -9` at moments of a call of 2 QU; then the sweeper comes, or does not, and the call is made again with
 * its Idempotency-Key: it is answered, and charged once in all. Without a second call it is charged once or never.
 */
export async function expectChargedOnce(place: ControlPlace): Promise<void> {
  const store = openControl(place);
  try {
    await store.ping();
    const seen = [];
    for (const dieAt of MOMENTS) seen.push(await crashAndAsk(store, { place, dieAt }));
    const once = { charged: 2, spent: 2, held: 0 };
    expect(seen).toEqual([
      { dieAt: 'ran', spentBefore: 0, ranAgain: true, replayed: false, ...once },
      { dieAt: 'claimed', spentBefore: 0, ranAgain: true, replayed: false, ...once },
      { dieAt: 'captured', spentBefore: 2, ranAgain: true, replayed: false, ...once },
      { dieAt: 'kept', spentBefore: 2, ranAgain: false, replayed: true, ...once },
    ]);
  } finally {
    await store.close();
  }
}

async function crashAndAsk(
  store: ControlStore,
  { place, dieAt }: { readonly place: ControlPlace; readonly dieAt: Moment },
) {
  const organizationId = await createOrganization(store, { units: 10 });
  const key = await addKey(store, { organizationId });
  const idempotencyKey = randomUUID();
  await dieOf({ place, key, idempotencyKey, dieAt });
  const nowMs = Date.now() + LATER_MS;
  // A hold that was never swept is found by the second call itself.
  if (dieAt !== 'claimed') await sweepAt(store, nowMs);
  const { spent: spentBefore } = await expectBooks(store, organizationId);
  let ranAgain = false;
  const operation = usageOperation(async () => {
    ranAgain = true;
    return usedOutcome(2);
  });
  const request = gateRequest(operation, { credentials: { 'x-api-key': key }, idempotencyKey });
  const { answer, replayed } = await chargeGate(store, nowMs).call(request);
  const charged = 'body' in answer ? answer.body['chargedQu'] : undefined;
  const { spent, held } = await expectBooks(store, organizationId);
  return { dieAt, spentBefore, ranAgain, replayed, charged, spent, held };
}

async function sweepAt(store: ControlStore, nowMs: number): Promise<void> {
  const sweeper = createSweeper({
    store,
    plans: NO_GRANTS,
    clock: { nowMs: () => nowMs },
    log: createLog('silent', 'test'),
    resolvePayments: async () => 0,
  });
  await sweeper.sweep();
}

async function dieOf(orders: DyingOrders): Promise<void> {
  const child = spawn(
    process.execPath,
    [join(compiledSources(), 'test/kit/charge-crash-child.js'), JSON.stringify(orders)],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const [, signal] = await once(child, 'exit');
  expect([orders.dieAt, signal]).toEqual([orders.dieAt, 'SIGKILL']);
}
