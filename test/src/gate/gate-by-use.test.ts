import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { Readable } from 'node:stream';
import { describe, expect } from 'vitest';
import { DEFAULT_PLANS } from '../../../core/domain/plan.ts';
import { type Failure, fail } from '../../../core/errors.ts';
import { type ControlStore, StoreUnavailable } from '../../../src/accounts/store.ts';
import { REPLY_KEPT_MAX_BYTES } from '../../../src/gate/idempotency.ts';
import type { GateDeps } from '../../../src/gate/tools.ts';
import type { Answer, Outcome } from '../../../src/operations/answer.ts';
import type { OpenCall, PaymentLane } from '../../../src/payment/payment-lane.ts';
import { addKey } from '../../kit/access.ts';
import { test } from '../../kit/fixtures.ts';
import {
  gateRequest,
  offersWith,
  openHandedLane,
  type RequestWish,
  usageOperation,
  usedOutcome,
} from '../../kit/gate.ts';
import { answerOf, type GateBed, outcomeOf, textOf } from '../../kit/gate-bed.ts';
import { expectBooks } from '../../kit/unit-books.ts';

/** Calls that are charged by use, over a real gates.store. */

let gates: GateBed;
test.beforeAll(({ gates: bed }) => {
  gates = bed;
});

const down = () => Promise.reject(new StoreUnavailable(new Error('full')));
const used = (units: number | null) => () => Promise.resolve(usedOutcome(units));

test('a run that is sure to fail is refused before a payment is taken; a call by units skips that check', async () => {
  const sure = () => Promise.reject(fail('query_failed', { detail: 'No such column.' }));
  const operation = usageOperation(used(1), {}, undefined, sure);
  const lane = openHandedLane();
  const paid = gates.over({ lane }).call(gateRequest(operation, { offers: offersWith('payment') }));
  expect([await outcomeOf(paid), lane.taken]).toEqual(['query_failed', []]);
  const { credentials } = await gates.customer(10);
  expect(await outcomeOf(gates.over().call(gateRequest(operation, { credentials })))).toMatchObject({
    chargedQu: 1,
  });
});

