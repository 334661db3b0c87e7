import { describe, expect } from 'vitest';
import type { TestApi } from '../../../kit/api.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  POLYGON,
  reportChain,
  settlement,
  wallet,
} from '../../../kit/rows.ts';

/** Which chain an answer is about. The tests' deployment has Base first, then Polygon. */

const SHOP = wallet(0xb2);
const AGENT = wallet(0xa1);
const YESTERDAY = NOON - 86_400;

let engine: TestEngine;
let api: TestApi;

test.beforeAll(async ({ engine: ofFile, fileApi }) => {
  engine = ofFile;
  api = fileApi;
  await insertSettlements(engine.writer, [
    settlement({ chain: BASE, logIndex: 1, blockTime: YESTERDAY, payer: AGENT, payee: SHOP }),
    ...[2, 3].map((logIndex) =>
      settlement({ chain: POLYGON, logIndex, blockTime: YESTERDAY - logIndex, payer: AGENT, payee: SHOP }),
    ),
  ]);
  await reportChain(engine.writer, BASE);
  await reportChain(engine.writer, POLYGON);
});

/** Settlements that an answer of each route counts. */
interface Body {
  readonly aggregates?: { readonly inbound_count: number; readonly outbound_count: number };
  readonly totals?: { readonly inbound_count: number };
  readonly paid?: { readonly settlement_count: number };
  readonly wallets?: readonly { readonly settlement_count: number }[];
  readonly facilitators?: readonly { readonly settlement_count: number }[];
  readonly edges?: readonly { readonly count: number }[];
}
type Count = (body: Body) => number | undefined;
const sum = (rows: Body['wallets']): number | undefined =>
  rows?.reduce((total, row) => total + row.settlement_count, 0);
const ROUTES: readonly (readonly [string, Count])[] = [
  [`/v0/merchants/${SHOP}`, ({ aggregates }) => aggregates?.inbound_count],
  [`/v0/agents/${AGENT}`, ({ aggregates }) => aggregates?.outbound_count],
  [`/v0/entities/${SHOP}/counterparties`, ({ totals }) => totals?.inbound_count],
  [`/v0/pairs/${AGENT}/${SHOP}`, ({ paid }) => paid?.settlement_count],
  ['/v0/wallets?limit=1', ({ wallets }) => sum(wallets)],
  ['/v0/facilitators?limit=50', ({ facilitators }) => sum(facilitators)],
  ['/v0/graph?days=2', ({ edges }) => edges?.[0]?.count],
  ['/v0/graph?window=9', ({ edges }) => edges?.[0]?.count],
];

async function ask(path: string, chain: string | undefined) {
  const separator = path.includes('?') ? '&' : '?';
  return api.get(chain === undefined ? path : `${path}${separator}chain=${chain}`);
}

const servedBy = ({ body }: Awaited<ReturnType<typeof ask>>) => ({
  chain: body.meta.chain,
  chains: body.meta.freshness.chains.map((entry: { chain: string }) => entry.chain),
});

describe.each(ROUTES)('%s', (path, count) => {
  test('without a chain answers exactly as for the first configured one', async () => {
    const byDefault = await ask(path, undefined);
    expect(byDefault.status).toBe(200);
    expect(count(byDefault.body)).toBe(1);
    expect(servedBy(byDefault)).toEqual({ chain: BASE, chains: [BASE] });
    expect(byDefault.body).toEqual((await ask(path, BASE)).body);
  });

  test('with a chain answers for that one', async () => {
    const answer = await ask(path, POLYGON);
    expect(count(answer.body)).toBe(2);
    expect(servedBy(answer)).toEqual({ chain: POLYGON, chains: [POLYGON] });
  });

  test('with all adds up every chain, and names none', async () => {
    const answer = await ask(path, 'all');
    expect(count(answer.body)).toBe(3);
    expect(servedBy(answer)).toEqual({ chain: null, chains: [BASE, POLYGON] });
  });

  test.each(['eip155:1', 'base', 'ALL', ''])('chain "%s": 400 listing what is served', async (chain) => {
    const { status, body } = await ask(path, chain);
    expect({ status, code: body.code, parameter: body.parameter }).toEqual({
      status: 400,
      code: 'invalid_parameter',
      parameter: 'chain',
    });
    expect(body.detail).toContain(`supported: ${BASE}, ${POLYGON}, all.`);
  });
});

test('a graph without a chain says in applied which one it is about', async () => {
  expect((await ask('/v0/graph?days=2', undefined)).body.applied.chain).toBe(BASE);
  expect((await ask('/v0/graph?days=2', 'all')).body.applied.chain).toBeNull();
});

test('a page of wallets of all chains links to a next page of all chains', async () => {
  const first = await ask('/v0/wallets?limit=1', 'all');
  const next = await api.get(/<([^>]*)>/.exec(first.headers['link'] ?? '')?.[1] ?? '');
  const wallets = [first, next].flatMap(({ body }) => body.wallets);
  expect(wallets).toMatchObject([
    { wallet: SHOP, settlement_count: 3 },
    { wallet: AGENT, settlement_count: 3 },
  ]);
  expect(next.body.meta.chain).toBeNull();
});

test.each([
  ['/v0/flows', 'flows'],
  ['/v0/transactions', 'transactions'],
  [`/v0/entities/${SHOP}/settlements`, 'settlements'],
])('%s without a chain lists the settlements of every chain', async (path, list) => {
  const answer = await ask(path, undefined);
  expect(answer.body[list]).toHaveLength(3);
  expect(servedBy(answer)).toEqual({ chain: null, chains: [BASE, POLYGON] });
});
