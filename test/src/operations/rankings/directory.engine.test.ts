import { expect } from 'vitest';
import { listedItem } from '../../../kit/bazaar.ts';
import { test } from '../../../kit/fixtures.ts';
import { payment, testListings } from '../../../kit/listings.ts';
import { rankWallets } from '../../../kit/rank-wallets.ts';
import { BASE, insertSettlements, NOON, reportChain, wallet } from '../../../kit/rows.ts';

test('endpoints are ranked by payments of their own offers, and leave out those whose payee is paid by itself or in return', async ({
  engine,
  api,
}) => {
  await reportChain(engine.writer, BASE);
  const listings = testListings(engine.writer);
  const [honest, washed] = [wallet(0x71), wallet(0x72)];
  const items = [honest, washed].map((payTo, at) =>
    listedItem(`https://shop-${at}.example/search`, { network: BASE, payTo }),
  );
  await listings.list('bazaar:one', items, NOON - 86_400);
  const times = Array.from({ length: 12 }, (_, at) => at);
  await insertSettlements(engine.writer, [
    ...times.map((at) => payment({ payee: honest, payer: wallet(0x8000 + at), blockTime: NOON - 60 })),
    ...times.flatMap((at) =>
      [0, 1].map(() => payment({ payee: washed, payer: wallet(0x9000 + at), blockTime: NOON - 60 })),
    ),
    ...times.map((at) => payment({ payer: washed, payee: wallet(0x9000 + at), blockTime: NOON - 60 })),
  ]);
  await listings.derive(NOON);
  await rankWallets(engine.writer, { windows: ['30d'] });
  const ranked = async (flags: string) => {
    const { body } = await api.get(`/v0/leaderboard?of=endpoints${flags}`);
    return body.leaderboard.map((row: Record<string, unknown>) => [
      row['pay_to'],
      row['value'],
      row['data_quality'],
    ]);
  };
  expect(await ranked('')).toEqual([[honest, 12, 'clean']]);
  expect(await ranked('&include_flagged=true')).toEqual([
    [washed, 24, 'suspect'],
    [honest, 12, 'clean'],
  ]);
});
