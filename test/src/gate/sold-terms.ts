import { expect, test } from 'vitest';
import { openSoldWorld, type SoldWorld } from '../../kit/sold-world.ts';
import { readLedger } from '../../kit/unit-books.ts';
import type { OpenedStore } from '../accounts/control-store.ts';

/** What is sold is fixed when the money is claimed: the same tests over both stores. */
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
        const sales = (await readLedger(store, seller.organizationId)).slice(1);
        expect(sales).toEqual([]);
      }),
  );
}
