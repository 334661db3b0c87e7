import type { Answer } from '../catalogue/answer.ts';
import type { AnyOperation, OperationDeps } from '../catalogue/operation.ts';
import type { RateDecision } from '../control/control-store.ts';
import type { Surface } from '../domain/lane.ts';
import type { Order } from '../payment/payment-lane.ts';
import type { CredentialHeaders } from './caller.ts';

/**
 * What stands between a surface and an operation, the same for HTTP and MCP. The order is the rule (api.md 4): request
 * validity → credential → rate limit → lane → hold or payment → run → capture or release → answer.
 */
export interface Gate {
  /** Rejects with a `Failure`; a request that is invalid, or fails through our fault, costs nothing. */
  call(request: GateRequest): Promise<GateAnswer>;
}

export interface GateRequest {
  readonly operation: AnyOperation;
  readonly raw: Readonly<Record<string, unknown>>;
  readonly credentials: CredentialHeaders;
  /** The network address the request came from. */
  readonly address: string;
  readonly surface: Surface;
  /** Present on HTTP, where a call can be paid for: what is bought, and the payment when one was sent. */
  readonly shop?: { readonly order: () => Order; readonly payment: string | undefined };
  readonly idempotencyKey: string | undefined;
  /** False for HEAD: an answer without its body takes no payment and draws no units. */
  readonly mayCharge: boolean;
  /** The dependencies of the run, bound to the request. */
  readonly deps: OperationDeps;
  /** Called once, before anything is refused: every request is counted, also an invalid one. */
  onRate(decision: RateDecision): void;
  /**
   * Called when the call's payment has settled, before the run: `receiptHeader` belongs in both payment response headers of
   * whatever is answered then, also of a failure.
   */
  onPaid(receiptHeader: string): void;
  /** Called when the run begins. */
  onRun(): void;
}

export interface GateAnswer {
  readonly answer: Answer;
  /** To be called once, when the answer left (true) or could not (false); null where nobody waits for that. Rejects never. */
  readonly delivered: ((answered: boolean) => Promise<void>) | null;
}
