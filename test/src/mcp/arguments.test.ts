import { describe, expect, test } from 'vitest';
import { fail } from '../../../core/errors.ts';
import { meantArguments, withDefaults } from '../../../src/mcp/arguments.ts';
import { nextOfRefusal } from '../../../src/mcp/next-call.ts';
import { callOverHttp } from '../../../src/mcp/over-http.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';
import { TOOL_ROWS_DEFAULT } from '../../../src/operations/sql/params.ts';

/** What a model writes, and what it means by it. */

const operationOf = (id: string) => {
  const operation = OPERATIONS.find((one) => one.id === id);
  if (operation === undefined) throw new Error(`no operation ${id}`);
  return operation;
};
const WALLET = '0x4020615294c913f045dc10f0a5cdebd86c280001';
const OTHER = '0x8d4f05a0f2c1b3e49a7766554433221100ffeedd';

describe('arguments are understood', () => {
  test.each([
    ['getMerchant', { wallet: WALLET }, { address: WALLET }],
    ['getMerchant', { payTo: WALLET, chain: 'Base' }, { address: WALLET, chain: 'eip155:8453' }],
    ['getAgent', { address: WALLET, chain: 8453 }, { wallet: WALLET, chain: 'eip155:8453' }],
    ['getEntitySummary', { pay_to: WALLET, network: 'base' }, { wallet: WALLET, chain: 'eip155:8453' }],
    ['listEntitySettlements', { payee: WALLET }, { wallet: WALLET, role: 'payee' }],
    ['listEntitySettlements', { buyer: WALLET, minUsd: 2 }, { wallet: WALLET, role: 'payer', min_usd: 2 }],
    // What is said outweighs what a name implies.
    ['listEntitySettlements', { payee: WALLET, role: 'any' }, { wallet: WALLET, role: 'any' }],
    ['getPair', { from: WALLET, to: OTHER }, { payer: WALLET, payee: OTHER }],
    ['listEndpoints', { payee: WALLET, maxPriceUsd: 0.01 }, { pay_to: WALLET, max_price_usd: 0.01 }],
    ['getTransaction', { hash: '0x1', chain: null }, { tx_hash: '0x1' }],
  ])('%s %j', (id, sent, meant) => {
    expect(meantArguments(operationOf(id), sent)).toEqual(meant);
  });

  test.each([
    ['listFlows', { wallet: WALLET }],
    ['listTransactions', { payee: WALLET }],
    // Two names for one argument: which of them is meant, the caller says.
    ['getMerchant', { address: WALLET, wallet: OTHER }],
    ['getMerchant', { __proto__: null, constructor: 'x' }],
    ['getTelemetry', { chain: 'base' }],
    // Names of a saved query are its author's.
    ['callSavedQuery', { owner: 'acme', slug: 'x', payTo: WALLET }],
  ])('%s %j stays as it is', (id, sent) => {
    expect(meantArguments(operationOf(id), sent)).toEqual({ ...sent });
  });

  test('a chain that none is called stays for the refusal', () => {
    expect(meantArguments(operationOf('listFlows'), { chain: 'Atlantis' })).toEqual({ chain: 'Atlantis' });
  });
});

test('tools have defaults of their own, and a job keeps all rows', () => {
  expect(withDefaults(operationOf('runSql'), {})).toEqual({ max_rows: TOOL_ROWS_DEFAULT });
  expect(withDefaults(operationOf('runSql'), { max_rows: 5 })).toEqual({ max_rows: 5 });
  expect(withDefaults(operationOf('createSqlJob'), {})).toEqual({});
  expect(withDefaults(operationOf('getBundleFile'), {})).toEqual({ describe: true });
});

describe('the next call after an argument that is not known', () => {
  const nextOf = (id: string, given: Readonly<Record<string, unknown>>, parameter: string) =>
    nextOfRefusal(
      { operation: operationOf(id), operations: OPERATIONS, given },
      fail('invalid_parameter', { parameter, detail: '' }),
    );

  test.each(['listFlows', 'listTransactions'])('%s of one wallet: its settlements', (id) => {
    expect(nextOf(id, { wallet: WALLET, limit: 3 }, 'wallet')).toEqual({
      tool: 'list_entity_settlements',
      arguments: { wallet: WALLET, limit: 3 },
    });
    expect(nextOf(id, { pay_to: WALLET }, 'pay_to')?.arguments).toEqual({ wallet: WALLET, role: 'payee' });
  });

  test('a name of another meaning is no typing error', () => {
    expect(nextOf('listEndpoints', { wallets: WALLET }, 'wallets')).toBeNull();
    expect(nextOf('getGraph', { payer: WALLET }, 'payer')).toBeNull();
    expect(nextOf('listFlows', { payload: 'x' }, 'payload')).toBeNull();
  });

  test('a typing error is', () => {
    expect(nextOf('listFlows', { limti: 3 }, 'limti')?.arguments).toEqual({ limit: 3 });
  });
});

test.each([
  ['listFlows', { limit: 5, facilitator: 'a b' }, 'GET https://i.example/v0/flows?limit=5&facilitator=a+b'],
  ['getEntitySummary', { wallet: WALLET }, `GET https://i.example/v0/entities/${WALLET}/summary`],
  ['getMerchant', { window: '7d' }, 'GET https://i.example/v0/merchants/{address}?window=7d'],
  ['runSql', { sql: 'SELECT 1' }, 'POST https://i.example/v0/sql with these arguments as its JSON body'],
])('%s %j over HTTP', (id, given, text) => {
  expect(callOverHttp(operationOf(id), given, 'https://i.example')).toBe(text);
});
