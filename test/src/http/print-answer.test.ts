import { Type } from '@sinclair/typebox';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { sharingPrinter } from '../../../src/http/api-routes.ts';
import type { AnyOperation } from '../../../src/operations/define.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';

const account = OPERATIONS.find(({ id }) => id === 'getAccount') as AnyOperation;

function printing(sharedFields: readonly string[]): AnyOperation {
  const output = Type.Object({
    at: Type.Integer(),
    prices: Type.Array(Type.Object({ usd: Type.Number() })),
    plans: Type.Object({ free: Type.String() }),
  });
  return { ...account, output, sharedFields };
}

/** The texts of these answers, printed one after the other by one printer. */
async function printed(operation: AnyOperation, bodies: readonly Record<string, unknown>[]) {
  const app = Fastify();
  const print = sharingPrinter(operation);
  if (print === null) throw new Error('nothing is shared');
  app.get('/', (_request, reply) =>
    reply.send(JSON.stringify(bodies.map((body) => JSON.parse(String(print(reply, body)))))),
  );
  const { body } = await app.inject('/');
  await app.close();
  return JSON.parse(body);
}

test('an answer has all its fields, shared or not, and none that is not declared', async () => {
  const body = {
    at: 1,
    prices: [{ usd: 0.5, cost: 2 }],
    plans: { free: 'a "plan"', secret: 1 },
    key: 'six_live',
  };
  const whole = { at: 1, prices: [{ usd: 0.5 }], plans: { free: 'a "plan"' } };
  expect(await printed(printing(['prices', 'plans']), [body, { ...body, at: 2 }])).toEqual([
    whole,
    { ...whole, at: 2 },
  ]);
});

test('an answer that is the same for all is kept as bytes', async () => {
  const print = sharingPrinter({ ...printing([]), isShared: true });
  const body = { at: 1, prices: [{ usd: 0.5 }], plans: { free: '“' } };
  const app = Fastify();
  const printedAnswers: unknown[] = [];
  app.get('/', (_request, reply) => {
    printedAnswers.push(print?.(reply, body), print?.(reply, body));
    return reply.send('');
  });
  await app.inject('/');
  await app.close();
  const [first, second] = printedAnswers;
  expect(first).toBeInstanceOf(Buffer);
  expect(JSON.parse(String(first))).toEqual(body);
  expect(second).toBe(first);
});

test('two values of a shared field are never taken for one another', async () => {
  const [one, other] = [[{ usd: 1 }], [{ usd: 2 }]];
  const bodies = [one, other, one].map((prices, at) => ({ at, prices, plans: { free: '' } }));
  expect(await printed(printing(['prices']), bodies)).toEqual(bodies);
});

test('a shared field that is missing is a reported bug, and never an answer without it', async () => {
  expect(() => sharingPrinter(printing(['nothing']))).toThrow(/nothing/);
  expect(await printed(printing(['prices']), [{ at: 1, plans: { free: '' } }])).toMatchObject({
    statusCode: 500,
  });
});

test('an operation that shares nothing is printed by its route', () => {
  expect(sharingPrinter(printing([]))).toBeNull();
});
