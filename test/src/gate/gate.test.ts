import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { describe, expect } from 'vitest';
import { EngineError } from '../../../clickhouse/engine/engine.ts';
import { DEFAULT_PLANS } from '../../../core/domain/plan.ts';
import { type ErrorCode, Failure, fail } from '../../../core/errors.ts';
import { createLog } from '../../../core/log.ts';
import { StoreUnavailable } from '../../../src/accounts/store.ts';
import { createSweeper } from '../../../src/accounts/sweeper.ts';
import type { Gate, GateRequest } from '../../../src/gate/gate.ts';
import type { GateDeps } from '../../../src/gate/tools.ts';
import { asUnavailable } from '../../../src/operations/ask.ts';
import type { PriceClass } from '../../../src/operations/prices.ts';
import { addKey, createOrganization } from '../../kit/access.ts';
import { test } from '../../kit/fixtures.ts';
import {
  gateRequest,
  offersWith,
  openHandedLane,
  pricedOperation,
  type RequestWish,
  usageOperation,
} from '../../kit/gate.ts';
import { answerOf, GATE_ACCESS, type GateBed, outcomeOf } from '../../kit/gate-bed.ts';

/** The gate over a real store; what it guards are small operations, and the x402 lane is played. */

let gates: GateBed;
test.beforeAll(({ gates: bed }) => {
  gates = bed;
});

const kinds = async (organizationId: string) =>
  (await gates.ledger(organizationId)).map((row) => row.split(' ')[0]);

/** The code of the refusal, or the body. */
const told = (gate: Gate, request: GateRequest): Promise<unknown> => outcomeOf(gate.call(request));

