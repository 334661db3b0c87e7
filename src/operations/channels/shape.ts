import { type Static, Type } from '@sinclair/typebox';
import { usdNumber } from '../../../core/domain/amount.ts';
import { type TokenKey, tokenKey } from '../../../core/domain/chains.ts';
import { PAYMENT_SCHEMES } from '../../../core/domain/settlement.ts';
import type { Directory } from '../names.ts';
import {
  AddressShape,
  ChainShape,
  CountShape,
  NameSourceShape,
  oneOf,
  orNull,
  TimeShape,
  timeText,
  UsdShape,
} from '../shapes.ts';
import type { Channel, ChannelSide, Money, WalletChannels } from './read.ts';

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
    contract: {
      ...AddressShape,
      description:
        'The contract whose events it is made of. That of `batch-settlement` holds the money; an escrow of `auth-capture` keeps it in a token store of the operator.',
    },
    payer: AddressShape,
    payer_name: orNull(Type.String()),
    payer_name_source: NameSourceShape,
    payee: AddressShape,
    payee_name: orNull(Type.String()),
    payee_name_source: NameSourceShape,
    asset: AddressShape,
    asset_symbol: Type.String(),
    decimals: orNull(Type.Integer({ minimum: 0, maximum: 255 })),
    deposited: MoneyShape,
    paid: MoneyShape,
    returned: MoneyShape,
    refunded: { ...MoneyShape, description: 'Of `returned`, what the payee gave back.' },
    withdrawn: { ...MoneyShape, description: 'Of `returned`, what the payer took out.' },
    voided: { ...MoneyShape, description: 'Of `returned`, authorizations that were never captured.' },
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
  const payer = directory.walletName(row.payer, [row.chain]);
  const payee = directory.walletName(row.payee, [row.chain]);
  return {
    channel: row.channel,
    chain: row.chain,
    scheme: row.scheme,
    contract: row.contract,
    payer: row.payer,
    payer_name: payer?.name ?? null,
    payer_name_source: payer?.source ?? null,
    payee: row.payee,
    payee_name: payee?.name ?? null,
    payee_name_source: payee?.source ?? null,
    asset: row.asset,
    asset_symbol: row.assetSymbol,
    decimals: tokenDecimals.get(tokenKey(row.chain, row.asset)) ?? null,
    deposited: money(row.deposited),
    paid: money(row.paid),
    returned: money(row.returned),
    refunded: money(row.refunded),
    withdrawn: money(row.withdrawn),
    voided: money(row.voided),
    balance: row.balance === null ? null : money(row.balance),
    payment_count: row.paymentCount,
    opened_at: timeText(row.openedAt),
    last_event_at: timeText(row.lastEventAt),
  };
}

const SideShape = Type.Object(
  {
    channel_count: CountShape,
    open_count: { ...CountShape, description: 'Of these, the ones that still hold money.' },
    balance_usd: orNull(UsdShape, {
      description:
        'What the open ones hold: committed to the payee and not yet claimed. Tokens without a dollar value are left out; null where all are.',
    }),
    paid_usd: { ...UsdShape, description: 'Claims, captures and charges out of all of them.' },
  },
  { title: 'ChannelSide' },
);

export const WalletChannelsShape = Type.Object(
  { as_payer: SideShape, as_payee: SideShape },
  {
    title: 'WalletChannels',
    description:
      'Payment channels and escrows that the wallet pays from and is paid from, listed by `/entities/{wallet}/channels`. Left out where it is in none.',
  },
);

/** To be spread into an answer: a wallet that is in no channel has no such field. */
export function walletChannelsAnswer(found: WalletChannels | null): {
  channels?: Static<typeof WalletChannelsShape>;
} {
  return found === null
    ? {}
    : { channels: { as_payer: sideAnswer(found.asPayer), as_payee: sideAnswer(found.asPayee) } };
}

function sideAnswer({
  channels,
  open,
  balanceUsdMicros,
  paidUsdMicros,
}: ChannelSide): Static<typeof SideShape> {
  return {
    channel_count: channels,
    open_count: open,
    balance_usd: balanceUsdMicros === null ? null : usdNumber(balanceUsdMicros),
    paid_usd: usdNumber(paidUsdMicros),
  };
}

export const CHANNEL_EXAMPLE: ChannelAnswer = {
  channel: '0x5e3f1c0a9b8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f',
  chain: 'eip155:8453',
  scheme: 'batch-settlement',
  contract: '0x4020074e9df2ce1dee5a9c1b5c3f541d02a10003',
  payer: '0x4020615294c913f045dc10f0a5cdebd86c280001',
  payer_name: null,
  payer_name_source: null,
  payee: '0x8d4f05a0f2c1b3e49a7766554433221100ffeedd',
  payee_name: 'Weather by the call',
  payee_name_source: 'agent_card',
  asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  asset_symbol: 'USDC',
  decimals: 6,
  deposited: { amount: '5000000', usd: 5 },
  paid: { amount: '1240000', usd: 1.24 },
  returned: { amount: '0', usd: 0 },
  refunded: { amount: '0', usd: 0 },
  withdrawn: { amount: '0', usd: 0 },
  voided: { amount: '0', usd: 0 },
  balance: { amount: '3760000', usd: 3.76 },
  payment_count: 31,
  opened_at: '2026-11-02T08:00:11Z',
  last_event_at: '2026-11-20T09:15:01Z',
};
