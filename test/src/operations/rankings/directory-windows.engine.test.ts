import { beforeEach, describe, expect } from 'vitest';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import { spansOf, WINDOWS, type Window } from '../../../../core/domain/window.ts';
import { testApi } from '../../../kit/api.ts';
import { listedItem } from '../../../kit/bazaar.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import { test } from '../../../kit/fixtures.ts';
import { heldReader } from '../../../kit/held-reader.ts';
import { type Listings, payment, testListings } from '../../../kit/listings.ts';
import { rankWallets } from '../../../kit/rank-wallets.ts';
import { BASE, insertSettlements, NOON, reportChain, tombstone, wallet } from '../../../kit/rows.ts';
import { waitUntil } from '../../../kit/wait-until.ts';

/** Rankings of the directory by every window, against a recount with loops. */

const DAY = 86_400;
const HOUR = 3_600;
const LISTED_AT = NOON - 400 * DAY;

interface Offer {
  readonly resource: string;
  readonly payTo: string;
  readonly amount: bigint;
  readonly capability: string;
}

/** Several of one capability, two of one origin on the same terms, one that only asks more. */
const OFFERS: readonly Offer[] = [
  ['https://one.example/search', 0x71, 10_000n, 'web-search'],
  ['https://two.example/search', 0x72, 20_000n, 'web-search'],
  ['https://two.example/search-more', 0x72, 20_000n, 'web-search'],
  ['https://three.example/weather', 0x73, 5_000n, 'weather'],
  ['https://four.example/weather', 0x71, 70_000n, 'weather'],
].map(([resource, payTo, amount, capability]) => ({
  resource: String(resource),
  payTo: wallet(Number(payTo)),
  amount: BigInt(amount ?? 0),
  capability: String(capability),
}));

/** Payments at ages that lie on both sides of every window's ends, of few payers; some payments fit no offer. */
function somePayments(): Settlement[] {
  const ages = [
    60,
    HOUR,
    20 * HOUR,
    DAY - 1,
    DAY + 1,
    2 * DAY - 1,
    2 * DAY + 1,
    6 * DAY,
    7 * DAY + 1,
    13 * DAY,
  ];
  const older = [
    14 * DAY + 1,
    29 * DAY,
    31 * DAY,
    59 * DAY,
    61 * DAY,
    89 * DAY,
    91 * DAY,
    179 * DAY,
    200 * DAY,
    390 * DAY,
  ];
  return [...ages, ...older].flatMap((age, at) =>
    OFFERS.flatMap(({ payTo, amount }, offer) =>
      Array.from({ length: (at * 7 + offer * 5) % 4 }, (_, n) =>
        payment({
          payee: wallet(Number(BigInt(payTo))),
          payer: wallet(0x8000 + ((at + n * 3) % 5)),
          amount: n === 3 ? amount + 1n : amount,
          blockTime: NOON - age,
        }),
      ),
    ),
  );
}

interface Counted {
  readonly count: number;
  readonly parties: number;
  readonly usd: bigint;
}

const isOf =
  ({ payTo, amount }: Offer) =>
  (row: Settlement): boolean =>
    row.payee === payTo && row.amount === amount;

function countIn(
  rows: readonly Settlement[],
  span: { readonly from: number; readonly to: number | null } | undefined,
): Counted {
  const inside = rows.filter(
    ({ blockTime }) =>
      span !== undefined && blockTime >= span.from && (span.to === null || blockTime < span.to),
  );
  return {
    count: inside.length,
    parties: new Set(inside.map(({ payer }) => payer)).size,
    usd: inside.reduce((sum, { amountUsdMicros }) => sum + amountUsdMicros, 0n),
  };
}

interface Asked {
  readonly of: 'endpoints' | 'capabilities';
  readonly by: 'settlements' | 'counterparties';
  readonly window: Window;
  readonly min: number;
}

