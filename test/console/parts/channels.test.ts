import { h } from 'preact';
import { describe, expect, it } from 'vitest';
import { depositedParts } from '../../../console/channel-words.ts';
import { microsOf } from '../../../console/format.ts';
import { ChannelBody } from '../../../console/pages/channel.tsx';
import { SettlementCard } from '../../../console/pages/transaction.tsx';
import { WalletChannels } from '../../../console/parts/channel-table.tsx';
import type { Channel, Profile, Settlement } from '../../../console/wire.ts';
import { factOf, htmlOf, textOf } from '../../kit/drawn.ts';
import { wireAddress, wireChannel, wireSettlement } from '../../kit/wire-settlements.ts';

const ESCROW: Partial<Channel> = {
  scheme: 'auth-capture',
  contract: wireAddress(0x41),
  deposited: { amount: '5000000', usd: 5 },
  paid: { amount: '4000000', usd: 4 },
  refunded: { amount: '300000', usd: 0.3 },
  withdrawn: { amount: '0', usd: 0 },
  voided: { amount: '1000000', usd: 1 },
  balance: { amount: '0', usd: 0 },
};

const META = {} as never; // nothing reads it

function page(channel: Channel, settlements: readonly Settlement[] = [], count = settlements.length): string {
  const answer = { channel, settlements: [...settlements] as never, event_count: count, meta: META };
  return htmlOf(h(ChannelBody, { answer }));
}

describe('the page of a channel', () => {
  it('shows that what was deposited is what was claimed, refunded, withdrawn, and the balance', () => {
    const html = page(wireChannel());
    expect(textOf(html)).toContain(
      'Deposited $5.00 =Claimed $1.25 +Refunded $0.25 +Withdrawn $0.50 +Balance $3.00',
    );
    expect(textOf(factOf(html, 'Balance, not yet claimed'))).toBe('$3.00');
    expect(textOf(factOf(html, 'Claimed'))).toBe('$1.25in 12 claims');
  });

  it('shows the parts of the sum with every digit, so that they add up', () => {
    const paid = { amount: '731250', usd: 0.73125 };
    const html = page(wireChannel({ paid }));
    expect(textOf(html)).toContain('=Claimed $0.73125');
    expect(textOf(factOf(html, 'Claimed'))).toMatch(/^\$0\.7313in/);
  });

  it('of an escrow uses the words of its contract, and keeps a refund out of the sum', () => {
    const text = textOf(page(wireChannel(ESCROW)));
    expect(text).toContain('Authorized $5.00 =Captured $4.00 +Voided $1.00 +Reclaimed $0.00 +Balance $0.00');
    expect(text).toContain('Refunded after the capture, out of the operator’s money: $0.30');
    expect(text).toContain(`contract ${wireAddress(0x41).slice(0, 6)}`);
  });

  it('has no sum where the first deposit is not indexed, and none for a charge', () => {
    const late = textOf(page(wireChannel({ balance: null })));
    expect(late).toContain('The index begins after its first deposit: what it holds is not known.');
    const nothing = { amount: '0', usd: 0 };
    const charge = textOf(page(wireChannel({ ...ESCROW, deposited: nothing })));
    expect(charge).toContain('It was charged at once');
    expect(charge).toContain('Charged');
  });

  it('shows amounts of a token without a dollar value in the token', () => {
    const euro = (amount: string) => ({ amount, usd: null });
    const html = page(
      wireChannel({ asset_symbol: 'EURC', deposited: euro('2500000'), balance: euro('1500000') }),
    );
    expect(textOf(factOf(html, 'Balance, not yet claimed'))).toBe('1.5EURC');
  });

  it('names each event by what the contract did', () => {
    const rows = (['deposit', 'payment', 'refund', 'withdrawal'] as const).map((kind, at) =>
      wireSettlement(at, { kind, scheme: 'batch-settlement' }),
    );
    const text = textOf(page(wireChannel(), rows));
    for (const word of ['4 events', 'Deposit', 'Claim', 'Refund', 'Withdrawal']) expect(text).toContain(word);
  });
});

describe('the parts of a deposit', () => {
  it('add up to it', () => {
    for (const channel of [wireChannel(), wireChannel(ESCROW)]) {
      const sum = depositedParts(channel)?.reduce((all, { money }) => all + microsOf(money.usd), 0n);
      expect(sum).toBe(microsOf(channel.deposited.usd));
    }
  });
});

describe('the channels of a wallet', () => {
  const NONE = { channel_count: 0, open_count: 0, balance_usd: 0, paid_usd: 0 };
  const section = (sides: NonNullable<Profile['channels']>, party: 'payer' | 'payee'): string =>
    htmlOf(
      h(WalletChannels, { wallet: wireAddress(1), party, chain: null, sides, query: new URLSearchParams() }),
    );

  it('are counted on its side of the page, with a link to the other side', () => {
    const sides = {
      as_payer: { channel_count: 1, open_count: 1, balance_usd: 2.5, paid_usd: 0 },
      as_payee: { channel_count: 3, open_count: 2, balance_usd: null, paid_usd: 1 },
    };
    expect(textOf(section(sides, 'payee'))).toContain(
      'It is paid from 3 channels, 2 open in tokens without a dollar value.',
    );
    const html = section(sides, 'payer');
    expect(textOf(html)).toContain('It pays from 1 channel, 1 open with $2.50 not yet claimed.');
    expect(html).toContain(`href="/console/merchants/${wireAddress(1)}"`);
  });

  it('of one side only say that there is none on the other', () => {
    const sides = { as_payer: NONE, as_payee: { ...NONE, channel_count: 1 } };
    expect(textOf(section(sides, 'payer'))).toContain('It pays from no channel.');
    expect(textOf(section(sides, 'payee'))).toContain(
      'It is paid from 1 channel, none of which holds money.',
    );
  });
});

describe('a settlement of a channel', () => {
  it('says its kind, its scheme and its fee, and leads to its channel', () => {
    const channel = `0x${'5e'.repeat(32)}`;
    const row = wireSettlement(1, {
      kind: 'refund',
      scheme: 'batch-settlement',
      channel,
      fee_amount: '2500',
    });
    const html = htmlOf(h(SettlementCard, { row, isOpen: false }));
    expect(textOf(html)).toContain('scheme batch-settlement');
    expect(textOf(html)).toContain('refund');
    expect(textOf(html)).toContain('0.0025 USDC of it to a fee receiver');
    expect(html).toContain(`href="/console/channels/${channel}"`);
    expect(htmlOf(h(SettlementCard, { row: wireSettlement(1), isOpen: false }))).not.toContain('/channels/');
  });
});