describe('the order of checks', () => {
  test('an invalid request costs nothing, and nothing is looked up for it', async () => {
    const { organizationId, credentials } = await gates.customer(5);
    const asked: string[] = [];
    const watched = {
      ...gates.store,
      accounts: {
        ...gates.store.accounts,
        findKey: (digest: Parameters<typeof gates.store.accounts.findKey>[0]) => {
          asked.push('findKey');
          return gates.store.accounts.findKey(digest);
        },
      },
    };
    const lane = openHandedLane();
    const request = gateRequest(pricedOperation('metered'), {
      credentials,
      raw: () => ({ bad: '1' }),
      offers: offersWith('payment'),
    });
    expect(await told(gates.over({ store: watched, lane }), request)).toBe('invalid_parameter');
    expect({ asked, taken: lane.taken, events: request.events }).toEqual({
      asked: [],
      taken: [],
      events: ['rate 999'],
    });
    expect(await kinds(organizationId)).toEqual(['grant']);
  });

  test('validity, then credential, then rate, then lane', async () => {
    const gate = gates.over({ access: { ...GATE_ACCESS, requestsPerMinute: 1 } });
    const address = '198.51.100.7';
    const ask = (over: RequestWish) =>
      told(gate, gateRequest(pricedOperation('keyed'), { address, ...over }));
    const unknown = { authorization: 'Bearer six_live_nobody' };
    expect([
      await ask({}),
      // From here on the address is over its limit.
      await ask({}),
      await ask({ credentials: unknown }),
      await ask({ credentials: unknown, raw: () => ({ bad: '1' }) }),
    ]).toEqual(['api_key_required', 'rate_limited', 'invalid_api_key', 'invalid_parameter']);
  });

  test('a changed plan counts from the next request on, in both directions', async () => {
    const { organizationId, credentials } = await gates.customer(0);
    const plans = { ...DEFAULT_PLANS, free: { ...DEFAULT_PLANS.free, requestsPerMinute: 1 } };
    const gate = gates.over({ plans });
    const ask = () => told(gate, gateRequest(pricedOperation('keyed'), { credentials }));
    expect([await ask(), await ask()]).toEqual([{ done: true }, 'rate_limited']);
    await gates.store.accounts.changePlan({ organizationId, plan: 'pro' });
    expect([await ask(), await ask()]).toEqual([{ done: true }, { done: true }]);
    await gates.store.accounts.changePlan({ organizationId, plan: 'free' });
    expect(await ask()).toBe('rate_limited');
  });

  test('a stream of events ends with its key, wherever that is revoked', async () => {
    const { organizationId } = await gates.customer(0);
    const id = `key_${randomUUID()}`;
    const credentials = { 'x-api-key': await addKey(gates.store, { id, organizationId }) };
    const body = new Readable({ read: () => undefined });
    const outcome = { usedQu: null, discard: () => undefined };
    const stream = { mediaType: 'text/event-stream', headers: {}, body, trailers: null };
    const operation = usageOperation(async () => ({ ...outcome, answer: () => ({ stream }) }), {
      free: true,
    });
    const { answer } = await gates
      .over({ limits: { keyLookMs: 5 } })
      .call(gateRequest(operation, { credentials }));
    if (!('stream' in answer)) throw new Error('no stream');
    const ended = finished(answer.stream.body.resume());
    body.push('event: job\n\n');
    await gates.store.accounts.revokeKey({ keyId: id, atMs: gates.clock.nowMs() });
    await ended;
    expect(body.destroyed).toBe(true);
  });

  test('a revoked key, and one that expired, draw nothing from the window of their organization', async () => {
    const { organizationId, credentials } = await gates.customer(0);
    const at = gates.clock.nowMs();
    const [revoked, expiring] = [`key_${randomUUID()}`, `key_${randomUUID()}`];
    const lost = [
      { 'x-api-key': await addKey(gates.store, { id: revoked, organizationId }) },
      { 'x-api-key': await addKey(gates.store, { id: expiring, organizationId, expiresAtMs: at + 5_000 }) },
    ];
    const gate = gates.over();
    const operation = pricedOperation('keyed');
    const left = async (sent: GateRequest['sender']['credentials']): Promise<unknown> => {
      const request = gateRequest(operation, { credentials: sent, address: '198.51.100.80' });
      const outcome = await told(gate, request);
      return [typeof outcome === 'string' ? outcome : 'done', request.events[0]];
    };
    const limit = DEFAULT_PLANS.free.requestsPerMinute;
    // Each is known to the gate before it is lost.
    for (const [n, sent] of lost.entries())
      expect(await left(sent)).toEqual(['done', `rate ${limit - n - 1}`]);
    await gates.store.accounts.revokeKey({ keyId: revoked, atMs: at });
    gates.clock.advanceSeconds(6);
    for (let times = 0; times < 3; times++)
      for (const sent of lost) expect(((await left(sent)) as unknown[])[0]).toBe('invalid_api_key');
    expect(await left(credentials)).toEqual(['done', `rate ${limit - 3}`]);
  });

  test('the first request after a change of plan counts once', async () => {
    const { organizationId, credentials } = await gates.customer(0);
    const gate = gates.over();
    const remaining = async (): Promise<string | undefined> => {
      const request = gateRequest(pricedOperation('keyed'), { credentials });
      await told(gate, request);
      return request.events[0];
    };
    await remaining();
    await gates.store.accounts.changePlan({ organizationId, plan: 'pro' });
    expect(await remaining()).toBe(`rate ${DEFAULT_PLANS.pro.requestsPerMinute - 2}`);
  });

  test('all keys of an organization share one window, which no other organization uses', async () => {
    const { organizationId, credentials } = await gates.customer(0);
    const second = { 'x-api-key': await addKey(gates.store, { organizationId }) };
    const other = await gates.customer(0);
    const plans = { ...DEFAULT_PLANS, free: { ...DEFAULT_PLANS.free, requestsPerMinute: 2 } };
    const gate = gates.over({ plans });
    const codes = [];
    for (const sent of [credentials, second, second, other.credentials])
      codes.push(await told(gate, gateRequest(pricedOperation('keyed'), { credentials: sent })));
    expect(codes).toEqual([{ done: true }, { done: true }, 'rate_limited', { done: true }]);
  });

  test('a key and a bearer that differ are refused; the same twice is one', async () => {
    const { key } = await gates.customer(0);
    const gate = gates.over();
    const ask = (credentials: GateRequest['sender']['credentials']) =>
      told(gate, gateRequest(pricedOperation('keyed'), { credentials }));
    expect([
      await ask({ authorization: `Bearer ${key}`, 'x-api-key': key }),
      await ask({ authorization: 'Bearer six_live_other', 'x-api-key': key }),
      await ask({ authorization: 'Basic dTpw', 'x-api-key': key }),
      await ask({ authorization: 'Basic dTpw' }),
      await ask({ authorization: `bearer ${key}` }),
      await ask({ authorization: key }),
    ]).toEqual([
      { done: true },
      'malformed_request',
      { done: true },
      'invalid_api_key',
      { done: true },
      'invalid_api_key',
    ]);
  });
});