describe('a run costs what it used', () => {
  test('the units of the price are held, those used are spent, the rest goes back', async () => {
    const { organizationId, credentials } = await gates.customer(10);
    const request = gateRequest(usageOperation(used(2)), { credentials });
    expect(await outcomeOf(gates.over().call(request))).toEqual({ heldQu: 3, chargedQu: 2, balance: 8 });
    expect(await gates.ledger(organizationId)).toEqual(['grant 10', 'hold 3', 'capture 2 (1 back)']);
  });

  test('a caller with fewer units than the hold is refused, and offered no payment for a tier that is not sold', async () => {
    const { credentials } = await gates.customer(11, 'enterprise');
    const gate = gates.over({ lane: openHandedLane() });
    const ask = (tier: 'standard' | 'extended', qu: number) =>
      gate.call(gateRequest(usageOperation(used(1), { tier, qu }), { credentials, offers: offersWith() }));
    const refusals = await Promise.all(
      (['extended', 'standard'] as const).map((tier) =>
        ask(tier, 12).then(
          () => undefined,
          ({ code, message, context }: Failure) => [code, message, 'offer' in context],
        ),
      ),
    );
    const words =
      'The call holds 12 QU while it runs; the organization has 11 QU free. Hold less with a smaller max_qu.';
    expect(refusals).toEqual([
      ['insufficient_qu', words, false],
      ['insufficient_qu', words, true],
    ]);
  });

  test('a failure that used something is charged for that, and says so; any other costs nothing', async () => {
    const { organizationId, credentials } = await gates.customer(10);
    const failing = (usedQu?: number) =>
      usageOperation(() =>
        Promise.reject(fail('query_failed', { detail: 'No.', ...(usedQu === undefined ? {} : { usedQu }) })),
      );
    const ask = (usedQu?: number) =>
      outcomeOf(gates.over().call(gateRequest(failing(usedQu), { credentials })));
    expect([await ask(2), await ask(0), await ask()]).toEqual([
      { code: 'query_failed', heldQu: 3, chargedQu: 2, balance: 8 },
      { code: 'query_failed', heldQu: 3, chargedQu: 0, balance: 8 },
      'query_failed',
    ]);
    expect(await expectBooks(gates.store, organizationId)).toMatchObject({ spent: 2, held: 0, balance: 8 });
  });

  test('no caller is charged more than was held, nor for a use that is no number of units', async () => {
    const { organizationId, credentials } = await gates.customer(10);
    const charged = [];
    for (const units of [99, -1, 1.5, null])
      charged.push(
        await outcomeOf(gates.over().call(gateRequest(usageOperation(used(units)), { credentials }))),
      );
    expect(charged).toMatchObject([{ chargedQu: 3 }, { chargedQu: 0 }, { chargedQu: 1 }, { chargedQu: 0 }]);
    await expectBooks(gates.store, organizationId);
  });

  test('an outcome whose charge cannot be written is thrown away and not answered', async () => {
    const { credentials } = await gates.customer(10);
    const outcome = usedOutcome(1);
    const gate = gates.over({ store: { ...gates.store, units: { ...gates.store.units, capture: down } } });
    const request = gateRequest(
      usageOperation(() => Promise.resolve(outcome)),
      { credentials },
    );
    expect(await outcomeOf(gate.call(request))).toBe('upstream_unavailable');
    expect(outcome.discarded).toBe(true);
  });

  test('a failure whose charge cannot be written reaches the caller unchanged, without a charge', async () => {
    const { credentials } = await gates.customer(10);
    const gate = gates.over({ store: { ...gates.store, units: { ...gates.store.units, capture: down } } });
    const operation = usageOperation(() =>
      Promise.reject(fail('query_failed', { detail: 'No.', usedQu: 1 })),
    );
    expect(await outcomeOf(gate.call(gateRequest(operation, { credentials })))).toBe('query_failed');
  });

  test('a hold outlives the longest run of its tier', async () => {
    const { organizationId, credentials } = await gates.customer(100, 'enterprise');
    const slow = async () => {
      gates.clock.advanceSeconds(400);
      await gates.sweep({ enterprise: { ...DEFAULT_PLANS.enterprise, monthlyGrantQu: 0 } });
      return usedOutcome(60);
    };
    const request = gateRequest(usageOperation(slow, { tier: 'deep', qu: 60 }), { credentials });
    expect(await outcomeOf(gates.over().call(request))).toMatchObject({ chargedQu: 60 });
    expect(await expectBooks(gates.store, organizationId)).toMatchObject({ held: 0, spent: 60 });
  });
});

