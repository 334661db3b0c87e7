import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ControlStore } from '../../../src/accounts/store.ts';
import { reconcileAll } from '../../../src/operate/admin/reconcile.ts';
import { lengthOf } from '../../kit/lengths.ts';
import {
  openSoldWorld,
  SERVING_LEASE_MS,
  type Seller,
  type SoldAddress,
  type SoldQuery,
  type SoldWorld,
} from '../../kit/sold-world.ts';
import { PROPERTY_BUDGET_MS } from '../../kit/store-commands.ts';
import { readLedger } from '../../kit/unit-books.ts';
import type { OpenedStore } from '../accounts/control-store.ts';

/** The claim of the money fixes the terms of the sale: the same tests over both stores. */
export function soldTerms(open: () => Promise<OpenedStore>): void {
  const inWorld = async (run: (world: SoldWorld, opened: OpenedStore) => Promise<void>): Promise<void> => {
    const opened = await open();
    const world = await openSoldWorld([opened.store, await opened.reopen()]);
    try {
      await run(world, opened);
    } finally {
      await world.close();
      await opened.close();
    }
  };

  test.each(['exact', 'upto'] as const)(
    'a price that is raised after a payment of the scheme %s settled gives its author nothing more',
    (scheme) =>
      inWorld(async (world, { store }) => {
        const seller = await world.author();
        const query = { seller, slug: 'q', priceQu: 0 };
        await world.save(query);
        const payment = await world.pay(query, scheme);
        const lost = await world.call(query, { payment });
        await lost.delivered?.(false);
        await world.save({ ...query, priceQu: 10_000 });
        const served = await world.call(query, { payment });
        expect(served).toMatchObject({ answer: { body: { version: 1 } }, chargedQu: 1 });
        expect(await salesOf(store, seller)).toEqual([]);
      }),
  );

  test.each<[string, (world: SoldWorld, query: SoldQuery) => Promise<unknown>]>([
    [
      'saved with another text, tier and price',
      (world, query) =>
        world.save({ ...query, priceQu: 9_000 }, { sql: 'SELECT 2', tier: 'deep', maxQu: 60 }),
    ],
    ['removed', (world, query) => world.remove(query)],
    ['made private', (world, query) => world.save(query, { visibility: 'private' })],
    [
      'removed and saved anew',
      async (world, query) => {
        await world.remove(query);
        await world.save({ ...query, priceQu: 7 }, { sql: 'SELECT 3' });
      },
    ],
  ])(
    'a payment that settled unanswered buys what it was paid for where the query was since %s',
    (_what, change) =>
      inWorld(async (world, { store }) => {
        const seller = await world.author();
        const query = { seller, slug: 'q', priceQu: 2 };
        await world.save(query);
        const payment = await world.pay(query);
        await expect(world.call(query, { payment, during: died })).rejects.toThrow();
        await change(world, query);
        for (const process of [0, 1] as const) {
          const served = await world.call(query, { payment, process });
          expect(served).toMatchObject({ answer: { body: { version: 1, sql: 'SELECT 1' } }, chargedQu: 3 });
          await served.delivered?.(process === 1);
        }
        expect(await salesOf(store, seller)).toMatchObject([{ units: 2 }]);
        await expect(world.call(query, { payment })).rejects.toThrow();
        expect(await unpaid(store)).toEqual([]);
      }),
  );

  test('an own copy of a text whose result others paid for costs its author one unit, once', () =>
    inWorld(async (world) => {
      const seller = await world.author();
      const query = { seller, slug: 'copy', priceQu: 0 };
      await world.save(query);
      const { credentials } = seller;
      const charged: number[] = [];
      for (let at = 0; at < 3; at += 1) charged.push((await world.call(query, { credentials })).chargedQu);
      expect(charged).toEqual([1, 0, 0]);
    }));

  test('a price that another process raises between a hold and its capture gives its author nothing more', () =>
    inWorld(async (world, { store }) => {
      const [seller, buyer] = [await world.author(), await world.author()];
      const query = { seller, slug: 'q', priceQu: 2 };
      await world.save(query);
      const during = () => world.save({ ...query, priceQu: 10_000 });
      const served = await world.call(query, { credentials: buyer.credentials, process: 1, during });
      expect(served.chargedQu).toBe(3);
      expect(await salesOf(store, seller)).toMatchObject([{ units: 2 }]);
      expect(await unpaid(store)).toEqual([]);
    }));

  test(
    'in any order of saving, price changes, calls, lost answers, resending, removal and deaths, no author gets more than was paid',
    {
      timeout: PROPERTY_BUDGET_MS,
    },
    () =>
      inWorld(async (world, { store }) => {
        let sales = 0;
        let runs = 0;
        const property = fc.asyncProperty(
          fc.array(steps, { minLength: 8, maxLength: 25, size: 'max' }),
          async (taken) => {
            const sellers = [await world.author(), await world.author()] as const;
            const buyer = await world.author();
            const state: State = { world, sellers, buyer, prices: new Map(), bills: [], mayEarn: [0, 0] };
            // Random steps alone can leave every query unsaved, free or never called.
            for (const step of [...SOLD_ONCE, ...taken]) {
              await take(state, step);
              for (const at of [0, 1] as const) {
                const earned = (await salesOf(store, sellers[at])).reduce((sum, { units }) => sum + units, 0);
                expect(earned, JSON.stringify(step)).toBeLessThanOrEqual(state.mayEarn[at]);
              }
            }
            expect(await unpaid(store, sellers)).toEqual([]);
            sales += (await salesOf(store, sellers[0])).length;
            runs += 1;
          },
        );
        await fc.assert(property, { numRuns: lengthOf('storeProperties') });
        expect(sales).toBeGreaterThanOrEqual(runs);
      }),
  );
}