describe('units', () => {
  test('are spent by a good run before it is answered', async () => {
    const { organizationId, credentials } = await gates.customer(1);
    const gate = gates.over();
    const request = () => gateRequest(pricedOperation('metered'), { credentials });
    expect(await told(gate, request())).toEqual({ done: true });
    expect(await gates.store.units.balance(organizationId)).toEqual({
      granted: 1,
      balance: 0,
      held: 0,
      spent: 1,
    });
    expect(await told(gate, request())).toBe('insufficient_qu');
    expect(await kinds(organizationId)).toEqual(['grant', 'hold', 'capture']);
  });

  test('are given back by a run that fails, with the reason in the ledger', async () => {
    const { organizationId, credentials } = await gates.customer(3);
    const runs: [() => Promise<never>, ErrorCode | 'bug'][] = [
      [() => Promise.reject(fail('upstream_unavailable', { detail: 'down' })), 'upstream_unavailable'],
      [() => Promise.reject(fail('invalid_parameter', { detail: 'seen late' })), 'invalid_parameter'],
      [() => Promise.reject(new TypeError('a bug')), 'bug'],
    ];
    for (const [run, code] of runs) {
      const asked = gates.over().call(gateRequest(pricedOperation('metered', run), { credentials }));
      if (code === 'bug') await expect(asked).rejects.toThrow(TypeError);
      else await expect(asked).rejects.toMatchObject({ code });
    }
    expect(await gates.store.units.balance(organizationId)).toEqual({
      granted: 3,
      balance: 3,
      held: 0,
      spent: 0,
    });
    const ledger = await gates.store.units.ledger({ organizationId, after: 0, limit: 100 });
    expect(ledger.filter(({ kind }) => kind === 'release').map(({ note }) => note)).toEqual([
      'the run failed: upstream_unavailable',
      'the run failed: invalid_parameter',
      'the run failed: internal_error',
    ]);
  });

  test('a run that outlives its hold is answered and charges nothing', async () => {
    const { organizationId, credentials } = await gates.customer(1);
    const slow = async () => {
      gates.clock.advanceSeconds(121);
      await gates.sweep();
      return { done: true };
    };
    expect(await told(gates.over(), gateRequest(pricedOperation('metered', slow), { credentials }))).toEqual({
      done: true,
    });
    expect(await gates.store.units.balance(organizationId)).toMatchObject({ held: 0, spent: 0 });
    expect(await kinds(organizationId)).toContain('overdue');
  });

  test('a capture that the store carries out without saying so is asked for again, and the call answered and charged once', async () => {
    const { organizationId, credentials } = await gates.customer(1);
    let asked = 0;
    const capture: typeof gates.store.units.capture = async (request) => {
      const captured = await gates.store.units.capture(request);
      asked += 1;
      if (asked < 3) throw new StoreUnavailable(new Error('no answer in time'));
      return captured;
    };
    const slow = { ...gates.store, units: { ...gates.store.units, capture } };
    const request = gateRequest(pricedOperation('metered'), { credentials });
    expect(await told(gates.over({ store: slow, limits: {} }), request)).toEqual({ done: true });
    expect(asked).toBe(3);
    expect(await gates.store.units.balance(organizationId)).toMatchObject({ balance: 0, held: 0, spent: 1 });
  });

  test('an answer whose capture cannot be written is withheld, and the sweeper gives its units back', async () => {
    const { organizationId, credentials } = await gates.customer(1);
    const failing = {
      ...gates.store,
      units: { ...gates.store.units, capture: () => Promise.reject(new StoreUnavailable(new Error('full'))) },
    };
    const gate = gates.over({ store: failing, limits: { captureRetryMs: 0 } });
    const asked = gate.call(gateRequest(pricedOperation('metered'), { credentials }));
    await expect(asked).rejects.toMatchObject({
      code: 'upstream_unavailable',
      context: { resource: 'accounts' },
    });
    expect(await gates.store.units.balance(organizationId)).toMatchObject({ balance: 0, held: 1 });
    gates.clock.advanceSeconds(121);
    await gates.sweep({ free: { ...DEFAULT_PLANS.free, monthlyGrantQu: 0 } });
    const ledger = await gates.store.units.ledger({ organizationId, after: 0, limit: 100 });
    expect(ledger.at(-1)).toMatchObject({ kind: 'overdue', note: expect.stringContaining('countThings') });
  });
});

