import type { Hash } from '../../../core/domain/account.ts';
import type { SettlementKind } from '../../../core/domain/settlement.ts';

/** Where the transfers of a move stand: around its event, before it, or after it. */
export type LegsAt = 'before' | 'after' | 'none';

/** An event that says that money moved, or was committed to a payee. Source of the meanings: docs/design/channels.md. */
interface EventForm {
  readonly kind: SettlementKind;
  /** Topics after topic0, and 32-byte words of data, that the event has; a log with others is malformed. */
  readonly topics: number;
  readonly words: number;
  /** Word of the data with the amount. */
  readonly amountAt: number;
  /** Word of the data at which the terms stand, where the event has them. */
  readonly termsAt?: number;
  /** Word of the data with the fee, and whether it is an amount or basis points of the amount. */
  readonly fee?: { readonly at: number; readonly in: 'amount' | 'basis points' };
  readonly legs: LegsAt;
}

/** Names only terms; moves no money. */
interface TermsEvent {
  readonly kind: 'terms';
  readonly topics: number;
  readonly words: number;
  readonly termsAt: number;
}

export type ChannelEvent = EventForm | TermsEvent;

/** Events of x402BatchSettlement. `WithdrawInitiated` and `ChannelClosed` move nothing and add no terms. Source: x402-foundation/x402 3d73f63f. */
export const BATCH_EVENTS: Readonly<Record<Hash, ChannelEvent>> = {
  /** ChannelCreated(bytes32 indexed channelId, ChannelConfig config). */
  '0x69d8248d5566bdb2ebc4d218970710d8378a2ff9b709a999e052b71970f808fa': {
    kind: 'terms',
    topics: 1,
    words: 7,
    termsAt: 0,
  },
  /** Deposited(bytes32 indexed channelId, address indexed sender, uint128 amount, uint128 newBalance). */
  '0x6c2a09353b5e75e70d0b9778b80a413809bb235d46c211811c474b3346791d89': {
    kind: 'deposit',
    topics: 2,
    words: 2,
    amountAt: 0,
    legs: 'before',
  },
  /** Claimed(bytes32 indexed channelId, address indexed sender, uint128 claimAmount, uint128 newTotalClaimed). No transfer. */
  '0x36bd546bb573e8921fdbfd934bbed62d872796b01792cd240cce27f79dd3eddd': {
    kind: 'payment',
    topics: 2,
    words: 2,
    amountAt: 0,
    legs: 'none',
  },
  /** Settled(address indexed receiver, address indexed token, address indexed sender, uint128 amount). */
  '0x7337b4386b690fdb8ba66905b92b9d45d33bc6626ee2620c905fb150ec0cc47d': {
    kind: 'payout',
    topics: 3,
    words: 1,
    amountAt: 0,
    legs: 'before',
  },
  /** Refunded(bytes32 indexed channelId, address indexed sender, uint128 amount). */
  '0xa84286cf8ebc7903a663c77c8d99aa92b600d4c2fcca872a5d4a663db4eb394b': {
    kind: 'refund',
    topics: 2,
    words: 1,
    amountAt: 0,
    legs: 'after',
  },
  /** WithdrawFinalized(bytes32 indexed channelId, address indexed sender, uint128 amount). */
  '0x546ce1e2242cd930c196bd08b894443562d709b4fffe4f028a75a6d233efc6e3': {
    kind: 'withdrawal',
    topics: 2,
    words: 1,
    amountAt: 0,
    legs: 'after',
  },
};

const INFO_WORDS = 12;

/** Events of AuthCaptureEscrow 1.0 and 1.1. Source: base/commerce-payments 3f77761c (1.0) and its README (1.1). */
export const ESCROW_EVENTS: Readonly<Record<Hash, ChannelEvent>> = {
  /** PaymentAuthorized(bytes32 indexed paymentInfoHash, PaymentInfo info, uint256 amount, address tokenCollector). */
  '0x1c81fb2e3bab27f6bb09bee9a0dddf61600b7cbaf2c12683e4864e0cbdb9d284': {
    kind: 'deposit',
    topics: 1,
    words: INFO_WORDS + 2,
    amountAt: INFO_WORDS,
    termsAt: 0,
    legs: 'after',
  },
  /** 1.0: PaymentCharged(bytes32 indexed, PaymentInfo info, uint256 amount, address tokenCollector, uint16 feeBps, address feeReceiver). */
  '0x943ae4341dd799d7aeedc501f616cd26b134639e0bc2ec059581ba3ebbf1e7d0': {
    kind: 'payment',
    topics: 1,
    words: INFO_WORDS + 4,
    amountAt: INFO_WORDS,
    termsAt: 0,
    fee: { at: INFO_WORDS + 2, in: 'basis points' },
    legs: 'after',
  },
  /** 1.1: the same with `uint256 feeAmount`. */
  '0x137b0e73e4453f43c2e1ad2552980a0e0c7e988764619974ca26d37a7159940c': {
    kind: 'payment',
    topics: 1,
    words: INFO_WORDS + 4,
    amountAt: INFO_WORDS,
    termsAt: 0,
    fee: { at: INFO_WORDS + 2, in: 'amount' },
    legs: 'after',
  },
  /** 1.0: PaymentCaptured(bytes32 indexed, uint256 amount, uint16 feeBps, address feeReceiver). */
  '0xe749f7bbd01b49bb05abf26ca492cb4dfdea6bedeada8a40fdccd478c73a74e2': {
    kind: 'payment',
    topics: 1,
    words: 3,
    amountAt: 0,
    fee: { at: 1, in: 'basis points' },
    legs: 'after',
  },
  /** 1.1: PaymentCaptured(bytes32 indexed, uint256 amount, uint256 feeAmount, address feeReceiver). */
  '0xac1e0db1957daedbc6944bcb4c8dc947ff8101d710671ac2ec26309f7f38d58e': {
    kind: 'payment',
    topics: 1,
    words: 3,
    amountAt: 0,
    fee: { at: 1, in: 'amount' },
    legs: 'after',
  },
  /** PaymentVoided(bytes32 indexed, uint256 amount). */
  '0xcadce8c3acb008e3e1c64ca7f60d22a3c87069183182b7dbb9e4d8cfb3a15842': {
    kind: 'void',
    topics: 1,
    words: 1,
    amountAt: 0,
    legs: 'after',
  },
  /** PaymentReclaimed(bytes32 indexed, uint256 amount). */
  '0x78e1d723d17e13b7f40eeab9bf6dd9148a630bafde4203ab7bb5fca983516d17': {
    kind: 'withdrawal',
    topics: 1,
    words: 1,
    amountAt: 0,
    legs: 'after',
  },
  /** PaymentRefunded(bytes32 indexed, uint256 amount, address tokenCollector). */
  '0x1bf415371b303ca6b8bbb4ce479b177cba5ad15dbe0c9a7750a588aa6bcd25b2': {
    kind: 'refund',
    topics: 1,
    words: 2,
    amountAt: 0,
    legs: 'after',
  },
};