/** The real client signs no ceiling above a dollar. */
const CEILING_QU_MAX = 90;

const died = () => Promise.reject(new Error('the process died'));

async function salesOf(store: ControlStore, { organizationId }: Seller) {
  return (await readLedger(store, organizationId)).filter(({ subject }) => subject.startsWith('sale:'));
}

/** What `admin reconcile` finds. */
async function unpaid(store: ControlStore, of?: readonly Seller[]) {
  const all = await store.accounts.listOrganizations({ after: null, limit: 1_000 });
  const wanted = of?.map(({ organizationId }) => ({ id: organizationId })) ?? all;
  return (await reconcileAll(store, wanted)).flatMap(({ differences }) => differences);
}

const which = { at: fc.constantFrom(0 as const, 1 as const), slug: fc.constantFrom('a', 'b') };
const process = fc.constantFrom(0 as const, 1 as const);
/** What happens while the call runs: nothing, its price is raised, its process dies. */
const meanwhile = fc.constantFrom('nothing', 'raise', 'die');
const steps = fc.oneof(
  fc.record({ do: fc.constant('save'), ...which, price: fc.constantFrom(0, 1, 5, 10_000), text: fc.nat(3) }),
  fc.record({ do: fc.constant('remove'), ...which }),
  fc.record({ do: fc.constant('pay'), ...which, scheme: fc.constantFrom('exact', 'upto') }),
  fc.record({ do: fc.constant('call'), ...which, process, meanwhile }),
  fc.record({
    do: fc.constant('send'),
    bill: fc.nat(5),
    process,
    meanwhile,
    answered: fc.boolean(),
    lost: fc.boolean(),
  }),
  fc.record({ do: fc.constant('wait') }),
);
type Step = typeof steps extends fc.Arbitrary<infer Each> ? Each : never;

interface State {
  readonly world: SoldWorld;
  readonly sellers: readonly [Seller, Seller];
  readonly buyer: Seller;
  /** Of the queries that are there, by address. */
  readonly prices: Map<string, number>;
  /** Signed payments. */
  readonly bills: { readonly payment: string; readonly query: SoldAddress }[];
  /** What each author may have earned at most: the price that each payment was signed for, and of each call with units. */
  readonly mayEarn: [number, number];
}

async function take(state: State, step: Step): Promise<void> {
  const { world, sellers, bills, prices } = state;
  if (step.do === 'wait') return world.clock.advanceSeconds(SERVING_LEASE_MS / 1_000);
  if (step.do === 'send') {
    const bill = bills[step.bill];
    if (bill === undefined) return;
    if (step.lost) world.loseNextSettlement();
    const sent = {
      payment: bill.payment,
      process: step.process,
      during: duringOf(state, bill.query, step.meanwhile),
    };
    const given = await refusedOr(world.call(bill.query, sent));
    return given?.delivered?.(step.answered);
  }
  const query = { seller: sellers[step.at], slug: step.slug };
  const name = `${step.at}/${step.slug}`;
  const price = prices.get(name);
  if (step.do === 'save') {
    await world.save({ ...query, priceQu: step.price }, { sql: `SELECT ${step.text}` });
    prices.set(name, step.price);
  } else if (step.do === 'remove') {
    await world.remove(query);
    prices.delete(name);
  } else if (price !== undefined) {
    state.mayEarn[step.at] += price;
    if (step.do === 'pay') {
      bills.push({ payment: await world.pay(query, price > CEILING_QU_MAX ? 'exact' : step.scheme), query });
      return;
    }
    const during = duringOf(state, query, step.meanwhile);
    await refusedOr(
      world.call(query, { credentials: state.buyer.credentials, process: step.process, during }),
    );
  }
}

/** A query that is sold at a price, and stays there for the random steps. */
const SOLD_ONCE: readonly Step[] = [
  { do: 'save', at: 0, slug: 'a', price: 5, text: 0 },
  { do: 'call', at: 0, slug: 'a', process: 0, meanwhile: 'nothing' },
];

function duringOf({ world, prices, sellers }: State, query: SoldAddress, meanwhile: string) {
  if (meanwhile === 'die') return died;
  return async () => {
    if (meanwhile !== 'raise') return;
    await world.save({ ...query, priceQu: 9_999 });
    prices.set(`${sellers.findIndex(({ owner }) => owner === query.seller.owner)}/${query.slug}`, 9_999);
  };
}

/** Refusals and failures are answers like others here. */
function refusedOr(call: ReturnType<SoldWorld['call']>) {
  return call.catch(() => null);
}
