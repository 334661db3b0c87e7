import { describe, expect } from 'vitest';
import type { Settlement } from '../../../clickhouse/tables/settlements.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { chainParam } from '../../../src/operations/common-params.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';
import { deriveAll, registerAgent } from '../../kit/agents.ts';
import type { TestApi } from '../../kit/api.ts';
import { listedItem } from '../../kit/bazaar.ts';
import { test } from '../../kit/fixtures.ts';
import { payment, testListings } from '../../kit/listings.ts';
import { rankWallets } from '../../kit/rank-wallets.ts';
import { attestation, insertAttestations } from '../../kit/registry-rows.ts';
import { BASE, insertSettlements, NOON, POLYGON, reportChain, wallet } from '../../kit/rows.ts';

/**
 * Every operation answers for all indexed chains unless one is asked for. The tests' deployment has Base first, then Polygon. The seller is
 * paid on Polygon alone, where nearly everything is; its buyer also buys from another shop on Base.
 */

const [SELLER, BUYER, SHOP] = [wallet(0xb2), wallet(0xa1), wallet(0xb3)];
const DAY = 86_400;
const SOLD: readonly Settlement[] = Array.from({ length: 12 }, (_, at) =>
  payment({
    chain: POLYGON,
    payee: SELLER,
    payer: at % 2 === 0 ? BUYER : wallet(0x100 + at),
    blockTime: NOON - (at + 1) * DAY,
    amount: 20_000n + BigInt(at),
  }),
);
const ROWS: readonly Settlement[] = [
  ...SOLD,
  payment({ chain: POLYGON, payer: SELLER, payee: BUYER, blockTime: NOON - 60, amount: 5_000n }),
  ...[1, 2, 3].map((at) =>
    payment({ chain: BASE, payer: BUYER, payee: SHOP, blockTime: NOON - at * DAY, amount: 70_000n }),
  ),
];
/** Entries of the other tables. */
const agentsOn = (chain: Chain): number => (chain === BASE ? 1 : 3);
const notesOn = (chain: Chain): number => (chain === BASE ? 0 : 2);
const offersOn = (chain: Chain): number => (chain === BASE ? 1 : 2);

let api: TestApi;

test.beforeAll(async ({ engine: { writer }, fileApi }) => {
  api = fileApi;
  await insertSettlements(writer, ROWS);
  const listings = testListings(writer);
  for (const chain of [BASE, POLYGON] as const) {
    await reportChain(writer, chain);
    for (let at = 1; at <= agentsOn(chain); at++) await registerAgent(writer, { chain, agentId: BigInt(at) });
    const notes = Array.from({ length: notesOn(chain) }, (_, at) =>
      attestation({ chain, blockNumber: at + 1 }),
    );
    if (notes.length > 0) await insertAttestations(writer, notes);
    await listings.list(
      `bazaar:${chain}`,
      Array.from({ length: offersOn(chain) }, (_, at) =>
        listedItem(`https://${chain.replace(':', '-')}.example/${at}`, { network: chain, payTo: SELLER }),
      ),
    );
  }
  await deriveAll(writer);
  await listings.derive();
  await rankWallets(writer, { windows: ['30d'] });
});

/** Numbers of an answer that add up over chains. */
type Figures = readonly number[];
// biome-ignore lint/suspicious/noExplicitAny: an answer of any operation
type Body = any;
interface Asked {
  readonly path: string;
  readonly figures: (body: Body) => Figures;
  /** The same from the rows. */
  readonly recount: (chain: Chain) => Figures;
}

const added = (numbers: readonly number[]): number =>
  Number(numbers.reduce((sum, one) => sum + one, 0).toFixed(6));
const times = (rows: readonly Body[]): Figures => [rows.length];
const ofChain = (chain: Chain, isWanted: (row: Settlement) => boolean = () => true): readonly Settlement[] =>
  ROWS.filter((row) => row.chain === chain && isWanted(row));
const sums = (rows: readonly Settlement[]): Figures => [
  rows.length,
  added(rows.map(({ amountUsdMicros }) => Number(amountUsdMicros) / 1e6)),
];
const counted =
  (isWanted?: (row: Settlement) => boolean) =>
  (chain: Chain): Figures => [ofChain(chain, isWanted).length];
const summed =
  (isWanted?: (row: Settlement) => boolean) =>
  (chain: Chain): Figures =>
    sums(ofChain(chain, isWanted));
const isSold = ({ payee }: Settlement): boolean => payee === SELLER;
const isOfSeller = ({ payee, payer }: Settlement): boolean => payee === SELLER || payer === SELLER;
const isBought = ({ payer }: Settlement): boolean => payer === BUYER;
const [ONE_SALE] = SOLD;

