import type { PaymentOffer, SettledPayment } from '../domain/payment.ts';

/**
 * The x402 lane as the gate sees it: what a call costs here, and one paid call from its header to its answer.
 * Source: read-api.md 4.12, api.md 4.
 */
export interface PaymentLane {
  /** The terms of an order, for a 402. */
  offer(order: Order): PaymentOffer;
  /**
   * Reads, verifies and settles the payment of a request; resolves only when the money is on chain and this request alone may
   * be answered for it. A payment that settled and was not answered yet is taken up again without a second settlement.
   * Rejects with a `Failure` (402, 409, 502, 503) that says stage and retry advice and carries the offer.
   */
  take(order: Order, headers: PaymentHeaders): Promise<PaidCall>;
}

/** What a payment buys: exactly this request. */
export interface Order {
  /** The route, for ledgers: `GET /v0/flows`. */
  readonly resource: string;
  /** Absolute URL as the caller asked for it, query included. */
  readonly url: string;
  readonly description: string;
  readonly mimeType: string;
  readonly priceUsdMicros: bigint;
  /** SHA-256 (hex) of method, path, canonical query and body. */
  readonly binding: string;
}

/** The raw payment header of a request: `X-PAYMENT` or `PAYMENT-SIGNATURE`, whatever it holds. Spendable: never logged. */
export interface PaymentHeaders {
  readonly payment: string;
}

export interface PaidCall {
  readonly payment: SettledPayment;
  /** Base64, for `X-PAYMENT-RESPONSE` and `PAYMENT-RESPONSE`. */
  readonly receiptHeader: string;
  /** Says whether the answer left. One that did not can be asked for again with the same payment. */
  finish(answered: boolean): Promise<void>;
}