describe('tiers', () => {
  const ask = (who: RequestWish, tier: 'standard' | 'extended' | 'deep', over: Partial<GateDeps> = {}) =>
    outcomeOf(gates.over(over).call(gateRequest(usageOperation(used(1), { tier }), who)));

  test.each([
    ['free', [true, false, false]],
    ['pro', [true, true, false]],
    ['enterprise', [true, true, true]],
  ] as const)('the plan %s has those that it names', async (plan, allowed) => {
    const who = await gates.customer(100, plan);
    const answers = [];
    for (const tier of ['standard', 'extended', 'deep'] as const) answers.push(await ask(who, tier));
    expect(answers.map((answer) => answer !== 'upgrade_required')).toEqual(allowed);
  });

  test('the refusal names the plans that include the tier', async () => {
    const { credentials } = await gates.customer(100, 'pro');
    const asked = gates.over().call(gateRequest(usageOperation(used(1), { tier: 'deep' }), { credentials }));
    await expect(asked).rejects.toMatchObject({
      code: 'upgrade_required',
      message: 'The plan pro does not include the tier deep. deep is included in: enterprise.',
    });
  });

  test('payers and callers without an organization have the first one only', async () => {
    const lane = openHandedLane();
    const who = await gates.customer(100, 'enterprise');
    const trial = { credentials: { 'x-api-key': await addKey(gates.store, { kind: 'trial' }) } };
    const paying = { ...who, offers: offersWith('signed') };
    const over = { lane };
    expect([
      await ask(paying, 'extended', over),
      await ask({ credentials: {}, offers: offersWith('signed') }, 'deep', over),
      await ask({ credentials: {} }, 'extended', over),
      await ask(trial, 'extended', over),
      await ask({ credentials: {} }, 'standard', over),
    ]).toEqual([
      'upgrade_required',
      'upgrade_required',
      'upgrade_required',
      'upgrade_required',
      'payment_required',
    ]);
    expect(lane.taken).toEqual([]);
    expect(await ask(paying, 'standard', over)).toEqual({ heldQu: 3, chargedQu: 3, balance: null });
  });

  test('each has a window of its own, which calls that cost nothing do not count in', async () => {
    const { credentials } = await gates.customer(1_000, 'enterprise');
    const gate = gates.over();
    const call = (tier: 'extended' | 'deep', free = false) => {
      const request = gateRequest(usageOperation(used(1), { tier, free }), { credentials });
      return outcomeOf(gate.call(request)).then((answer) => ({ answer, events: request.events }));
    };
    const free = await call('deep', true);
    expect(free.events).toEqual(['rate 5999', 'run']);
    expect((await call('deep')).events).toEqual(['rate 5998', 'rate 1 of deep', 'run']);
    expect((await call('deep')).answer).toMatchObject({ chargedQu: 1 });
    expect(await call('deep')).toMatchObject({
      answer: 'rate_limited',
      events: ['rate 5996', 'rate 0 of deep'],
    });
    expect((await call('extended')).answer).toMatchObject({ chargedQu: 1 });
    const other = await gates.customer(10, 'enterprise');
    expect(await ask(other, 'deep')).toMatchObject({ chargedQu: 1 });
  });

  test('nothing is reviewed above the limit of the tier, and nothing is held for what the review refuses', async () => {
    const { organizationId, credentials } = await gates.customer(100, 'enterprise');
    let reviewed = 0;
    const operation = usageOperation(used(1), { tier: 'deep' }, () => {
      reviewed += 1;
      return Promise.reject(fail('invalid_query', { detail: 'No.' }));
    });
    const gate = gates.over();
    const answers = [];
    for (let times = 0; times < 3; times++)
      answers.push(await outcomeOf(gate.call(gateRequest(operation, { credentials }))));
    expect(answers).toEqual(['invalid_query', 'invalid_query', 'rate_limited']);
    expect(reviewed).toBe(2);
    expect(await gates.ledger(organizationId)).toEqual(['grant 100']);
  });

  test('a plan without any gets the advice to upgrade on MCP', async () => {
    const { credentials } = await gates.customer(10);
    const plans = { ...DEFAULT_PLANS, free: { ...DEFAULT_PLANS.free, sqlTiers: [] } };
    const lanes: string[] = [];
    const run = ({ lane }: { readonly lane: string }): Promise<Outcome> => {
      lanes.push(lane);
      return Promise.resolve(usedOutcome(null));
    };
    for (const surface of ['mcp', 'http'] as const)
      await gates
        .over({ plans })
        .call(gateRequest(usageOperation(run, { free: true }), { credentials, surface }));
    expect(lanes).toEqual(['upgrade_required', 'credit']);
    expect(await ask({ credentials, surface: 'mcp' }, 'standard', { plans })).toBe('upgrade_required');
  });
});

