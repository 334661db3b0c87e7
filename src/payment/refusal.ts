/** Why a payment is refused: a code, and a sentence that says what to do. */
export interface Refusal {
  readonly reason: string;
  readonly detail: string;
}

/** The facilitator refuses what ends within six seconds, because it could not be settled in time; so do we (protocol.md 1.6). */
export const VALID_BEFORE_MARGIN_SECONDS = 6n;
