import type { Lane, Surface } from '../../core/domain/caller.ts';
import type { SqlTierId } from '../../core/domain/plan.ts';
import type { PlaceLoad } from '../../core/process/places.ts';
import type { RateDecision } from '../accounts/store.ts';
import type { Answer } from '../operations/answer.ts';
import type { AnyOperation, CallTerms } from '../operations/define.ts';
import type { OperationDeps } from '../operations/deps.ts';
import type { Order } from '../payment/payment-lane.ts';

/**
 * Every call passes it between its surface and its operation, on HTTP and on MCP alike. Its checks run in a fixed order (call.ts): request
 * validity, credential, rate limit, tier, review, lane, hold or payment, run, capture or release, answer.
 */
export interface Gate {
  /** Rejects with a `Failure`; a request that is invalid, or fails through our fault, costs nothing. */
  call(request: GateRequest): Promise<GateAnswer>;
  /**
   * Rejects with `invalid_api_key` for a bearer token that is not valid here, for a surface that refuses it whatever the
   * request asks. Our own keys, and requests without a credential, are left to `call`.
   */
  checkToken(request: Pick<GateRequest, 'sender' | 'progress'>): Promise<void>;
  /**
   * Whether a call would be refused for want of a place, asked before the request is read: no store, no parameter, no body is touched.
   * The caller is the organization that the key belonged to last, or the address. A call that would get an offer needs no place.
   */
  refuses(
    operation: Pick<AnyOperation, 'load' | 'price'>,
    sender: Pick<Sender, 'credentials' | 'address'>,
  ): boolean;
  /** Places for reads, and the calls that have one or wait for one. */
  reads(): PlaceLoad;
}

/** One call of an operation, as its surface hands it in. */
export interface GateRequest {
  readonly operation: AnyOperation;
  readonly surface: Surface;
  readonly sender: Sender;
  /** The parameters as they were sent. Throws a `Failure` where they cannot be read, which is counted like any other refusal. */
  raw(): Readonly<Record<string, unknown>>;
  readonly charging: Charging;
  /** The dependencies of the run, bound to the request. */
  readonly deps: OperationDeps;
  readonly progress: CallProgress;
}

/** The headers that can carry a key. */
export interface CredentialHeaders {
  readonly authorization?: string | undefined;
  readonly 'x-api-key'?: string | string[] | undefined;
}

/** The other end of the connection. */
export interface Sender {
  readonly credentials: CredentialHeaders;
  /** The network address that the request came from. */
  readonly address: string;
  /** Whether the connection ended before the answer did. */
  readonly hasLeft: boolean;
  /** Aborts when the sender leaves, and at no other time. */
  left(): AbortSignal;
}

/** The parts of the request that concern charging. */
export interface Charging {
  /** False for HEAD: an answer without its body takes no payment and draws no units. */
  readonly mayCharge: boolean;
  readonly idempotencyKey: string | undefined;
  /** Present on HTTP, where a call can be paid for. */
  readonly offers?: Offers;
}

/** The order once the terms of the call are known, and the payment if one was sent. */
export interface Offers {
  readonly payment: string | undefined;
  order(terms: CallTerms): Order;
}

/** What the gate reports to the surface on the way. */
export interface CallProgress {
  /**
   * Called once with the caller's own window (`tier` null), before anything is refused: every request is counted, also an
   * invalid one. Called again where the request counts in the window of a SQL tier.
   */
  onRate(decision: RateDecision, tier: SqlTierId | null): void;
  /** Called when the call's payment has settled: `receiptHeader` belongs in both payment response headers, also of a failure. */
  onPaid(receiptHeader: string): void;
  /** Called when the run begins, with the lane that it takes. */
  onRun(lane: Lane): void;
  /** The lane that `onRun` was given; null before the run. */
  readonly lane: Lane | null;
}

export interface GateAnswer {
  readonly answer: Answer;
  /** Call it once, when the answer left (true) or could not (false); null where that makes no difference. Never rejects. */
  readonly delivered: ((answered: boolean) => Promise<void>) | null;
  /** Whether this is the kept answer of an earlier request with the same Idempotency-Key. */
  readonly replayed: boolean;
  /** Units that were charged for it, or that its payment covered; 0 for a replay, which costs nothing. */
  readonly chargedQu: number;
  /** What settled for it over x402, millionths of a dollar; absent where it was not paid for. */
  readonly paidUsdMicros?: bigint;
}