describe('a store that does not answer', () => {
  const down = () => Promise.reject(new StoreUnavailable(new Error('down')));
  const dead = (): GateDeps['store'] => ({
    accounts: { ...gates.store.accounts, findKey: down, findOrganization: down },
    units: { ...gates.store.units, hold: down },
    rates: { take: down },
    replies: { ...gates.store.replies, begin: down },
  });

  test('is 503 naming accounts for a caller with a key, whatever the route costs', async () => {
    const { credentials } = await gates.customer(1);
    for (const price of ['free', 'keyed', 'metered'] as const) {
      const asked = gates.over({ store: dead() }).call(gateRequest(pricedOperation(price), { credentials }));
      await expect(asked).rejects.toMatchObject({
        code: 'upstream_unavailable',
        context: { resource: 'accounts', retryAfterSeconds: 2 },
      });
    }
  });

  test('does not keep callers from free routes, who are still limited', async () => {
    const gate = gates.over({ store: dead(), access: { ...GATE_ACCESS, requestsPerMinute: 2 } });
    const codes = [];
    for (let times = 0; times < 3; times++)
      codes.push(await told(gate, gateRequest(pricedOperation('free'))));
    expect(codes).toEqual([{ done: true }, { done: true }, 'rate_limited']);
  });
});

describe('a paid call', () => {
  test('tells its receipt before the run, and whether it was answered after', async () => {
    const lane = openHandedLane();
    const request = gateRequest(pricedOperation('keyed'), { offers: offersWith('signed') });
    const answer = await gates.over({ lane }).call(request);
    expect(request.events.slice(1)).toEqual(['paid cmVjZWlwdA==', 'run']);
    expect(lane.finished).toEqual([]);
    await answer.delivered?.(true);
    expect({ taken: lane.taken, finished: lane.finished }).toEqual({ taken: ['signed'], finished: [true] });
  });

  test('whose run fails on our side can be asked for again, and says so with the hash', async () => {
    const lane = openHandedLane();
    for (const error of [fail('upstream_unavailable', { detail: 'Down.' }), new TypeError('a bug')]) {
      const operation = pricedOperation('keyed', () => Promise.reject(error));
      const asked = gates.over({ lane }).call(gateRequest(operation, { offers: offersWith('signed') }));
      await expect(asked).rejects.toMatchObject({
        code: error instanceof Failure ? 'upstream_unavailable' : 'internal_error',
        context: {
          detail: expect.stringContaining('not charged twice'),
          payment: { stage: 'settle', transaction: '0x04' },
        },
      });
    }
    expect(lane.finished).toEqual([false, false]);
    expect(lane.faults).toEqual([true, true]);
  });

  test('counts as a try where the run failed on the account of its caller, or the answer was lost', async () => {
    const lane = openHandedLane();
    const refusing = pricedOperation('keyed', () =>
      Promise.reject(fail('invalid_parameter', { detail: 'No.' })),
    );
    await gates
      .over({ lane })
      .call(gateRequest(refusing, { offers: offersWith('signed') }))
      .catch(() => undefined);
    const answer = await gates
      .over({ lane })
      .call(gateRequest(pricedOperation('keyed'), { offers: offersWith('signed') }));
    await answer.delivered?.(false);
    expect(lane.faults).toEqual([false, false]);
  });

  test('is not taken while the engine is away', async () => {
    const lane = openHandedLane();
    const away = async () => {
      throw asUnavailable('index', new EngineError('unreachable', 'ready', null, null));
    };
    const request = gateRequest(pricedOperation('keyed'), { offers: offersWith('signed') });
    const deps = { ...request.deps, index: { ...request.deps.index, ready: away } };
    await expect(gates.over({ lane }).call({ ...request, deps })).rejects.toMatchObject({
      code: 'upstream_unavailable',
      context: { resource: 'index' },
    });
    expect(lane.taken).toEqual([]);
  });

  test('goes before a key, whose units stay', async () => {
    const { organizationId, credentials } = await gates.customer(5);
    const lane = openHandedLane();
    const request = gateRequest(pricedOperation('metered'), { credentials, offers: offersWith('signed') });
    expect(await told(gates.over({ lane }), request)).toEqual({ done: true });
    expect(lane.taken).toEqual(['signed']);
    expect(await kinds(organizationId)).toEqual(['grant']);
  });

  test('is not taken with an unknown key, on a free route, or for HEAD', async () => {
    const lane = openHandedLane();
    const gate = gates.over({ lane });
    const offers = offersWith('signed');
    const unknown = { 'x-api-key': 'six_live_nobody' };
    expect([
      await told(gate, gateRequest(pricedOperation('keyed'), { offers, credentials: unknown })),
      await told(gate, gateRequest(pricedOperation('free'), { offers })),
      await told(gate, gateRequest(pricedOperation('keyed'), { offers, mayCharge: false })),
    ]).toEqual(['invalid_api_key', { done: true }, 'payment_required']);
    expect(lane.taken).toEqual([]);
  });
});