describe('over x402', () => {
  const offers = offersWith('signed');

  test('a fixed payment is used up by a run that failed on its own account, and by no other', async () => {
    const lane = openHandedLane();
    const failures = [
      fail('query_failed', { detail: 'Too long.', usedQu: 3 }),
      fail('query_failed', { detail: 'No such column.' }),
      fail('rate_limited', { detail: 'Busy.' }),
      fail('upstream_unavailable', { detail: 'Down.' }),
    ];
    const answers = [];
    for (const failure of failures) {
      const operation = usageOperation(() => Promise.reject(failure));
      answers.push(await outcomeOf(gates.over({ lane }).call(gateRequest(operation, { offers }))));
    }
    expect(answers).toEqual([
      { code: 'query_failed', heldQu: 3, chargedQu: 3, balance: null },
      'query_failed',
      'rate_limited',
      'upstream_unavailable',
    ]);
    expect(lane.finished).toEqual([true, false, false, false]);
  });

  test('a caller who paid for a call that may be repeated learns that it is not charged twice', async () => {
    const operation = usageOperation(() => Promise.reject(fail('rate_limited', { detail: 'Busy.' })));
    const asked = gates.over({ lane: openHandedLane() }).call(gateRequest(operation, { offers }));
    await expect(asked).rejects.toMatchObject({
      message: expect.stringContaining('not charged twice'),
      context: { payment: { transaction: '0x04' } },
    });
  });

  test('a ceiling is settled for what was used, before anything is answered', async () => {
    const { lane, events } = openCeiling();
    const request = gateRequest(usageOperation(used(2)), { offers });
    const answer = await gates.over({ lane }).call(request);
    expect(events).toEqual(['take', 'settle 20000']);
    expect(request.events.slice(-2)).toEqual(['run', 'paid cmVjZWlwdA==']);
    expect(await answerOf(answer)).toEqual({ heldQu: 3, chargedQu: 2, balance: null });
    await answer.delivered?.(true);
    expect(events.at(-1)).toBe('finish true');
  });

  test('a ceiling is settled for a failure that used something, and dropped for any other', async () => {
    const { lane, events } = openCeiling();
    const ask = (usedQu?: number) => {
      const operation = usageOperation(() =>
        Promise.reject(fail('query_failed', { detail: 'No.', ...(usedQu === undefined ? {} : { usedQu }) })),
      );
      return outcomeOf(gates.over({ lane }).call(gateRequest(operation, { offers })));
    };
    expect(await ask(1)).toEqual({ code: 'query_failed', heldQu: 3, chargedQu: 1, balance: null });
    expect(await ask()).toBe('query_failed');
    expect(events).toEqual(['take', 'settle 10000', 'finish true', 'take', 'drop']);
  });

  test('a call whose payment cannot be settled is not answered', async () => {
    const { lane } = openCeiling(() => Promise.reject(fail('payment_failed', { detail: 'No money.' })));
    const outcome = usedOutcome(2);
    const request = gateRequest(
      usageOperation(() => Promise.resolve(outcome)),
      { offers },
    );
    expect(await outcomeOf(gates.over({ lane }).call(request))).toBe('payment_failed');
    expect(outcome.discarded).toBe(true);
  });

  test('a store that is gone after the run is no fault of the caller, whether the run failed or not', async () => {
    const { lane } = openCeiling(() => Promise.reject(new StoreUnavailable('test')));
    const failing = () => Promise.reject(fail('query_failed', { detail: 'No.', usedQu: 1 }));
    for (const run of [used(2), failing]) {
      const call = gates.over({ lane }).call(gateRequest(usageOperation(run), { offers }));
      await expect(call).rejects.toMatchObject({
        code: 'upstream_unavailable',
        context: { resource: 'accounts' },
      });
    }
  });
});

/** A lane whose payments are ceilings. */
function openCeiling(refuse?: () => Promise<never>): {
  readonly lane: PaymentLane;
  readonly events: string[];
} {
  const events: string[] = [];
  const settled = openHandedLane();
  const lane: PaymentLane = {
    offer: settled.offer,
    recall: settled.recall,
    take: async (sent): Promise<OpenCall> => {
      events.push('take');
      const paid = await settled.take(sent);
      if (paid.kind !== 'settled') throw new Error('the handed lane settles');
      return {
        kind: 'open',
        settle: async (usdMicros, sale) => {
          await refuse?.();
          events.push(`settle ${usdMicros}`);
          return {
            ...paid,
            usdMicros,
            sale: sale ?? null,
            finish: async (answered) => void events.push(`finish ${answered}`),
          };
        },
        drop: async () => void events.push('drop'),
      };
    },
  };
  return { lane, events };
}

