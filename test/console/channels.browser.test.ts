import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Settlement } from '../../clickhouse/tables/settlements.ts';
import type { Hash } from '../../core/domain/account.ts';
import { browserIsThere, openPage, type WatchedPage } from '../kit/browser.ts';
import { channelMoves, moved } from '../kit/channel-rows.ts';
import { SHOP_NAME, seedConsole } from '../kit/console-seed.ts';
import { askForFewRows, looksRight } from '../kit/console-widths.ts';
import { type ConsoleWorld, openConsole } from '../kit/console-world.ts';
import { BUYER, RIVAL, SHOP } from '../kit/market.ts';
import { hash, insertSettlements, wallet } from '../kit/rows.ts';

/** Payment channels and escrows in the console, in a real browser over a real engine. */

const TIMEOUT_MS = 240_000;
const HOUR_SECONDS = 3_600;

const OPEN: Hash = `0x${'5e'.repeat(32)}`;
const ESCROW: Hash = `0x${'c2'.repeat(32)}`;
const OTHERS = Array.from({ length: 4 }, (_, at) => hash(0xc00 + at));

/** A channel that is claimed from for days, an escrow that was captured and refunded, and some small ones. */
function channelRows(nowSeconds: number): Settlement[] {
  const claims = Array.from({ length: 18 }, (_, at) => moved('payment', BigInt(30_000 + at * 1_250)));
  const ours = (parts: readonly Partial<Settlement>[]) =>
    parts.map((part) => ({ payer: BUYER, payee: SHOP, ...part }));
  return [
    ...channelMoves(
      OPEN,
      ours([
        moved('deposit', 2_500_000n),
        ...claims,
        moved('refund', 250_000n),
        moved('deposit', 1_000_000n),
        moved('withdrawal', 100_000n),
      ]),
      nowSeconds - 9 * HOUR_SECONDS,
    ),
    ...channelMoves(
      ESCROW,
      ours(
        [
          moved('deposit', 12_000_000n),
          { ...moved('payment', 9_000_000n), feeAmount: 90_000n },
          moved('void', 3_000_000n),
          moved('refund', 1_000_000n),
        ].map((part) => ({ ...part, scheme: 'auth-capture' as const })),
      ),
      nowSeconds - 5 * HOUR_SECONDS,
    ),
    ...OTHERS.flatMap((id, at) =>
      channelMoves(
        id,
        [moved('deposit', BigInt(500_000 * (at + 1))), moved('payment', 20_000n)].map((part) => ({
          ...part,
          payer: at === 0 ? SHOP : wallet(0x700 + at),
          payee: at === 0 ? RIVAL : SHOP,
        })),
        nowSeconds - (at + 1) * HOUR_SECONDS,
      ),
    ),
  ];
}

describe.skipIf(!browserIsThere())('channels in the console', () => {
  let world: ConsoleWorld;
  let watched: WatchedPage;
  let page: Page;

  beforeAll(async () => {
    world = await openConsole({
      seed: async ({ writer }) => {
        await seedConsole(writer);
        await insertSettlements(writer, channelRows(Math.floor(Date.now() / 1_000)));
      },
    });
  }, TIMEOUT_MS);
  afterAll(() => world?.close());
  beforeEach(async () => {
    watched = await openPage(world.browser, world.origin);
    page = watched.page;
    await askForFewRows(page);
  });
  afterEach(() => watched.close());

  const shows = (text: string): Promise<void> => page.getByText(text).first().waitFor();

  test(
    'a channel has a page with its parties, its money and its events',
    async () => {
      await page.goto(`/console/channels/${OPEN}`);
      await page.getByRole('heading', { level: 2, name: /^22 events/ }).waitFor();
      await shows('Where the money is');
      expect(await page.locator('tbody tr').count()).toBe(22);
      const contract = page.getByRole('link', { name: /^0x4020…0003/ });
      expect(await contract.getAttribute('href')).toBe(
        'https://basescan.org/address/0x4020074e9df2ce1dee5a9c1b5c3f541d02a10003',
      );
      await looksRight(watched, 'channel');
    },
    TIMEOUT_MS,
  );

  test(
    'an escrow has one, and an id that is not indexed leads to a transaction',
    async () => {
      await page.goto(`/console/channels/${ESCROW}`);
      await shows('Refunded after the capture');
      await looksRight(watched, 'escrow');
      await page.goto(`/console/channels/${hash(0xdead)}`);
      await shows('The index has no event of this channel');
      await page.getByRole('link', { name: 'Look for a transaction' }).click();
      await shows('The index has no settlement of this transaction');
    },
    TIMEOUT_MS,
  );

  test(
    'a wallet lists its channels on both sides, and one without any has no such section',
    async () => {
      await page.goto(`/console/merchants/${SHOP}`);
      await page.getByRole('heading', { level: 2, name: /^Channels/ }).waitFor();
      await page.getByRole('table', { name: /^Channels that the wallet is paid from/ }).waitFor();
      await shows('It pays from 1 channel, 1 open with');
      await looksRight(watched, 'wallet-channels');
      await page.getByRole('link', { name: 'See it as payer' }).click();
      await page.getByRole('table', { name: /^Channels that the wallet pays from/ }).waitFor();
      await page.goto(`/console/merchants/${wallet(0x77)}`);
      await page.getByRole('heading', { level: 2, name: /^Settlements received/ }).waitFor();
      expect(await page.getByRole('heading', { level: 2, name: /^Channels/ }).count()).toBe(0);
    },
    TIMEOUT_MS,
  );

  test(
    'the search opens a channel by its id, and a settlement leads to its channel',
    async () => {
      await page.goto('/console/status');
      await page.keyboard.press('/');
      await page
        .getByRole('combobox', { name: /^Search wallets/ })
        .fill(OPEN.toUpperCase().replace('0X', '0x'));
      await page.getByRole('option', { name: new RegExp(`payment channel, .* to ${SHOP_NAME}`) }).waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/console/channels/${OPEN}`);
      await page.getByRole('table').getByRole('link', { name: /^0x/ }).first().click();
      await page.getByRole('link', { name: 'Its payment channel' }).click();
      await page.waitForURL(`**/console/channels/${OPEN}`);
      expect(watched.problems()).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
