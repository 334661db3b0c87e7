import type { Clock } from '../../core/clock.ts';
import type { PaymentConfig } from '../../core/config/access.ts';
import type { Address } from '../../core/domain/account.ts';
import type { Chain } from '../../core/domain/chains.ts';
import type { PaymentOffer, SettledPayment } from '../../core/domain/payment.ts';
import type { Sale } from '../../core/domain/sale.ts';
import type { Log } from '../../core/log.ts';
import type { ClaimedSale } from '../accounts/payment-store.ts';
import type { ControlStore } from '../accounts/store.ts';
import type { ChainConfirmer } from './confirm.ts';
import type { Facilitator } from './facilitator.ts';
import type { FacilitatorSigners } from './facilitator-signers.ts';

/** The x402 lane as the gate sees it: what a call costs, and one paid call from its header to its answer. */
export interface PaymentLane {
  /** The terms of an order, for a 402. */
  offer(order: Order): PaymentOffer;
  /**
   * What the payment of this very request was claimed for, where it was claimed before and not served yet: the call is then made from
   * that, whatever became of its price and of what it names. Null otherwise, also for a payment that cannot be read. Moves nothing.
   */
  recall(sent: Pick<SentPayment, 'order' | 'header'>): Promise<ClaimedSale | null>;
  /**
   * Reads and verifies the payment of a request and settles it. A ceiling (`upto`) is held for this request and left `open`
   * until the call knows what it used. `settled` only when the money is on chain and this request alone may be answered for it.
   * A payment that settled and was not answered is taken up again without a second settlement, also one that was `open` before.
   * Rejects with a `Failure` (402, 409, 502, 503) that says stage and retry advice and carries the offer.
   */
  take(sent: SentPayment): Promise<PaidCall>;
}

/** A request with the payment that it carries. One object, so that a decorator of the lane passes on all of it. */
export interface SentPayment {
  readonly order: Order;
  /** The raw header `X-PAYMENT` or `PAYMENT-SIGNATURE`, unchecked. Spendable: never logged. */
  readonly header: string;
  /** Stored with the claim; of a ceiling, that of `settle`. Absent where the sold call never changes and has no author. */
  readonly sale?: Sale;
  /**
   * Asked once the payment is verified and before one of a fixed price is claimed: when it rejects, that is the answer and the
   * payment stays free.
   */
  preflight?(): Promise<void>;
}

/** The terms of an order as entries of `accepts` of version 2, for the list of routes on sale. */
export type TermsOf = (order: Order) => readonly Readonly<Record<string, unknown>>[];

/** The one request that a payment buys. */
export interface Order {
  /** The route, for ledgers: `GET /v0/flows`. */
  readonly resource: string;
  /** Absolute URL as the caller asked for it, query included. */
  readonly url: string;
  readonly description: string;
  readonly mimeType: string;
  readonly priceUsdMicros: bigint;
  /** The price is the most that the call can cost: a payment with the scheme `upto` is settled for what was used. */
  readonly settledByUse: boolean;
  /** SHA-256 (hex) of method, path, canonical query and body. */
  readonly binding: string;
  /** Of the offer, by name: how the route is called (`bazaar`). The facilitator gets them with the payment. */
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export type PaidCall = SettledCall | OpenCall;

/** The money is on chain and this request alone may be answered for it. */
export interface SettledCall {
  readonly kind: 'settled';
  readonly payment: SettledPayment;
  /** What was settled, in millionths of a dollar: less than the price where it was a ceiling. */
  readonly usdMicros: bigint;
  /** What the payment was claimed for, which is what it buys; null where its claim did not say. */
  readonly sale: ClaimedSale | null;
  /** Base64, for `X-PAYMENT-RESPONSE` and `PAYMENT-RESPONSE`. */
  readonly receiptHeader: string;
  /** Reports whether the answer was sent. If it was not, the same payment buys it again. */
  finish(answered: boolean, isOurFault?: boolean): Promise<void>;
}

/**
 * A verified payment up to the price, held for this request alone; nothing has moved. Ends with one of the two calls. When
 * neither comes (the process dies) the hold lapses and the payer may send the same payment again.
 */
export interface OpenCall {
  readonly kind: 'open';
  /**
   * Settles once for what was used: above 0, at most the price, or RangeError. `sale` is stored with the claim. Await it before
   * anything of the answer leaves; it rejects as `take` does, and that failure is then the answer.
   */
  settle(usdMicros: bigint, sale?: Sale): Promise<SettledCall>;
  /** Charges nothing: the payment can be used for another request. Never rejects. */
  drop(): Promise<void>;
}

/** Whether a token is known to be configured otherwise than its contract says: a payment in it can never settle. */
export type IsFaultyToken = (chain: Chain, token: Address) => boolean;

/** What the steps of the x402 lane work with. */
export interface LaneDeps {
  readonly config: Pick<PaymentConfig, 'accept' | 'offerSeconds' | 'settleTimeoutSeconds'>;
  /** `replies` hold a ceiling for one call while that runs. */
  readonly store: Pick<ControlStore, 'payments'> & {
    readonly replies: Pick<ControlStore['replies'], 'begin' | 'finish'>;
  };
  readonly facilitator: Facilitator;
  readonly signers: FacilitatorSigners;
  /** Tokens that are not offered. */
  readonly isFaultyToken?: IsFaultyToken;
  /** `noConfirmer` for a chain that we cannot ask. */
  readonly confirmerFor: (chain: string) => ChainConfirmer;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: LaneLimits;
}

export interface LaneLimits {
  /** How long the chain is asked for a settlement that the facilitator claims or leaves open. */
  readonly confirmWaitMs: number;
  readonly confirmPollMs: number;
  /** How long an answer to a paid request may take before another call may answer it. */
  readonly servingLeaseMs: number;
  /** How often one payment may be answered when the answers do not arrive: a caller can make them look lost. */
  readonly servingAttemptsMax: number;
}

export const DEFAULT_LANE_LIMITS: LaneLimits = {
  confirmWaitMs: 6_000,
  confirmPollMs: 400,
  servingLeaseMs: 60_000,
  servingAttemptsMax: 5,
};