const ranked = (rows: readonly Body[]): Figures => [
  added(rows.map((row) => row.figures.settlement_count)),
  added(rows.map((row) => row.figures.settled_usd)),
];
const ASKED: Readonly<Record<string, Asked>> = {
  listFlows: { path: '/v0/flows', figures: (body) => times(body.flows), recount: counted() },
  listTransactions: {
    path: '/v0/transactions',
    figures: (body) => times(body.transactions),
    recount: counted(),
  },
  getTransaction: {
    path: `/v0/transactions/${ONE_SALE?.txHash}`,
    figures: (body) => [body.settlement_count ?? 0],
    recount: counted(({ txHash }) => txHash === ONE_SALE?.txHash),
  },
  listEntitySettlements: {
    path: `/v0/entities/${SELLER}/settlements`,
    figures: (body) => times(body.settlements),
    recount: counted(isOfSeller),
  },
  getEntitySummary: {
    path: `/v0/entities/${SELLER}/summary`,
    figures: ({ received }) => [received.settlement_count, received.usd],
    recount: summed(isSold),
  },
  listCounterparties: {
    path: `/v0/entities/${SELLER}/counterparties`,
    figures: ({ totals }) => [totals.inbound_count, totals.inbound_usd],
    recount: summed(isSold),
  },
  getPair: {
    path: `/v0/pairs/${BUYER}/${SELLER}`,
    figures: ({ paid }) => [paid.settlement_count, paid.settled_usd],
    recount: summed((row) => isSold(row) && isBought(row)),
  },
  listWallets: {
    path: '/v0/wallets?role=payee',
    figures: ({ wallets }) => [added(wallets.map((row: Body) => row.settlement_count))],
    recount: counted(),
  },
  listFacilitators: {
    path: '/v0/facilitators',
    figures: ({ facilitators: rows }) => [
      added(rows.map((row: Body) => row.settlement_count)),
      added(rows.map((row: Body) => row.settled_usd)),
    ],
    recount: summed(),
  },
  listMerchants: {
    path: '/v0/merchants?include_flagged=true&min_counterparties=0&by=settlements',
    figures: ({ merchants }) => ranked(merchants),
    // What the seller paid back to its buyer ranks the buyer nowhere.
    recount: summed(({ payee }) => payee !== BUYER),
  },
  getMerchant: {
    path: `/v0/merchants/${SELLER}?window=all`,
    figures: ({ aggregates, in_window: window }) => [
      aggregates.inbound_count,
      aggregates.inbound_usd,
      window.settlement_count,
      window.usd,
    ],
    recount: (chain) => [...summed(isSold)(chain), ...summed(isSold)(chain)],
  },
  getAgent: {
    path: `/v0/agents/${BUYER}`,
    figures: ({ aggregates }) => [aggregates.outbound_count, aggregates.outbound_usd],
    recount: summed(isBought),
  },
  listAgents: {
    path: '/v0/agents',
    figures: ({ agents }) => times(agents),
    recount: (chain) => [agentsOn(chain)],
  },
  getLeaderboard: {
    path: '/v0/leaderboard?include_spam=true&min_counterparties=0',
    figures: ({ leaderboard }) => times(leaderboard),
    recount: (chain) => [agentsOn(chain)],
  },
  listAttestations: {
    path: '/v0/attestations',
    figures: ({ attestations }) => times(attestations),
    recount: (chain) => [notesOn(chain)],
  },
  getGraph: {
    path: '/v0/graph?window=100',
    figures: ({ edges }) => [
      added(edges.map((edge: Body) => edge.count)),
      added(edges.map((edge: Body) => edge.usd)),
    ],
    recount: summed(),
  },
  listEndpoints: {
    path: '/v0/endpoints',
    figures: ({ endpoints }) => times(endpoints),
    recount: (chain) => [offersOn(chain)],
  },
};
/** Have their own tests. */
const ELSEWHERE_TESTED = [
  'getCoverage',
  'getDashboard',
  'getDashboardPanel',
  'listBundles',
  'listEntityChannels',
];

const asking = (path: string, chain: string | undefined) => {
  const separator = path.includes('?') ? '&' : '?';
  return api.get(chain === undefined ? path : `${path}${separator}chain=${chain}`);
};
const servedBy = ({ meta }: Body) => [
  meta.chain,
  ...(meta.freshness?.chains.map(({ chain }: Body) => chain) ?? []),
];

test('every operation with a chain has the one parameter, and a line in this table', () => {
  const having = OPERATIONS.filter(({ params }) => params['chain']?.in === 'query');
  expect(having.filter(({ params }) => params['chain']?.read !== chainParam.read)).toEqual([]);
  expect(having.map(({ id }) => id).sort()).toEqual([...Object.keys(ASKED), ...ELSEWHERE_TESTED].sort());
});