describe('an Idempotency-Key', () => {
  const newKey = () => randomUUID();

  /** An answer of its own each time it is run. */
  function counting(answerOf?: (run: number) => Answer) {
    const counter = { runs: 0 };
    const operation = usageOperation(async () => {
      counter.runs += 1;
      const run = counter.runs;
      return {
        usedQu: 1,
        answer: answerOf?.bind(null, run) ?? (() => ({ body: { run } })),
        discard: () => undefined,
      };
    });
    return { counter, operation };
  }

  const json = (text: string): Answer => ({
    stream: {
      mediaType: 'application/json; charset=utf-8',
      headers: { 'x-rows': '1' },
      body: Readable.from([Buffer.from(text)]),
    },
  });

  test('gives the same answer again without a second charge, and says so', async () => {
    const { organizationId, credentials } = await gates.customer(10);
    const { operation, counter } = counting((run) => json(`{"run":${run}}`));
    const ask = (idempotencyKey: string | undefined) =>
      gates.over().call(gateRequest(operation, { credentials, idempotencyKey }));
    const key = newKey();
    const [first, second] = [await ask(key), await ask(key)];
    expect([first.replayed, second.replayed]).toEqual([false, true]);
    expect([await textOf(first), await textOf(second)]).toEqual(['{"run":1}', '{"run":1}']);
    expect(second.answer).toMatchObject({
      stream: { mediaType: 'application/json; charset=utf-8', headers: { 'x-rows': '1' } },
    });
    expect(await textOf(await ask(newKey()))).toBe('{"run":2}');
    expect(await textOf(await ask(undefined))).toBe('{"run":3}');
    expect(counter.runs).toBe(3);
    expect(await expectBooks(gates.store, organizationId)).toMatchObject({ spent: 3 });
  });

  test('is one organization’s, for one request, and free again after a day', async () => {
    const [one, other] = [await gates.customer(10), await gates.customer(10)];
    const { operation } = counting();
    const key = newKey();
    const ask = ({ credentials }: typeof one, n: number) =>
      outcomeOf(
        gates.over().call(gateRequest(operation, { credentials, idempotencyKey: key, raw: () => ({ n }) })),
      );
    expect(await ask(one, 1)).toEqual({ run: 1 });
    expect(await ask(one, 2)).toBe('idempotency_conflict');
    expect(await ask(other, 2)).toEqual({ run: 2 });
    gates.clock.advanceSeconds(24 * 3_600);
    expect(await ask(one, 2)).toEqual({ run: 3 });
    expect(await expectBooks(gates.store, one.organizationId)).toMatchObject({ spent: 2 });
  });

  test('is for one operation: another one with the same parameters is another request', async () => {
    const { credentials } = await gates.customer(10);
    const { operation } = counting();
    const idempotencyKey = newKey();
    const outcomes = [operation, { ...operation, id: 'useOtherThings' }, operation].map(
      (one) => () => outcomeOf(gates.over().call(gateRequest(one, { credentials, idempotencyKey }))),
    );
    const seen: unknown[] = [];
    for (const ask of outcomes) seen.push(await ask());
    expect(seen).toEqual([{ run: 1 }, 'idempotency_conflict', { run: 1 }]);
  });

  test('of a request whose charge is not known is free for another one, which is charged for itself', async () => {
    const { organizationId, credentials } = await gates.customer(10);
    let isLost = true;
    const capture: ControlStore['units']['capture'] = async (wanted) => {
      const captured = await gates.store.units.capture(wanted);
      if (!isLost) return captured;
      isLost = false;
      return down();
    };
    const gate = gates.over({ store: { ...gates.store, units: { ...gates.store.units, capture } } });
    const idempotencyKey = newKey();
    const ask = (n: number) =>
      outcomeOf(
        gate.call(gateRequest(usageOperation(used(1)), { credentials, idempotencyKey, raw: () => ({ n }) })),
      );
    expect([await ask(1), await ask(2)]).toMatchObject([
      'upstream_unavailable',
      { chargedQu: 1, balance: 8 },
    ]);
    expect(await expectBooks(gates.store, organizationId)).toMatchObject({ spent: 2 });
  });

  test('while its request runs another one is refused', async () => {
    const { organizationId, credentials } = await gates.customer(10);
    const gate = gates.over();
    const [begun, goOn] = [new EventEmitter(), new EventEmitter()];
    const operation = usageOperation(async () => {
      begun.emit('now');
      await once(goOn, 'now');
      return usedOutcome(1);
    });
    const idempotencyKey = newKey();
    const ask = () => outcomeOf(gate.call(gateRequest(operation, { credentials, idempotencyKey })));
    const isBegun = once(begun, 'now');
    const first = ask();
    await isBegun;
    expect(await ask()).toBe('request_in_progress');
    goOn.emit('now');
    expect(await first).toMatchObject({ chargedQu: 1 });
    expect(await ask()).toMatchObject({ chargedQu: 1 });
    expect(await expectBooks(gates.store, organizationId)).toMatchObject({ spent: 1 });
  });

  test('of an answer that is too large or no JSON only the charge is remembered', async () => {
    const { organizationId, credentials } = await gates.customer(10);
    const large = `{"text":"${'x'.repeat(REPLY_KEPT_MAX_BYTES)}"}`;
    const parts = () =>
      Readable.from([Buffer.from(large.slice(0, 300_000)), Buffer.from(large.slice(300_000))]);
    const csv: Answer = {
      stream: {
        mediaType: 'text/csv',
        headers: {},
        body: Readable.from([Buffer.from('a\n')]),
      },
    };
    const answers: Answer[] = [
      json(large),
      { stream: { mediaType: 'application/json', headers: {}, body: parts() } },
      { body: JSON.parse(large) },
      csv,
    ];
    for (const answer of answers) {
      const { operation } = counting(() => answer);
      const idempotencyKey = newKey();
      const ask = () => gates.over().call(gateRequest(operation, { credentials, idempotencyKey }));
      const text = await textOf(await ask());
      expect(text === large || text === 'a\n').toBe(true);
      await expect(ask()).rejects.toMatchObject({ code: 'reply_not_kept' });
    }
    expect(await expectBooks(gates.store, organizationId)).toMatchObject({ spent: answers.length });
  });

  test('a failure that was charged is repeated; one that cost nothing leaves the key free', async () => {
    const { organizationId, credentials } = await gates.customer(10);
    const causes = [
      fail('query_failed', { detail: 'Too long.', usedQu: 2, query: { reason: 'timeout' } }),
      fail('upstream_unavailable', { detail: 'Down.' }),
      fail('query_failed', { detail: 'No such column.', usedQu: 0 }),
      fail('request_timeout', { detail: 'The caller left.', usedQu: 1 }),
    ];
    const seen = [];
    for (const cause of causes) {
      let runs = 0;
      const operation = usageOperation(() => {
        runs += 1;
        return Promise.reject(cause);
      });
      const idempotencyKey = newKey();
      const ask = () => outcomeOf(gates.over().call(gateRequest(operation, { credentials, idempotencyKey })));
      seen.push([await ask(), await ask(), runs]);
    }
    expect(seen).toEqual([
      [
        { code: 'query_failed', heldQu: 3, chargedQu: 2, balance: 8 },
        { code: 'query_failed', heldQu: 3, chargedQu: 2, balance: 8 },
        1,
      ],
      ['upstream_unavailable', 'upstream_unavailable', 2],
      [
        { code: 'query_failed', heldQu: 3, chargedQu: 0, balance: 8 },
        { code: 'query_failed', heldQu: 3, chargedQu: 0, balance: 8 },
        2,
      ],
      [{ code: 'request_timeout', heldQu: 3, chargedQu: 1, balance: 7 }, 'reply_not_kept', 1],
    ]);
    expect(await expectBooks(gates.store, organizationId)).toMatchObject({ spent: 3 });
  });

  test('an answer that breaks while it is read is asked for again on the house', async () => {
    const { organizationId, credentials } = await gates.customer(10);
    const { operation } = counting((run) =>
      run === 1
        ? {
            stream: {
              mediaType: 'application/json',
              headers: {},
              body: new Readable({ read: () => undefined }).destroy(new Error('broken')),
            },
          }
        : { body: { run } },
    );
    const idempotencyKey = newKey();
    const ask = () => gates.over().call(gateRequest(operation, { credentials, idempotencyKey }));
    await expect(ask()).rejects.toThrow();
    expect(await textOf(await ask())).toBe('{"run":2}');
    expect(await expectBooks(gates.store, organizationId)).toMatchObject({ spent: 1, held: 0 });
  });

  test('is left alone where nothing is drawn from units', async () => {
    const { credentials } = await gates.customer(10);
    const runs: string[] = [];
    const run = ({ lane }: { readonly lane: string }): Promise<Outcome> => {
      runs.push(lane);
      return Promise.resolve(usedOutcome(1));
    };
    const idempotencyKey = newKey();
    for (let times = 0; times < 2; times++) {
      await gates
        .over()
        .call(gateRequest(usageOperation(run, { free: true }), { credentials, idempotencyKey }));
      await gates
        .over({ lane: openHandedLane() })
        .call(
          gateRequest(usageOperation(run), { credentials, idempotencyKey, offers: offersWith('signed') }),
        );
    }
    expect(runs).toEqual(['credit', 'x402', 'credit', 'x402']);
  });
});
