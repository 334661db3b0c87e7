import { type Address, address, type Hash } from '../../../core/domain/account.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import {
  BATCH_SETTLEMENT,
  type PaymentScheme,
  type SettlementKind,
} from '../../../core/domain/settlement.ts';
import type { RawLog } from '../../chain/block-source.ts';
import { addressInWord } from '../hex-word.ts';
import { BATCH_EVENTS, type ChannelEvent, ESCROW_EVENTS } from './events.ts';
import { type ChannelTerms, channelConfigForm, findTerms, paymentInfoForm, type TermsForm } from './terms.ts';

/** A contract that holds money between a payer and a payee. */
export interface ChannelContract {
  readonly address: Address;
  readonly scheme: Extract<PaymentScheme, 'batch-settlement' | 'auth-capture'>;
  readonly events: Readonly<Record<Hash, ChannelEvent>>;
  readonly form: TermsForm;
}

/** AuthCaptureEscrow 1.1 and 1.0, likewise. Sources: @x402/evm 2.27.0, README of base/commerce-payments. */
const ESCROWS = [
  address('0xf96815976523e00e65be8f34ca5e64b4f41eb19c'),
  address('0xbdea0d1bcc5966192b070fdf62ab4ef5b4420cff'),
];

/** The channel contracts of a chain, by address. */
export function channelContractsOf(chain: Chain): ReadonlyMap<Address, ChannelContract> {
  const batch: ChannelContract = {
    address: BATCH_SETTLEMENT,
    scheme: 'batch-settlement',
    events: BATCH_EVENTS,
    form: channelConfigForm(chain, BATCH_SETTLEMENT),
  };
  const escrows = ESCROWS.map(
    (address): ChannelContract => ({
      address,
      scheme: 'auth-capture',
      events: ESCROW_EVENTS,
      form: paymentInfoForm(chain, address),
    }),
  );
  return new Map([batch, ...escrows].map((contract) => [contract.address, contract]));
}

/** Money that an event of a channel contract says was moved, or was committed to a payee. */
export interface ChannelMove {
  readonly log: RawLog;
  /** Position of the log in its transaction's logs. */
  readonly at: number;
  readonly contract: ChannelContract;
  readonly event: Exclude<ChannelEvent, { readonly kind: 'terms' }>;
  readonly kind: SettlementKind;
  /** Null for a payout, which covers all channels of a payee. */
  readonly channel: Hash | null;
  readonly terms: ChannelTerms;
  /** Gross, in atomic units of the token. */
  readonly amount: bigint;
  /** Part of the amount that went to a fee receiver. */
  readonly fee: bigint;
}

export interface ChannelReading {
  readonly moves: readonly ChannelMove[];
  /** Terms that the transaction proves, by channel. */
  readonly terms: ReadonlyMap<Hash, ChannelTerms & { readonly contract: ChannelContract }>;
  /** Logs of an event that we know whose layout is another. */
  readonly malformed: readonly RawLog[];
  /** Events of a channel whose terms are neither in the transaction nor known. */
  readonly unknown: readonly RawLog[];
}

/** Whether a log of a channel contract says that money moved or was committed; its other events only name terms. */
export function isMove(log: RawLog, contracts: ReadonlyMap<Address, ChannelContract>): boolean {
  const event = contracts.get(log.address)?.events[log.topics[0] ?? '0x'];
  return event !== undefined && event.kind !== 'terms';
}

/** Terms that an earlier transaction proved. */
export type KnownTerms = (channel: Hash) => ChannelTerms | undefined;

export const NO_TERMS: KnownTerms = () => undefined;

const WORD_DIGITS = 64;
const BASIS_POINTS = 10_000n;

/**
 * Reads the events of channel contracts in the logs of one transaction. The terms of a channel come from its own event, else from the
 * calldata where their digest is the id, else from `known`.
 */
export function readChannels(
  logs: readonly RawLog[],
  input: string,
  contracts: ReadonlyMap<Address, ChannelContract>,
  known: KnownTerms,
): ChannelReading {
  const found = logs.flatMap((log, at) => {
    const contract = contracts.get(log.address);
    const event = contract?.events[log.topics[0] ?? '0x'];
    return contract === undefined || event === undefined ? [] : [{ log, at, contract, event }];
  });
  const whole = found.filter(({ log, event }) => hasLayout(log, event));
  const malformed = found.filter(({ log, event }) => !hasLayout(log, event)).map(({ log }) => log);
  const terms = provenTerms(whole, input);
  const moves: ChannelMove[] = [];
  const unknown: RawLog[] = [];
  for (const { log, at, contract, event } of whole) {
    if (event.kind === 'terms') continue;
    const channel = event.kind === 'payout' ? null : (log.topics[1] ?? null);
    const parties = channel === null ? payoutParties(log) : (terms.get(channel) ?? known(channel));
    if (parties === undefined) unknown.push(log);
    else {
      const amount = wordAt(log, event.amountAt);
      moves.push({
        log,
        at,
        contract,
        event,
        kind: event.kind,
        channel,
        terms: parties,
        amount,
        fee: feeOf(log, event, amount),
      });
    }
  }
  return { moves, terms, malformed, unknown };
}

interface FoundEvent {
  readonly log: RawLog;
  readonly contract: ChannelContract;
  readonly event: ChannelEvent;
}

function hasLayout({ topics, data }: RawLog, event: ChannelEvent): boolean {
  return topics.length === event.topics + 1 && data.length === 2 + event.words * WORD_DIGITS;
}

function provenTerms(events: readonly FoundEvent[], input: string): ChannelReading['terms'] {
  const proven = new Map<Hash, ChannelTerms & { readonly contract: ChannelContract }>();
  const wanted = new Map<ChannelContract, Set<Hash>>();
  for (const { log, contract, event } of events) {
    const id = log.topics[1];
    if (id === undefined || event.kind === 'payout') continue;
    if (event.termsAt === undefined) wanted.set(contract, (wanted.get(contract) ?? new Set()).add(id));
    else {
      const start = 2 + event.termsAt * WORD_DIGITS;
      const words = log.data.slice(start, start + contract.form.words * WORD_DIGITS);
      proven.set(id, { ...contract.form.partiesOf(words), contract });
    }
  }
  for (const [contract, ids] of wanted) {
    for (const id of ids) if (proven.has(id)) ids.delete(id);
    if (ids.size === 0) continue;
    for (const [id, terms] of findTerms(input, contract.form, ids)) proven.set(id, { ...terms, contract });
  }
  return proven;
}

/** Settled(receiver, token, sender): the contract pays out what was claimed before, of all channels of the receiver. */
function payoutParties(log: RawLog): ChannelTerms | undefined {
  const [, receiver, token] = log.topics;
  if (receiver === undefined || token === undefined) return undefined;
  return { payer: log.address, payee: addressInWord(receiver), token: addressInWord(token) };
}

function wordAt({ data }: RawLog, word: number): bigint {
  const start = 2 + word * WORD_DIGITS;
  return BigInt(`0x${data.slice(start, start + WORD_DIGITS)}`);
}

function feeOf(log: RawLog, event: ChannelMove['event'], amount: bigint): bigint {
  if (event.fee === undefined) return 0n;
  const stated = wordAt(log, event.fee.at);
  return event.fee.in === 'amount' ? stated : (amount * stated) / BASIS_POINTS;
}