/** By key: what it had in the window and in the one before. */
function recount(
  rows: readonly Settlement[],
  { of, window }: Asked,
): Map<string, readonly [Counted, Counted]> {
  const [now, before] = spansOf(window, NOON, 2);
  const counted = (offer: Offer): [Counted, Counted] => {
    const mine = rows.filter(isOf(offer));
    return [countIn(mine, now), countIn(mine, before)];
  };
  if (of === 'endpoints') return new Map(OFFERS.map((offer) => [offer.resource, counted(offer)]));
  const slugs = [...new Set(OFFERS.map(({ capability }) => capability))];
  return new Map(
    slugs.map((slug) => {
      // The two of one origin on the same terms count once.
      const offers = OFFERS.filter(
        ({ capability, resource }) => capability === slug && !resource.endsWith('-more'),
      );
      const add = (back: 0 | 1): Counted => {
        const all = offers.map((offer) => counted(offer)[back]);
        return {
          count: all.reduce((sum, { count }) => sum + count, 0),
          parties: new Set(offers.filter((_, at) => (all[at]?.count ?? 0) > 0).map(({ payTo }) => payTo))
            .size,
          usd: all.reduce((sum, { usd }) => sum + usd, 0n),
        };
      };
      return [slug, [add(0), add(1)]];
    }),
  );
}

function naively(rows: readonly Settlement[], asked: Asked): unknown[] {
  const all = [...recount(rows, asked)];
  const figureOf = ({ count, parties }: Counted): number => (asked.by === 'settlements' ? count : parties);
  const inOrder = (back: 0 | 1): string[] =>
    all
      .filter(([, counted]) => figureOf(counted[back]) > 0 && counted[back].parties >= asked.min)
      .toSorted(([a, x], [b, y]) => figureOf(y[back]) - figureOf(x[back]) || (a < b ? -1 : 1))
      .map(([key]) => key);
  const before = inOrder(1);
  const byKey = new Map(all);
  return inOrder(0).map((key, at) => {
    const [now, earlier] = byKey.get(key) ?? [];
    if (now === undefined || earlier === undefined) throw new Error(key);
    return {
      rank: at + 1,
      previous_rank: before.includes(key) ? before.indexOf(key) + 1 : null,
      key,
      value: figureOf(now),
      previous_value: asked.window === 'all' ? null : figureOf(earlier),
      figures: [now.count, now.parties, Number(now.usd) / 1e6],
    };
  });
}

const EVERY: readonly Asked[] = (['endpoints', 'capabilities'] as const).flatMap((of) =>
  (['settlements', 'counterparties'] as const).flatMap((by) =>
    WINDOWS.flatMap((window) => [0, 2].map((min) => ({ of, by, window, min }))),
  ),
);

interface Row {
  readonly rank: number;
  readonly previous_rank: number | null;
  readonly resource?: string;
  readonly capability?: string;
  readonly value: number;
  readonly previous_value: number | null;
  readonly figures: {
    readonly settlement_count: number;
    readonly distinct_counterparties: number;
    readonly settled_usd: number;
  };
  readonly sparkline: readonly number[];
}

interface Answer {
  readonly leaderboard: readonly Row[];
  readonly meta: { readonly sparkline: { readonly from: string; readonly step_seconds: number } };
}

async function answered(
  get: (path: string) => Promise<{ readonly body: Answer }>,
  { of, by, window, min }: Asked,
): Promise<Answer> {
  const { body } = await get(
    `/v0/leaderboard?of=${of}&by=${by}&window=${window}&min_counterparties=${min}&include_flagged=true&chain=all`,
  );
  return body;
}

const comparable = (row: Row) => ({
  rank: row.rank,
  previous_rank: row.previous_rank,
  key: row.resource ?? row.capability,
  value: row.value,
  previous_value: row.previous_value,
  figures: [row.figures.settlement_count, row.figures.distinct_counterparties, row.figures.settled_usd],
});