/** What each caller gets without a payment, where calls are sold and where they are not. */
const RUN = { done: true };
const OFFER = 'payment_required with offer';
const BARE = 'payment_required';
const TABLE: Record<string, Record<PriceClass, readonly [sold: unknown, unsold: unknown, mcp: unknown]>> = {
  anonymous: {
    free: [RUN, RUN, RUN],
    keyed: [OFFER, 'api_key_required', 'api_key_required'],
    metered: [OFFER, 'api_key_required', 'api_key_required'],
    sold: [OFFER, 'not_found', BARE],
  },
  trial: {
    free: [RUN, RUN, RUN],
    keyed: [RUN, RUN, RUN],
    metered: [OFFER, BARE, BARE],
    sold: [OFFER, 'not_found', BARE],
  },
  'oauth without an organization': {
    free: [RUN, RUN, RUN],
    keyed: [RUN, RUN, RUN],
    metered: [OFFER, BARE, BARE],
    sold: [OFFER, 'not_found', BARE],
  },
  organization: {
    free: [RUN, RUN, RUN],
    keyed: [RUN, RUN, RUN],
    metered: [RUN, RUN, RUN],
    sold: [OFFER, 'not_found', BARE],
  },
  'organization without units': {
    free: [RUN, RUN, RUN],
    keyed: [RUN, RUN, RUN],
    metered: ['insufficient_qu with offer', 'insufficient_qu', 'insufficient_qu'],
    sold: [OFFER, 'not_found', BARE],
  },
  unknown: {
    free: ['invalid_api_key', 'invalid_api_key', 'invalid_api_key'],
    keyed: ['invalid_api_key', 'invalid_api_key', 'invalid_api_key'],
    metered: ['invalid_api_key', 'invalid_api_key', 'invalid_api_key'],
    sold: ['invalid_api_key', 'invalid_api_key', 'invalid_api_key'],
  },
};

