import { type Static, Type } from '@sinclair/typebox';
import { usdNumber } from '../../../core/domain/amount.ts';
import { type TokenKey, tokenKey } from '../../../core/domain/chains.ts';
import { PAYMENT_SCHEMES } from '../../../core/domain/settlement.ts';
import type { Directory } from '../names.ts';
import {
  AddressShape,
  ChainShape,
  CountShape,
  oneOf,
  orNull,
  TimeShape,
  timeText,
  UsdShape,
} from '../shapes.ts';
import type { Channel, Money } from './read.ts';

/** A payment channel or escrowed payment, as answers have it. */

export const ChannelIdShape = Type.String({
  pattern: '^0x[0-9a-f]+$',
  description: 'Id of the payment channel or escrowed payment.',
});

const MoneyShape = Type.Object(
  {
    amount: Type.String({ pattern: '^[0-9]+$', description: 'Atomic units of the asset.' }),
    usd: orNull(UsdShape),
  },
  { title: 'ChannelMoney', description: 'Null dollars: the asset has no dollar value here.' },
);

export const ChannelShape = Type.Object(
  {
    channel: ChannelIdShape,
    chain: ChainShape,
    scheme: oneOf(PAYMENT_SCHEMES, { title: 'PaymentScheme' }),
    payer: AddressShape,
    payer_name: orNull(Type.String()),
    payee: AddressShape,
    payee_name: orNull(Type.String()),
    asset: AddressShape,
    asset_symbol: Type.String(),
    decimals: orNull(Type.Integer({ minimum: 0, maximum: 255 })),
    deposited: MoneyShape,
    paid: MoneyShape,
    returned: MoneyShape,
    balance: orNull(MoneyShape, {
      description:
        'Committed to the payee and not yet claimed. Null where indexing began after the first deposit.',
    }),
    payment_count: CountShape,
    opened_at: TimeShape,
    last_event_at: TimeShape,
  },
  { title: 'Channel' },
);

export type ChannelAnswer = Static<typeof ChannelShape>;

export function channelAnswer(
  row: Channel,
  { tokenDecimals }: { readonly tokenDecimals: ReadonlyMap<TokenKey, number> },
  directory: Directory,
): ChannelAnswer {
  const money = ({ units, usdMicros }: Money) => ({
    amount: units.toString(),
    usd: row.usdKnown ? usdNumber(usdMicros) : null,
  });
  return {
    channel: row.channel,
    chain: row.chain,
    scheme: row.scheme,
    payer: row.payer,
    payer_name: directory.walletName(row.payer, [row.chain])?.name ?? null,
    payee: row.payee,
    payee_name: directory.walletName(row.payee, [row.chain])?.name ?? null,
    asset: row.asset,
    asset_symbol: row.assetSymbol,
    decimals: tokenDecimals.get(tokenKey(row.chain, row.asset)) ?? null,
    deposited: money(row.deposited),
    paid: money(row.paid),
    returned: money(row.returned),
    balance: row.balance === null ? null : money(row.balance),
    payment_count: row.paymentCount,
    opened_at: timeText(row.openedAt),
    last_event_at: timeText(row.lastEventAt),
  };
}

export const CHANNEL_EXAMPLE: ChannelAnswer = {
  channel: '0x5e3f1c0a9b8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f',
  chain: 'eip155:8453',
  scheme: 'batch-settlement',
  payer: '0x4020615294c913f045dc10f0a5cdebd86c280001',
  payer_name: null,
  payee: '0x8d4f05a0f2c1b3e49a7766554433221100ffeedd',
  payee_name: 'Weather by the call',
  asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  asset_symbol: 'USDC',
  decimals: 6,
  deposited: { amount: '5000000', usd: 5 },
  paid: { amount: '1240000', usd: 1.24 },
  returned: { amount: '0', usd: 0 },
  balance: { amount: '3760000', usd: 3.76 },
  payment_count: 31,
  opened_at: '2026-11-02T08:00:11Z',
  last_event_at: '2026-11-20T09:15:01Z',
};
