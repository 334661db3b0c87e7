import type { PaymentOffer, SettledPayment } from '../../core/domain/payment.ts';

/**
 * The x402 lane as the gate sees it: what a call costs here, and one paid call from its header to its answer.
 * Source: read-api.md 4.12, api.md 4.
 */
export interface PaymentLane {
  /** The terms of an order, for a 402. */
  offer(order: Order): PaymentOffer;
  /**
   * Reads and verifies the payment of a request and settles it, or, where it is a ceiling, takes it for this request alone and
   * leaves it `open` until the call knows what it used. `settled` only when the money is on chain and this request alone may be
   * answered for it. A payment that settled and was not answered yet is taken up again without a second settlement, also one
   * that was `open` before. Rejects with a `Failure` (402, 409, 502, 503) that says stage and retry advice and carries the offer.
   * `preflight` is asked once the payment is verified and before one of a fixed price is claimed: what it rejects with is the
   * answer, and the payment stays free.
   */
  take(order: Order, headers: PaymentHeaders, preflight?: () => Promise<void>): Promise<PaidCall>;
}

/** For a list of what is sold: the terms of an order as entries of `accepts` of version 2. */
export type TermsOf = (order: Order) => readonly Readonly<Record<string, unknown>>[];

/** What a payment buys: exactly this request. */
export interface Order {
  /** The route, for ledgers: `GET /v0/flows`. */
  readonly resource: string;
  /** Absolute URL as the caller asked for it, query included. */
  readonly url: string;
  readonly description: string;
  readonly mimeType: string;
  readonly priceUsdMicros: bigint;
  /** The price is the most that the call can cost: a payment whose scheme can (`upto`) is settled for what was used. */
  readonly settledByUse: boolean;
  /** SHA-256 (hex) of method, path, canonical query and body. */
  readonly binding: string;
}

/** The raw payment header of a request: `X-PAYMENT` or `PAYMENT-SIGNATURE`, whatever it holds. Spendable: never logged. */
export interface PaymentHeaders {
  readonly payment: string;
}

export type PaidCall = SettledCall | OpenCall;

/** The money is on chain and this request alone may be answered for it. */
export interface SettledCall {
  readonly kind: 'settled';
  readonly payment: SettledPayment;
  /** What was settled, in millionths of a dollar: less than the price where it was a ceiling. */
  readonly usdMicros: bigint;
  /** Base64, for `X-PAYMENT-RESPONSE` and `PAYMENT-RESPONSE`. */
  readonly receiptHeader: string;
  /** Says whether the answer left. One that did not can be asked for again with the same payment. */
  finish(answered: boolean, isOurFault?: boolean): Promise<void>;
}

/**
 * A verified payment up to the price, held for this request alone; nothing has moved. Ends with one of the two calls. Where
 * neither comes (the process dies) the hold lapses and the payer may send the same payment again.
 */
export interface OpenCall {
  readonly kind: 'open';
  /**
   * Settles once for what was used: above 0, at most the price, or RangeError. To be awaited before anything of the answer
   * leaves; rejects as `take` does, and then nothing may be answered but that failure.
   */
  settle(usdMicros: bigint): Promise<SettledCall>;
  /** Nothing is charged: the payment can be used for another request. Rejects never. */
  drop(): Promise<void>;
}
