import { describe, expect } from 'vitest';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import type { Hash } from '../../../../core/domain/account.ts';
import type { TestApi } from '../../../kit/api.ts';
import { test } from '../../../kit/fixtures.ts';
import {
  BASE,
  hash,
  insertSettlements,
  NOON,
  POLYGON,
  reportChain,
  settlement,
  wallet,
} from '../../../kit/rows.ts';

/** Channels and escrows over the API: what they hold, who is in them, and their rows. */

const [BUYER, SHOP, OTHER] = [wallet(0xa1), wallet(0xb2), wallet(0xe5)];

const moves = (channel: Hash, parts: readonly Partial<Settlement>[], opened = NOON): Settlement[] =>
  parts.map((part, logIndex) =>
    settlement({
      payer: BUYER,
      payee: SHOP,
      scheme: 'batch-settlement',
      channel,
      blockTime: opened + logIndex * 10,
      blockNumber: 2_000 + opened - NOON + logIndex,
      logIndex,
      method: (part.kind ?? 'payment') === 'payment' ? 'builder_code' : 'channel_move',
      ...part,
    }),
  );
const of = (kind: Settlement['kind'], amount: bigint): Partial<Settlement> => ({
  kind,
  amount,
  amountUsdMicros: amount,
});

const OPEN = hash(0xc1);
const ESCROW = hash(0xc2);
const HALF_KNOWN = hash(0xc3);

const ROWS = [
  ...moves(OPEN, [of('deposit', 500n), of('payment', 120n), of('payment', 30n), of('refund', 50n)]),
  ...moves(
    ESCROW,
    [of('deposit', 900n), { ...of('payment', 900n), feeAmount: 9n }, of('refund', 100n)].map((part) => ({
      ...part,
      scheme: 'auth-capture' as const,
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
      returned: { amount: '50' },
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

  test('that is an escrow gives back after a capture what it held no more', async ({ api }) => {
    const { channel, settlements } = await get(api, `/v0/channels/${ESCROW}`);
    expect(channel).toMatchObject({ balance: { amount: '0' }, returned: { amount: '100' } });
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