describe('the directory is ranked by every window', () => {
  let listings: Listings;

  beforeEach<{ engine: { writer: Parameters<typeof testListings>[0] } }>(async ({ engine }) => {
    await emptyTables(engine.writer);
    await reportChain(engine.writer, BASE);
    listings = testListings(engine.writer);
    await listings.list(
      'bazaar:one',
      OFFERS.map(({ resource, payTo, amount, capability }) =>
        listedItem(resource, { payTo, amount: String(amount), network: BASE, item: { tags: [capability] } }),
      ),
      LISTED_AT,
    );
    await rankWallets(engine.writer, { windows: [...WINDOWS] });
  });

  test('the old ranking is answered while a new one is read, together with the sparklines that pages showed', async ({
    engine,
  }) => {
    const { reader, asked, goOn } = heldReader(engine.reader, 'ranking-capabilities', 4);
    const counting = await testApi(reader);
    const [offer] = OFFERS;
    const pay = async (count: number) => {
      await insertSettlements(
        engine.writer,
        Array.from({ length: count }, (_, logIndex) =>
          payment({
            payee: wallet(0x71),
            amount: offer?.amount ?? 0n,
            logIndex,
            blockTime: NOON - 60,
          }),
        ),
      );
      await listings.derive(NOON);
    };
    const shown = async () => {
      const { body } = await counting.get('/v0/leaderboard?of=capabilities&window=7d');
      return body.leaderboard.map((row: Row & { sparkline: number[] }) => [row.value, row.sparkline.at(-1)]);
    };
    await pay(2);
    expect(await shown()).toEqual([[2, 2]]);
    await pay(5);
    counting.clock.advanceSeconds(15);
    expect(await shown()).toEqual([[2, 2]]);
    await waitUntil('the sparklines are read without a caller', () => asked.length === 4);
    expect(await shown()).toEqual([[2, 2]]);
    goOn();
    await waitUntil('the new ranking is read', async () => JSON.stringify(await shown()) === '[[7,7]]');
    const once = ['ranking-capabilities', 'ranking-capabilities-sparklines'];
    expect(asked).toEqual([...once, ...once]);
    await counting.close();
  });

  test('as a recount has it, with the places of the window before, also after a reorg took payments', async ({
    engine,
    api,
  }) => {
    const rows = somePayments();
    await insertSettlements(engine.writer, rows);
    await listings.derive(NOON);
    for (const asked of EVERY)
      expect({ asked, rows: (await answered(api.get, asked)).leaderboard.map(comparable) }).toEqual({
        asked,
        rows: naively(rows, asked),
      });
    const gone = rows.filter((_, at) => at % 3 === 0);
    await tombstone(engine.writer, gone);
    await listings.derive(NOON);
    // An answer that is kept for a minute is old by then.
    api.clock.advanceSeconds(120);
    const left = rows.filter((_, at) => at % 3 !== 0);
    for (const asked of EVERY)
      expect({ asked, rows: (await answered(api.get, asked)).leaderboard.map(comparable) }).toEqual({
        asked,
        rows: naively(left, asked),
      });
  });

  test('with a sparkline whose parts hold the payments of their hours or days', async ({ engine, api }) => {
    const rows = somePayments();
    await insertSettlements(engine.writer, rows);
    await listings.derive(NOON);
    for (const asked of EVERY.filter(({ min }) => min === 0)) {
      const { leaderboard, meta } = await answered(api.get, asked);
      const { from, step_seconds: step } = meta.sparkline;
      const begins = Date.parse(from) / 1_000;
      expect([
        asked.window,
        step % (asked.window === '24h' ? HOUR : DAY),
        begins % step === 0 || step > DAY,
      ]).toEqual([asked.window, 0, true]);
      for (const row of leaderboard) {
        const offers = OFFERS.filter(({ resource, capability }) =>
          asked.of === 'endpoints'
            ? resource === row.resource
            : capability === row.capability && !resource.endsWith('-more'),
        );
        const mine = rows.filter((one) => offers.some((offer) => isOf(offer)(one)));
        const points = row.sparkline.map(
          (_, at) => mine.filter(({ blockTime }) => Math.floor((blockTime - begins) / step) === at).length,
        );
        expect({ asked, key: row.resource ?? row.capability, points: row.sparkline }).toEqual({
          asked,
          key: row.resource ?? row.capability,
          points,
        });
      }
    }
  });
});
