import { DUST_BELOW, SAMPLE_MIN_SETTLEMENTS, type SignalId, type Verdict } from './data-quality.ts';

/**
 * What speaks for and against paying an address, from figures that the index has: a closed list with fixed thresholds. Answers, the
 * table in docs/methodology.md and the tests use the same constants. Dust (core/domain/data-quality.ts) counts for none of them. Money is in
 * millionths of a dollar, times are Unix seconds.
 */

const DAY_SECONDS = 86_400;
export const MANY_COUNTERPARTIES_MIN = 10;
export const LONG_HISTORY_DAYS_MIN = 90;
export const NEW_WALLET_DAYS = 7;
export const INACTIVE_DAYS = 30;
/** With fewer a score is mostly its prior (core/domain/agent.ts). */
export const RATING_CLIENTS_MIN = 5;
export const WELL_RATED_MIN = 60;
export const BADLY_RATED_BELOW = 40;

/** How far back refunds are counted. */
export const REFUND_WINDOW = '30d';

export const REASONS_FOR = {
  mostly_proven: `Half or more of the dollars that other wallets paid it, ${DUST_BELOW} or more at once, are proven x402 payments.`,
  many_counterparties: `${MANY_COUNTERPARTIES_MIN} or more other wallets paid it, each ${DUST_BELOW} or more at once.`,
  long_history: `The first payment to it of ${DUST_BELOW} or more by another wallet is ${LONG_HISTORY_DAYS_MIN} or more days old.`,
  domain_proven: 'The domain that its ERC-8004 agent claims names that agent.',
  offer_published: 'The domain of a resource itself publishes an offer that is paid to it.',
  well_rated: `${RATING_CLIENTS_MIN} or more clients with a proven payment of ${DUST_BELOW} or more rate its agent, together ${WELL_RATED_MIN} or better of 100.`,
} as const;

export const REASONS_AGAINST = {
  never_paid: `No payment of another wallet to it of ${DUST_BELOW} or more is indexed.`,
  not_paid_on_chain: `No payment of another wallet to it of ${DUST_BELOW} or more is indexed on the chain that was asked for: it is paid on other chains.`,
  few_settlements: `It was paid, and by fewer than ${SAMPLE_MIN_SETTLEMENTS} settlements to judge it by, or fewer than that of ${DUST_BELOW} or more by others.`,
  self_payment_share: 'It pays itself: the signal reached its threshold.',
  payer_concentration: 'Few payers account for what it received: the signal reached its threshold.',
  single_payer_dominance: 'One payer accounts for most of it: the signal reached its threshold.',
  reciprocity: 'It pays back to its payers: the signal reached its threshold.',
  ring_membership: 'Money passes through it back to its start: the signal reached its threshold.',
  mostly_unproven: `Less than half of the dollars that other wallets paid it, ${DUST_BELOW} or more at once, are proven x402 payments.`,
  new_wallet: `The first payment to it of ${DUST_BELOW} or more by another wallet is less than ${NEW_WALLET_DAYS} days old.`,
  inactive: `The last payment to it of ${DUST_BELOW} or more by another wallet is more than ${INACTIVE_DAYS} days old.`,
  no_identity: 'On the chains asked for no ERC-8004 agent uses it, and no listed offer is paid to it.',
  name_imitates_facilitator: 'The name of its agent reads as that of a facilitator whose relayer it is not.',
  domain_refuted: 'The domain that its agent claims does not name that agent.',
  offer_contested:
    'A resource that it asks to be paid for is listed with other payees as well, and the domain of the resource does not say that this one is right.',
  badly_rated: `${RATING_CLIENTS_MIN} or more clients with a proven payment of ${DUST_BELOW} or more rate its agent, together below ${BADLY_RATED_BELOW} of 100.`,
} as const;

/** What it costs to get a reason without deserving it, or to be rid of one. Relaying costs about a tenth of a cent a payment on an L2. */
export const REASON_COSTS: Readonly<Record<ReasonFor | ReasonAgainst, string>> = {
  mostly_proven: `One payment of ${DUST_BELOW} by a further wallet through a facilitator, and its fee. It says how payments were made, not that something was sold.`,
  many_counterparties: `${MANY_COUNTERPARTIES_MIN} wallets and ${MANY_COUNTERPARTIES_MIN} × ${DUST_BELOW}, which come back if the wallets are one’s own: some cents. Read it with the signals and \`received\`.`,
  long_history: `One payment of ${DUST_BELOW}, and waiting for ${LONG_HISTORY_DAYS_MIN} days.`,
  domain_proven:
    'A domain: some dollars a year. It ties the address to that domain and says nothing of others.',
  offer_published: 'A domain, as above: the offer is the domain’s own word.',
  well_rated: `${RATING_CLIENTS_MIN} wallets that each pay the agent ${DUST_BELOW} and rate it: some cents. Money that comes back shows in the signals.`,
  never_paid: `Rid of it by one payment of ${DUST_BELOW} by a further wallet.`,
  not_paid_on_chain: `Rid of it by one payment of ${DUST_BELOW} by a further wallet on that chain.`,
  few_settlements: `Rid of it by ${SAMPLE_MIN_SETTLEMENTS} payments of ${DUST_BELOW}: a cent, and their fees.`,
  self_payment_share:
    'Rid of it by other wallets of one’s own; then payments between them show as reciprocity or rings.',
  payer_concentration:
    'Rid of it by four and more wallets that pay alike: the dollars themselves, until they come back.',
  single_payer_dominance:
    'Rid of it by a second wallet that pays as much: the dollars themselves, until they come back.',
  reciprocity:
    'Only the wallet itself can cause it, by paying its payers. Rid of it by a detour over further wallets; up to four show as a ring.',
  ring_membership:
    'A ring takes a dollar and two payments on every edge, its own payments among them: others cannot put a wallet into one that does not pay on.',
  mostly_unproven:
    'Others can cause it by transfers that are no proven payments, for as many dollars as it received; rid of it likewise.',
  new_wallet: `One payment of ${DUST_BELOW}, and waiting for ${NEW_WALLET_DAYS} days.`,
  inactive: `Rid of it by one payment of ${DUST_BELOW} a month.`,
  no_identity:
    'Rid of it by registering an agent or listing an offer: the fee of one transaction, or nothing.',
  name_imitates_facilitator: 'Rid of it by another name.',
  domain_refuted: 'Rid of it by claiming no domain.',
  offer_contested:
    'Others can cause it for nothing, by listing the resource under their own address, until its domain publishes the offer.',
  badly_rated: `Others can cause it by ${RATING_CLIENTS_MIN} wallets that each pay ${DUST_BELOW} or more and rate badly: the prices of ${RATING_CLIENTS_MIN} calls.`,
};

