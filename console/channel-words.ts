import type { Channel, Settlement } from './wire.ts';

/** What the moves of a channel and of an escrow are called. The contracts of the two schemes have names of their own for them. */

export interface ChannelWords {
  /** What the thing is, at the beginning of a sentence. */
  readonly thing: string;
  readonly deposited: string;
  readonly paid: string;
  /** What the payer took out. */
  readonly withdrawn: string;
  /** Of rows, by what they are. */
  readonly kinds: Readonly<Record<Settlement['kind'], string>>;
}

const CHANNEL: ChannelWords = {
  thing: 'Payment channel',
  deposited: 'Deposited',
  paid: 'Claimed',
  withdrawn: 'Withdrawn',
  kinds: {
    payment: 'Claim',
    deposit: 'Deposit',
    payout: 'Payout',
    refund: 'Refund',
    withdrawal: 'Withdrawal',
    void: 'Void',
  },
};

const ESCROW: ChannelWords = {
  thing: 'Escrowed payment',
  deposited: 'Authorized',
  paid: 'Captured',
  withdrawn: 'Reclaimed',
  kinds: {
    payment: 'Capture',
    deposit: 'Authorization',
    payout: 'Payout',
    refund: 'Refund',
    withdrawal: 'Reclaim',
    void: 'Void',
  },
};

/** An escrowed payment that was charged at once has no authorization. */
const CHARGE: ChannelWords = { ...ESCROW, paid: 'Charged', kinds: { ...ESCROW.kinds, payment: 'Charge' } };

export function channelWords({ scheme, deposited }: Pick<Channel, 'scheme' | 'deposited'>): ChannelWords {
  if (scheme !== 'auth-capture') return CHANNEL;
  return deposited.amount === '0' ? CHARGE : ESCROW;
}

export interface ChannelTerm {
  readonly name: string;
  readonly money: Channel['deposited'];
}

/**
 * The parts that add up to what was deposited; null where they do not: indexing began after the first deposit, or an escrowed payment was charged
 * at once. The contracts of auth-capture return a refund after its capture, out of the operator’s own money: it is no part.
 */
export function depositedParts(channel: Channel): readonly ChannelTerm[] | null {
  const { scheme, paid, refunded, withdrawn, voided, balance } = channel;
  if (balance === null || channel.deposited.amount === '0') return null;
  const words = channelWords(channel);
  const isEscrow = scheme === 'auth-capture';
  return [
    { name: words.paid, money: paid },
    isEscrow ? { name: 'Voided', money: voided } : { name: 'Refunded', money: refunded },
    { name: words.withdrawn, money: withdrawn },
    { name: 'Balance', money: balance },
  ];
}
