import type { SignalId, Verdict } from './data-quality.ts';

/**
 * What speaks for and against paying an address, from figures that the index has: a closed list with fixed thresholds. Answers, the
 * table in docs/methodology.md and the tests use the same constants. Money is in millionths of a dollar, times are Unix seconds.
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
  mostly_proven: 'Half or more of the dollars that it received are proven x402 payments.',
  many_counterparties: `It dealt with ${MANY_COUNTERPARTIES_MIN} or more other wallets.`,
  long_history: `Its first settlement is ${LONG_HISTORY_DAYS_MIN} or more days old.`,
  domain_proven: 'The domain that its ERC-8004 agent claims names that agent.',
  offer_published: 'The domain of a resource itself publishes an offer that is paid to it.',
  well_rated: `${RATING_CLIENTS_MIN} or more clients with a proven payment rate its agent, together ${WELL_RATED_MIN} or better of 100.`,
} as const;

export const REASONS_AGAINST = {
  never_paid: 'No settlement to it is indexed.',
  not_paid_on_chain:
    'No settlement to it is indexed on the chain that was asked for; `elsewhere` has those on other chains.',
  few_settlements: 'Too few settlements to judge it by.',
  self_payment_share: 'It pays itself: the signal reached its threshold.',
  payer_concentration: 'Few payers account for what it received: the signal reached its threshold.',
  single_payer_dominance: 'One payer accounts for most of it: the signal reached its threshold.',
  reciprocity: 'It pays back to its payers: the signal reached its threshold.',
  ring_membership: 'Money passes through it back to its start: the signal reached its threshold.',
  mostly_unproven: 'Less than half of the dollars that it received are proven x402 payments.',
  new_wallet: `Its first settlement is less than ${NEW_WALLET_DAYS} days old.`,
  inactive: `Its last settlement is more than ${INACTIVE_DAYS} days old.`,
  no_identity: 'On the chains asked for no ERC-8004 agent uses it, and no listed offer is paid to it.',
  name_imitates_facilitator: 'The name of its agent reads as that of a facilitator whose relayer it is not.',
  domain_refuted: 'The domain that its agent claims does not name that agent.',
  offer_contested:
    'A resource that it asks to be paid for is listed with other payees as well, and the domain of the resource does not say that this one is right.',
  badly_rated: `${RATING_CLIENTS_MIN} or more clients with a proven payment rate its agent, together below ${BADLY_RATED_BELOW} of 100.`,
} as const;

export type ReasonFor = keyof typeof REASONS_FOR;
export type ReasonAgainst = keyof typeof REASONS_AGAINST;

export interface PayFacts {
  readonly verdict: Verdict;
  /** Whether settlements to it are indexed on chains that were not asked for. */
  readonly isPaidElsewhere: boolean;
  /** Signals that reached their threshold, of the wallet as a payee. */
  readonly triggered: readonly SignalId[];
  readonly receivedUsdMicros: bigint;
  readonly provenUsdMicros: bigint;
  readonly counterparties: number;
  /** Null without settlements. */
  readonly firstSeen: number | null;
  readonly lastSeen: number | null;
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
  const { receivedUsdMicros, provenUsdMicros, counterparties, identity, offers } = facts;
  return {
    mostly_proven: receivedUsdMicros > 0n && provenUsdMicros * 2n >= receivedUsdMicros,
    many_counterparties: counterparties >= MANY_COUNTERPARTIES_MIN,
    long_history: daysSince(facts.firstSeen, facts) >= LONG_HISTORY_DAYS_MIN,
    domain_proven: identity?.domainProof === 'proven',
    offer_published: offers.published > 0,
    well_rated: (ratingOf(facts) ?? 0) >= WELL_RATED_MIN,
  };
}

function holdingAgainst(facts: PayFacts): Readonly<Record<ReasonAgainst, boolean>> {
  const { verdict, triggered, receivedUsdMicros, provenUsdMicros, identity, offers } = facts;
  const { firstSeen, lastSeen } = facts;
  const has = (signal: SignalId): boolean => triggered.includes(signal);
  return {
    never_paid: verdict === 'unobserved' && !facts.isPaidElsewhere,
    not_paid_on_chain: verdict === 'unobserved' && facts.isPaidElsewhere,
    few_settlements: verdict === 'insufficient',
    self_payment_share: has('self_payment_share'),
    payer_concentration: has('payer_concentration'),
    single_payer_dominance: has('single_payer_dominance'),
    reciprocity: has('reciprocity'),
    ring_membership: has('ring_membership'),
    mostly_unproven: receivedUsdMicros > 0n && provenUsdMicros * 2n < receivedUsdMicros,
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
