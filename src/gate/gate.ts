import type { Lane, Surface } from '../../core/domain/lane.ts';
import type { SqlTierId } from '../../core/domain/plan.ts';
import type { RateDecision } from '../accounts/store.ts';
import type { Answer } from '../operations/answer.ts';
import type { AnyOperation, CallTerms, OperationDeps } from '../operations/define.ts';
import type { Order } from '../payment/payment-lane.ts';
import type { CredentialHeaders } from './caller.ts';

/**
 * What stands between a surface and an operation, the same for HTTP and MCP. The order is the rule (api.md 4): request
 * validity → credential → rate limit → tier → review → lane → hold or payment → run → capture or release → answer.
 */
export interface Gate {
  /** Rejects with a `Failure`; a request that is invalid, or fails through our fault, costs nothing. */
  call(request: GateRequest): Promise<GateAnswer>;
  /**
   * Rejects with `invalid_api_key` for a bearer token that is not good here, for a surface that refuses such a token whatever is
   * asked with it. Our own keys, and requests without a credential, are left to `call`.
   */
  checkToken(request: Pick<GateRequest, 'credentials' | 'address' | 'onRate'>): Promise<void>;
}

export interface GateRequest {
  readonly operation: AnyOperation;
  /** The parameters as they were sent. Throws a `Failure` where they cannot be read, which is counted like any other refusal. */
  raw(): Readonly<Record<string, unknown>>;
  readonly credentials: CredentialHeaders;
  /** The network address the request came from. */
  readonly address: string;
  readonly surface: Surface;
  /** Present on HTTP, where a call can be paid for. */
  readonly offers?: Offers;
  readonly idempotencyKey: string | undefined;
  /** False for HEAD: an answer without its body takes no payment and draws no units. */
  readonly mayCharge: boolean;
  /** The dependencies of the run, bound to the request. */
  readonly deps: OperationDeps;
  /** Whether the caller is gone: the connection ended before the answer did. */
  readonly hasLeft: boolean;
  /** Aborts when the caller leaves, and at no other time. */
  left(): AbortSignal;
  /**
   * Called once with the caller's own window (`tier` null), before anything is refused: every request is counted, also an
   * invalid one. Called again where the request counts in the window of a SQL tier.
   */
  onRate(decision: RateDecision, tier: SqlTierId | null): void;
  /**
   * Called when the call's payment has settled, before the run: `receiptHeader` belongs in both payment response headers of
   * whatever is answered then, also of a failure.
   */
  onPaid(receiptHeader: string): void;
  /** Called when the run begins, with the lane that it takes. */
  onRun(lane: Lane): void;
  /** What `onRun` told; null until then. */
  readonly lane: Lane | null;
}

/** What is bought, once its terms are known, and the payment when one was sent. */
export interface Offers {
  readonly payment: string | undefined;
  order(terms: CallTerms): Order;
}

export interface GateAnswer {
  readonly answer: Answer;
  /** To be called once, when the answer left (true) or could not (false); null where nobody waits for that. Rejects never. */
  readonly delivered: ((answered: boolean) => Promise<void>) | null;
  /** Whether this is the kept answer of an earlier request with the same Idempotency-Key. */
  readonly replayed: boolean;
  /** Units that were charged for it, or that its payment covered; 0 for a replay, which costs nothing. */
  readonly chargedQu: number;
}
