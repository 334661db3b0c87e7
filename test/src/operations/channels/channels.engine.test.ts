import { describe, expect } from 'vitest';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import { address, type Hash } from '../../../../core/domain/account.ts';
import type { TestApi } from '../../../kit/api.ts';
import { channelMoves, moved } from '../../../kit/channel-rows.ts';
import { test } from '../../../kit/fixtures.ts';
import { BASE, hash, insertSettlements, NOON, POLYGON, reportChain, wallet } from '../../../kit/rows.ts';

/** Channels and escrows over the API: what they hold, who is in them, and their rows. */

const [BUYER, SHOP, OTHER] = [wallet(0xa1), wallet(0xb2), wallet(0xe5)];

const moves = (channel: Hash, parts: readonly Partial<Settlement>[], opened = NOON): Settlement[] =>
  channelMoves(
    channel,
    parts.map((part) => ({ payer: BUYER, payee: SHOP, ...part })),
    opened,
  );
const of = moved;

const OPEN = hash(0xc1);
const ESCROW = hash(0xc2);
const HALF_KNOWN = hash(0xc3);
const CLOSED = hash(0xc4);
const EURO = hash(0xc5);
/** Pays from a channel and is paid from another. */
const BOTH = wallet(0xf6);

const ROWS = [
  ...moves(OPEN, [of('deposit', 500n), of('payment', 120n), of('payment', 30n), of('refund', 50n)]),
  ...moves(
    CLOSED,
    [of('deposit', 70n), of('payment', 20n), of('refund', 10n), of('withdrawal', 40n)].map((part) => ({
      ...part,
      payer: BOTH,
      payee: OTHER,
    })),
    NOON + 300,
  ),
  ...moves(
    EURO,
    [
      {
        kind: 'deposit' as const,
        amount: 5n,
        amountUsdMicros: 0n,
        usdKnown: false,
        payer: OTHER,
        payee: BOTH,
      },
    ],
    NOON + 400,
  ),
  ...moves(
    ESCROW,
    [of('deposit', 900n), { ...of('payment', 900n), feeAmount: 9n }, of('refund', 100n)].map((part) => ({
      ...part,
      scheme: 'auth-capture' as const,
      contract: address('0xf96815976523e00e65be8f34ca5e64b4f41eb19c'),
    })),
    NOON + 100,
  ),
  ...moves(HALF_KNOWN, [{ ...of('payment', 40n), payer: OTHER }], NOON + 200),
];

test.beforeAll(async ({ engine }) => {
  await reportChain(engine.writer, BASE);
  await insertSettlements(engine.writer, ROWS);
});

const get = async (api: TestApi, path: string) => (await api.get(path)).body;

describe('a channel', () => {
  test('holds its deposits less what was paid and returned', async ({ api }) => {
    const body = await get(api, `/v0/channels/${OPEN}`);
    expect(body.channel).toMatchObject({
      payer: BUYER,
      payee: SHOP,
      scheme: 'batch-settlement',
      deposited: { amount: '500', usd: 0.0005 },
      paid: { amount: '150', usd: 0.00015 },
      contract: '0x4020074e9df2ce1dee5a9c1b5c3f541d02a10003',
      returned: { amount: '50' },
      refunded: { amount: '50' },
      withdrawn: { amount: '0' },
      balance: { amount: '300', usd: 0.0003 },
      payment_count: 2,
    });
    expect(body.event_count).toBe(4);
    expect(body.settlements.map(({ kind }: { kind: string }) => kind)).toEqual([
      'refund',
      'payment',
      'payment',
      'deposit',
    ]);
  });

  test('that is closed gave back apart what the payee refunded and what the payer withdrew', async ({
    api,
  }) => {
    expect((await get(api, `/v0/channels/${CLOSED}`)).channel).toMatchObject({
      returned: { amount: '50' },
      refunded: { amount: '10' },
      withdrawn: { amount: '40' },
      voided: { amount: '0' },
      balance: { amount: '0' },
    });
  });

  test('that is an escrow gives back after a capture what it held no more', async ({ api }) => {
    const { channel, settlements } = await get(api, `/v0/channels/${ESCROW}`);
    expect(channel).toMatchObject({
      balance: { amount: '0' },
      returned: { amount: '100' },
      refunded: { amount: '100' },
      contract: '0xf96815976523e00e65be8f34ca5e64b4f41eb19c',
    });
    expect(settlements[1]).toMatchObject({ kind: 'payment', fee_amount: '9' });
  });

  test('whose first deposit is not indexed has no balance', async ({ api }) => {
    expect((await get(api, `/v0/channels/${HALF_KNOWN}`)).channel.balance).toBeNull();
  });

  test('that is not indexed is a 404, and a text that is no id a 400', async ({ api }) => {
    expect(await api.get(`/v0/channels/${hash(0xdead)}`)).toMatchObject({
      status: 404,
      body: { code: 'channel_not_found' },
    });
    expect(await api.get('/v0/channels/mine')).toMatchObject({ status: 400 });
  });
});

