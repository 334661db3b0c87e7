import { h } from 'preact';
import { describe, expect, it } from 'vitest';
import { Identicon } from '../../../console/components/identicon.tsx';
import { LinkedWallets } from '../../../console/parts/linked-wallets.tsx';
import type { Profile } from '../../../console/wire.ts';
import { htmlOf, textOf } from '../../kit/drawn.ts';

const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const LINKED: NonNullable<Profile['linked_wallets']>[number] = {
  chain: SOLANA,
  wallet: '2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4',
  basis: 'catalogue',
  by: 'https://one.example/api',
  settlement_count: 2,
  usd: 0.5,
  last_seen: null,
};

const drawn = (linked: Profile['linked_wallets']): string => {
  const aggregates = { inbound_usd: 1.25, outbound_usd: 0, chain_split: [{ chain: 'eip155:8453' }] };
  const profile = { aggregates, linked_wallets: linked } as unknown as Profile; // all that is read
  return textOf(htmlOf(h(LinkedWallets, { profile, party: 'payee' })));
};

it('the picture of an account of Solana has a colour, and differs from that of another', () => {
  const picture = (address: string) => htmlOf(h(Identicon, { address }));
  const [one, other] = [picture(LINKED.wallet), picture('9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM')];
  expect(one).not.toContain('NaN');
  expect(one).not.toBe(other);
});

describe('other wallets of a seller', () => {
  it('add up with its own, say on which chains, and who says that they belong together', () => {
    const text = drawn([LINKED]);
    expect(text).toContain('received $1.75 on Base, Solana');
    expect(text).toContain('this deployment’s catalogue');
    expect(text).toContain('$0.50');
  });

  it('are not mentioned where there are none', () => {
    expect(drawn([])).toBe('');
    expect(drawn(undefined)).toBe('');
  });
});