export type ReasonFor = keyof typeof REASONS_FOR;
export type ReasonAgainst = keyof typeof REASONS_AGAINST;

export interface PayFacts {
  readonly verdict: Verdict;
  /** Whether others paid it on chains that were not asked for, as in `paid`. */
  readonly isPaidElsewhere: boolean;
  /** Signals that reached their threshold, of the wallet as a payee. */
  readonly triggered: readonly SignalId[];
  /** Payments to it by other wallets, without dust. */
  readonly paid: PaidFacts;
  readonly nowSeconds: number;
  /** Of the agent that stands for the wallet; null without one. */
  readonly identity: {
    readonly domainProof: 'unchecked' | 'proven' | 'refuted' | 'unreachable';
    readonly isImitation: boolean;
    readonly paidScore: number | null;
    readonly paidClients: number;
  } | null;
  readonly offers: { readonly count: number; readonly published: number; readonly contested: number };
}

export interface PaidFacts {
  readonly payers: number;
  readonly settlements: number;
  readonly usdMicros: bigint;
  /** The part of it that a named facilitator relayed. */
  readonly provenUsdMicros: bigint;
  /** Null without any. */
  readonly firstSeen: number | null;
  readonly lastSeen: number | null;
}

/** In the order of the tables. Pure. */
export function payReasons(facts: PayFacts): {
  readonly speaksFor: readonly ReasonFor[];
  readonly speaksAgainst: readonly ReasonAgainst[];
} {
  const [speaksFor, speaksAgainst] = [holdingFor(facts), holdingAgainst(facts)];
  return {
    speaksFor: keysOf(REASONS_FOR).filter((reason) => speaksFor[reason]),
    speaksAgainst: keysOf(REASONS_AGAINST).filter((reason) => speaksAgainst[reason]),
  };
}

function keysOf<Key extends string>(table: Readonly<Record<Key, string>>): Key[] {
  return Object.keys(table) as Key[]; // a constant without other keys
}

function holdingFor(facts: PayFacts): Readonly<Record<ReasonFor, boolean>> {
  const { paid, identity, offers } = facts;
  return {
    mostly_proven: paid.settlements > 0 && paid.provenUsdMicros * 2n >= paid.usdMicros,
    many_counterparties: paid.payers >= MANY_COUNTERPARTIES_MIN,
    long_history: daysSince(paid.firstSeen, facts) >= LONG_HISTORY_DAYS_MIN,
    domain_proven: identity?.domainProof === 'proven',
    offer_published: offers.published > 0,
    well_rated: (ratingOf(facts) ?? 0) >= WELL_RATED_MIN,
  };
}

function holdingAgainst(facts: PayFacts): Readonly<Record<ReasonAgainst, boolean>> {
  const { verdict, triggered, isPaidElsewhere, identity, offers } = facts;
  const { settlements, usdMicros, provenUsdMicros, firstSeen, lastSeen } = facts.paid;
  const has = (signal: SignalId): boolean => triggered.includes(signal);
  return {
    never_paid: settlements === 0 && !isPaidElsewhere,
    not_paid_on_chain: settlements === 0 && isPaidElsewhere,
    few_settlements:
      verdict === 'insufficient' || (verdict !== 'unobserved' && settlements < SAMPLE_MIN_SETTLEMENTS),
    self_payment_share: has('self_payment_share'),
    payer_concentration: has('payer_concentration'),
    single_payer_dominance: has('single_payer_dominance'),
    reciprocity: has('reciprocity'),
    ring_membership: has('ring_membership'),
    mostly_unproven: settlements > 0 && provenUsdMicros * 2n < usdMicros,
    new_wallet: firstSeen !== null && daysSince(firstSeen, facts) < NEW_WALLET_DAYS,
    inactive: lastSeen !== null && daysSince(lastSeen, facts) > INACTIVE_DAYS,
    no_identity: identity === null && offers.count === 0,
    name_imitates_facilitator: identity?.isImitation === true,
    domain_refuted: identity?.domainProof === 'refuted',
    offer_contested: offers.contested > 0,
    badly_rated: (ratingOf(facts) ?? BADLY_RATED_BELOW) < BADLY_RATED_BELOW,
  };
}

/** Without the fraction of a day that would not matter; 0 for what never was. */
function daysSince(time: number | null, { nowSeconds }: PayFacts): number {
  return time === null ? 0 : (nowSeconds - time) / DAY_SECONDS;
}

/** Null where too few clients rated. */
function ratingOf({ identity }: PayFacts): number | null {
  return identity === null || identity.paidClients < RATING_CLIENTS_MIN ? null : identity.paidScore;
}
