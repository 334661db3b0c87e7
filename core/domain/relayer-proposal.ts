import { type Address, hexOf } from './account.ts';

/**
 * How much the behaviour of a relayer that no catalogue names is that of a facilitator (docs/methodology.md, "Proposed relayers"). The figures
 * are of its payments in the last `PROPOSAL_DAYS`; the score is a number for sorting and for a threshold, not a probability.
 */
export interface RelayerFigures {
  /** Payments in transactions that it sent. */
  readonly settlementCount: number;
  /** Of these, authorizations of others that it relayed: neither payer nor payee, and nothing pulled by the payee. */
  readonly relayedCount: number;
  readonly payerCount: number;
  /** As how many payers of equal size its payers count: 1 where one of them makes nearly all payments. */
  readonly payerSpread: number;
  /** Payers that also pay through relayers of named facilitators. */
  readonly sharedPayerCount: number;
  readonly payeeCount: number;
  /** Payees that `SHARED_PAYERS_MIN` payers or more also paid through relayers of named facilitators. */
  readonly sharedPayeeCount: number;
  /** Payments to these. */
  readonly sharedSettlementCount: number;
  /** Facilitators whose `/supported` answer lists the address, by id. */
  readonly supportedBy: readonly string[];
  /** The facilitator, by id, whose relayers got their first coins for gas from the account that sent this one its first; empty: none. */
  readonly fundedWith: string;
}

/** A month has the weekly and the monthly runs of a payroll, and facilitators change addresses faster than in a quarter. */
export const PROPOSAL_DAYS = 30;
/** Below, neither spread nor shares say anything. */
export const PROPOSAL_MIN_SETTLEMENTS = 10;
export const PROPOSAL_MIN_PAYERS = 3;
/** One stray payment through a named facilitator does not make a payee shared. */
export const SHARED_PAYERS_MIN = 3;
/** What scores less is not listed. */
export const PROPOSAL_MIN_SCORE = 0.5;

/** A facilitator relays nothing else; some pay a bill of their own now and then. */
const RELAYED_SHARE = { none: 0.9, full: 0.995 };
/** On a logarithmic scale, as are the shared payees: from one payer who makes nearly all payments to more than a team has. */
const PAYER_SPREAD = { none: 1.5, full: 10 };
/** A payroll pays people, and a wallet relays for its users, of whom few also pay through named facilitators. */
const SHARED_PAYERS = { none: 0.2, full: 0.7 };
/** The wallet of an exchange or a shop is one payee. */
const SHARED_PAYEES = { none: 1, full: 8 };
/** Of its payments: wallets reach some sellers by chance; facilitators share sellers, and have some of their own. */
const SHARED_PAYMENTS = { none: 0.1, full: 0.5 };
/** A listing in `/supported` raises the mean by this share of what it lacks to 1. Not to 1: the facilitator that answers claims the address. */
const SUPPORTED_WEIGHT = 0.6;
/** Likewise. Not to 1: a customer of the same exchange can have the same sender. */
const FUNDED_WEIGHT = 0.6;
/**
 * So many relayers of one facilitator, and none of another, must have a sender in common: an operator's account fills many, and an exchange's
 * fills those of several. Such a sender is how relayers are attributed by hand (Merit-Systems/x402scan pull request 983).
 */
export const FUNDED_RELAYERS_MIN = 2;

/**
 * The score, 0 to 1: the share of relays, times the geometric mean of four: how many payers it has, what share of them also pays through named
 * facilitators, how many payees it shares with these, and what share of its payments goes there. So each of the five must be there; a listing
 * in `/supported` and a shared sender of its first coins make up for weak ones, but not for payments that were not relayed.
 */
export function proposalScore(figures: RelayerFigures): number {
  const { settlementCount, relayedCount, payerCount, payerSpread } = figures;
  if (settlementCount < PROPOSAL_MIN_SETTLEMENTS || payerCount < PROPOSAL_MIN_PAYERS) return 0;
  const relays = ramp(relayedCount / settlementCount, RELAYED_SHARE);
  const parts = [
    logRamp(payerSpread, PAYER_SPREAD),
    ramp(figures.sharedPayerCount / payerCount, SHARED_PAYERS),
    logRamp(figures.sharedPayeeCount, SHARED_PAYEES),
    ramp(figures.sharedSettlementCount / settlementCount, SHARED_PAYMENTS),
  ];
  const behaviour = parts.reduce((product, part) => product * part, 1) ** (1 / parts.length);
  const unlisted = figures.supportedBy.length === 0 ? 1 : 1 - SUPPORTED_WEIGHT;
  const unfunded = figures.fundedWith === '' ? 1 : 1 - FUNDED_WEIGHT;
  return relays * (1 - (1 - behaviour) * unlisted * unfunded);
}

interface Ramp {
  /** Up to here 0. */
  readonly none: number;
  /** From here on 1. */
  readonly full: number;
}

function ramp(value: number, { none, full }: Ramp): number {
  return Math.min(Math.max((value - none) / (full - none), 0), 1);
}

function logRamp(value: number, { none, full }: Ramp): number {
  return value <= 0 ? 0 : ramp(Math.log(value), { none: Math.log(none), full: Math.log(full) });
}

/** 16 hex digits: an address that shares eight of them with another can be made within hours. */
const ID_DIGITS = 16;

/** The id under which a relayer counts that the service itself accepted: it has the form of every other id, so filters take it. */
export function proposedId(relayer: Address): string {
  return `proposed-${hexOf(relayer).slice(0, ID_DIGITS)}`;
}

/** How it is shown with payments. */
export function proposedName(relayer: Address): string {
  return `Proposed ${relayer.slice(0, 10)}…`;
}
