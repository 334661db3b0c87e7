/** Why payments for an offer cannot be seen by this service. A figure that cannot be observed is null with one of these, never 0. */
export const UNOBSERVED_REASONS = {
  chain_not_indexed: 'This service does not read the chain of the offer.',
  asset_not_indexed: 'This service does not read transfers of the token that the offer asks for.',
  settles_off_chain:
    'Payments for the offer are signed off the chain and settled later in sums, where no single payment shows.',
  payee_not_published: 'The listing does not say who is paid, so no payment can be matched with the offer.',
  amount_not_published: 'The listing does not say the amount, so no payment can be matched with the offer.',
} as const;

export type UnobservedReason = keyof typeof UNOBSERVED_REASONS;

/** What a code of an answer means; the code itself where a newer service has another one. */
export function unobservedMeaning(code: string): string {
  return Object.hasOwn(UNOBSERVED_REASONS, code) ? UNOBSERVED_REASONS[code as UnobservedReason] : code;
}

export const UNOBSERVED_CODES = Object.keys(UNOBSERVED_REASONS) as readonly UnobservedReason[];

/** Dollars. Prices of x402 are for one call: a higher one is more likely a mistake of units than a price. */
export const PLAUSIBLE_PRICE_MAX_USD = 1_000;
