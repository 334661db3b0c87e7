import { Type } from '@sinclair/typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pricedOperation } from '../../kit/gate.ts';
import { type OwnApi, ownApi } from '../../kit/own-api.ts';

let api: OwnApi;
let answer: Record<string, unknown> = {};

beforeAll(async () => {
  const output = Type.Object({
    at: Type.Integer(),
    prices: Type.Array(Type.Object({ usd: Type.Number() })),
    plans: Type.Object({ free: Type.String() }),
  });
  const operation = pricedOperation('free', async () => answer);
  api = await ownApi({ operations: [{ ...operation, output }] });
});
afterAll(() => api?.close());

test('an answer has all its fields, and none that its operation does not declare', async () => {
  answer = {
    at: 1,
    prices: [{ usd: 0.5, cost: 2 }],
    plans: { free: 'a "plan"', secret: 1 },
    key: 'six_live',
  };
  const sent = await api.app.inject('/v0/things');
  expect(sent.statusCode).toBe(200);
  expect(sent.json()).toEqual({ at: 1, prices: [{ usd: 0.5 }], plans: { free: 'a "plan"' } });
});

test('a declared field that is missing is a bug, and never an answer without it', async () => {
  answer = { at: 1, plans: { free: '' } };
  expect((await api.app.inject('/v0/things')).statusCode).toBe(500);
});