describe.each(Object.entries(TABLE))('%s', (who, row) => {
  test.each(Object.entries(row))('%s', async (price, [sold, unsold, mcp]) => {
    const credentials = await credentialsOf(who);
    const bearer = { read: async () => ({ subject: 'someone', organization: null }) };
    const operation = pricedOperation(price as PriceClass); // a key of the row
    const lane = openHandedLane();
    const ask = (gate: Gate, over: RequestWish) =>
      gate
        .call(gateRequest(operation, { credentials, ...over }))
        .then(answerOf, ({ code, context }: Failure) =>
          context.offer === undefined ? code : `${code} with offer`,
        );
    expect([
      await ask(gates.over({ lane, bearer }), { offers: offersWith() }),
      await ask(gates.over({ bearer }), { offers: offersWith() }),
      await ask(gates.over({ lane, bearer }), { surface: 'mcp' }),
    ]).toEqual([sold, unsold, mcp]);
    expect(lane.taken).toEqual([]);
  });
});

async function credentialsOf(who: string): Promise<GateRequest['sender']['credentials']> {
  switch (who) {
    case 'anonymous':
      return {};
    case 'trial':
      return { 'x-api-key': await addKey(gates.store, { kind: 'trial' }) };
    case 'oauth without an organization':
      return { authorization: 'Bearer a.b.c' };
    case 'organization':
      return (await gates.customer(10)).credentials;
    case 'organization without units':
      return (await gates.customer(0)).credentials;
    default:
      return { 'x-api-key': 'six_live_nobody' };
  }
}

test('an open deployment serves callers without a key on keyed routes, and on no other', async () => {
  const gate = gates.over({ access: { ...GATE_ACCESS, anonymous: 'open' } });
  const codes = [];
  for (const price of ['keyed', 'metered'] as const)
    codes.push(await told(gate, gateRequest(pricedOperation(price), { address: '198.51.100.8' })));
  expect(codes).toEqual([RUN, 'api_key_required']);
});

test('HEAD draws no units', async () => {
  const { organizationId, credentials } = await gates.customer(5);
  const request = gateRequest(pricedOperation('metered'), { credentials, mayCharge: false });
  expect(await told(gates.over(), request)).toBe('payment_required');
  expect(await kinds(organizationId)).toEqual(['grant']);
});

test('monthly units are granted once a month, whatever is swept how often', async () => {
  const id = await createOrganization(gates.store, { plan: 'pro' });
  const sweep = () => gates.sweep({ pro: { ...DEFAULT_PLANS.pro, monthlyGrantQu: 7 } });
  await sweep();
  await sweep();
  expect(await gates.store.units.balance(id)).toMatchObject({ granted: 7 });
  gates.clock.advanceSeconds(31 * 86_400);
  await sweep();
  expect(await gates.store.units.balance(id)).toMatchObject({ granted: 14 });
});

test('a sweep survives a store that does not answer and a look-up that fails', async () => {
  const down = () => Promise.reject(new StoreUnavailable(new Error('down')));
  const dead = {
    accounts: { ...gates.store.accounts, listOrganizations: down },
    units: { ...gates.store.units, overdueHolds: down },
  };
  const resolvePayments = () => Promise.reject(new TypeError('a bug'));
  const log = createLog('silent', 'test');
  const { clock } = gates;
  const sweeper = createSweeper({ store: dead, plans: DEFAULT_PLANS, clock, log, resolvePayments });
  expect(await sweeper.sweep()).toEqual({
    holdsGivenBack: 0,
    organizationsGranted: 0,
    paymentsResolved: 0,
  });
});