describe.each(Object.entries(ASKED))('%s', (_id, { path, figures, recount }) => {
  test('without a chain adds up what it says of each chain, as all does', async () => {
    const { status, body } = await asking(path, undefined);
    expect(status).toBe(200);
    const [base, polygon] = [recount(BASE), recount(POLYGON)];
    expect(figures(body)).toEqual(base.map((figure, at) => added([figure, polygon[at] ?? 0])));
    expect(servedBy(body)[0]).toBeNull();
    expect([[], [BASE, POLYGON]]).toContainEqual(servedBy(body).slice(1));
    expect((await asking(path, 'all')).body).toEqual(body);
  });

  test.each([BASE, POLYGON])('with %s names only its own rows', async (chain) => {
    const { status, body } = await asking(path, chain);
    if (status === 404) {
      expect(recount(chain)).toEqual([0]);
      expect(body.detail).toContain(`${chain}, the only chain that was asked for`);
      return;
    }
    expect(figures(body)).toEqual(recount(chain));
    expect(new Set(servedBy(body))).toEqual(new Set([chain]));
    const lists = Object.values<Body>(body).filter((value) => Array.isArray(value));
    if (!('elsewhere' in body) && lists.every(({ length }) => length === 0))
      expect(body.meta.warnings).toContain('other_chains_left_out');
  });

  test.each(['eip155:1', 'base', 'ALL', ''])('chain "%s": 400 listing the served chains', async (chain) => {
    const { status, body } = await asking(path, chain);
    expect([status, body.code, body.parameter]).toEqual([400, 'invalid_parameter', 'chain']);
    expect(body.detail).toContain(`supported: ${BASE}, ${POLYGON}, all.`);
  });
});

describe('a seller who is paid on another chain than the one asked for', () => {
  const sold = { settlement_count: 12, usd: sums(SOLD)[1], last_seen: '2026-11-19T12:00:00Z' };
  const bought = SOLD.filter(isBought);

  test('is judged by all that it received', async () => {
    const { body } = await asking(`/v0/entities/${SELLER}/summary`, undefined);
    expect(body.reasons_against).not.toContain('never_paid');
    expect(body.verdict).not.toBe('unobserved');
    expect(body).not.toHaveProperty('elsewhere');
  });

  test.each(['', '&finality=finalized'])(
    'is not called never paid, and is said where it was%s',
    async (more) => {
      const { body } = await asking(`/v0/entities/${SELLER}/summary`, `${BASE}${more}`);
      expect(body).toMatchObject({
        verdict: 'unobserved',
        received: { settlement_count: 0 },
        elsewhere: more === '' ? [{ chain: POLYGON, ...sold }] : [],
      });
      expect(body.reasons_against.slice(0, 1)).toEqual([more === '' ? 'not_paid_on_chain' : 'never_paid']);
    },
  );

  test('has that in its profile and in what a pair did', async () => {
    const profile = (await asking(`/v0/merchants/${SELLER}`, BASE)).body;
    expect(profile.elsewhere).toEqual([{ chain: POLYGON, ...sold }]);
    expect(profile.data_quality.note).toBe(
      `No settlement on ${BASE} has this wallet in this role: 12 on ${POLYGON} do, which \`chain\` left out.`,
    );
    const buyer = (await asking(`/v0/agents/${BUYER}`, POLYGON)).body;
    expect(buyer.elsewhere).toMatchObject([{ chain: BASE, settlement_count: 3, usd: 0.21 }]);
    const pair = (await asking(`/v0/pairs/${BUYER}/${SELLER}`, BASE)).body;
    expect(pair.elsewhere).toMatchObject([{ chain: POLYGON, settlement_count: bought.length }]);
  });

  test('has nothing elsewhere than on its chain, and none who was paid nowhere has', async () => {
    for (const [of, chain] of [
      [SELLER, POLYGON],
      [wallet(0xdead), BASE],
    ] as const) {
      const { body } = await asking(`/v0/entities/${of}/summary`, chain);
      expect(body.elsewhere).toEqual([]);
      expect(body.reasons_against).not.toContain('not_paid_on_chain');
    }
  });
});

test('a page of wallets of all chains links to a next page of all chains', async () => {
  const first = await asking('/v0/wallets?limit=1', undefined);
  const next = await api.get(/<([^>]*)>/.exec(first.headers['link'] ?? '')?.[1] ?? '');
  expect(next.body.wallets).toHaveLength(1);
  expect(next.body.wallets[0].wallet < first.body.wallets[0].wallet).toBe(true);
  expect(next.body.meta.chain).toBeNull();
});

test('a graph says in applied which chain it is about', async () => {
  expect((await asking('/v0/graph?days=2', undefined)).body.applied.chain).toBeNull();
  expect((await asking('/v0/graph?days=2', BASE)).body.applied.chain).toBe(BASE);
});
