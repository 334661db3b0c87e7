/** What an organization may do. Plans are configuration; these three exist unless it changes them. See docs/design/gate.md. */
export const PLAN_IDS = ['free', 'pro', 'enterprise'] as const;
export type PlanId = (typeof PLAN_IDS)[number];

export const SQL_TIER_IDS = ['standard', 'extended', 'deep'] as const;
export type SqlTierId = (typeof SQL_TIER_IDS)[number];

/** Whose SQL is run: of everyone whom the price list admits, or only of organizations, which can be held to account for it. */
export type SqlCallers = 'everyone' | 'organizations';

export interface Plan {
  /** Requests a minute of all keys of the organization together. */
  readonly requestsPerMinute: number;
  readonly sqlTiers: readonly SqlTierId[];
  /** At or below this many units, `/account` says `low_balance`. */
  readonly lowBalanceQu: number;
  /** Units granted at the beginning of every UTC month; 0 for none. */
  readonly monthlyGrantQu: number;
}

export const DEFAULT_PLANS: Readonly<Record<PlanId, Plan>> = {
  free: { requestsPerMinute: 120, sqlTiers: ['standard'], lowBalanceQu: 20, monthlyGrantQu: 200 },
  pro: {
    requestsPerMinute: 1_200,
    sqlTiers: ['standard', 'extended'],
    lowBalanceQu: 1_000,
    monthlyGrantQu: 20_000,
  },
  enterprise: {
    requestsPerMinute: 6_000,
    sqlTiers: ['standard', 'extended', 'deep'],
    lowBalanceQu: 10_000,
    monthlyGrantQu: 200_000,
  },
};