describe('the channels of a wallet', () => {
  test('are those that it pays from or is paid from, page by page, newest first', async ({ api }) => {
    const idsOf = ({ channels }: { channels: readonly { channel: string }[] }) =>
      channels.map(({ channel }) => channel);
    expect(idsOf(await get(api, `/v0/entities/${SHOP}/channels`))).toEqual([HALF_KNOWN, ESCROW, OPEN]);
    expect(idsOf(await get(api, `/v0/entities/${BUYER}/channels?role=payer`))).toEqual([ESCROW, OPEN]);
    expect(idsOf(await get(api, `/v0/entities/${BUYER}/channels?role=payee`))).toEqual([]);
    expect(idsOf(await get(api, `/v0/entities/${SHOP}/channels?chain=${POLYGON}`))).toEqual([]);
    expect(idsOf(await get(api, `/v0/entities/${SHOP}/channels?chain=${BASE}`))).toHaveLength(3);
    const first = await get(api, `/v0/entities/${SHOP}/channels?limit=2`);
    const rest = await get(api, `/v0/entities/${SHOP}/channels?limit=2&before=${first.next_before}`);
    expect([...idsOf(first), ...idsOf(rest)]).toEqual([HALF_KNOWN, ESCROW, OPEN]);
    expect(rest.next_before).toBeNull();
    const stolen = await api.get(`/v0/entities/${BUYER}/channels?before=${first.next_before}`);
    expect(stolen.status).toBe(400);
  });
});

describe('what a wallet has in channels', () => {
  const NONE = { channel_count: 0, open_count: 0, balance_usd: 0, paid_usd: 0 };
  const channelsOf = async (api: TestApi, path: string) => (await get(api, path)).channels;

  test('is in its profile and its summary, as payer and as payee', async ({ api }) => {
    // The third is of a payer whose deposit is not indexed: no one knows what it holds.
    const ofShop = { channel_count: 3, open_count: 1, balance_usd: 0.0003, paid_usd: 0.00109 };
    expect(await channelsOf(api, `/v0/merchants/${SHOP}`)).toEqual({ as_payer: NONE, as_payee: ofShop });
    expect(await channelsOf(api, `/v0/entities/${SHOP}/summary`)).toEqual({
      open_as_payer: 0,
      usd_as_payer: 0,
      open_as_payee: 1,
      usd_as_payee: 0.0003,
    });
    expect(await channelsOf(api, `/v0/agents/${BUYER}`)).toEqual({
      as_payer: { channel_count: 2, open_count: 1, balance_usd: 0.0003, paid_usd: 0.00105 },
      as_payee: NONE,
    });
  });

  test('has no dollars where no open one has a token with a dollar value', async ({ api }) => {
    expect(await channelsOf(api, `/v0/merchants/${BOTH}`)).toEqual({
      as_payer: { channel_count: 1, open_count: 0, balance_usd: 0, paid_usd: 0.00002 },
      as_payee: { channel_count: 1, open_count: 1, balance_usd: null, paid_usd: 0 },
    });
  });

  test('is left out where it is in none, on another chain, and where no row of it is final', async ({
    api,
  }) => {
    for (const path of [
      `/v0/merchants/${wallet(0xdead)}`,
      `/v0/merchants/${SHOP}?chain=${POLYGON}`,
      `/v0/entities/${wallet(0xdead)}/summary`,
    ])
      expect(await get(api, path), path).not.toHaveProperty('channels');
    const final = await channelsOf(api, `/v0/merchants/${SHOP}?finality=finalized`);
    expect(final).toBeUndefined();
  });
});
