import type { Lane } from '../../core/domain/lane.ts';
import { type Failure, fail } from '../../core/errors.ts';
import type { GateRequest } from '../gate/gate.ts';
import type { AnyOperation, OperationDeps } from '../operations/define.ts';
import { MCP_SQL_FORMATS } from './tool.ts';

/** Rows of a query's answer where the caller does not say: all of it goes into a model's context. */
export const MCP_ROWS_DEFAULT = 200;

/** What the HTTP exchange that a call came in knows of it. */
export interface McpExchange
  extends Pick<GateRequest, 'credentials' | 'address' | 'deps' | 'hasLeft' | 'left' | 'onRate' | 'onRun'> {
  readonly requestId: string;
  /** The URL callers use, as far as this request shows it, without a slash at its end. */
  readonly url: string;
  /** Called when the gate or the run refused the call, before its answer is written. */
  onRefused(failure: Failure): void;
  /** To be told when the answer left, or could not. */
  whenSent(delivered: (answered: boolean) => Promise<void>): void;
}

/** A tool call as the gate sees it. Nothing can be paid for here: a key is the only credential (read-api.md 5.7). */
export class McpCall implements GateRequest {
  readonly surface = 'mcp';
  readonly mayCharge = true;
  readonly idempotencyKey = undefined;
  readonly operation: AnyOperation;
  lane: Lane | null = null;
  private readonly given: Readonly<Record<string, unknown>>;
  private readonly exchange: McpExchange;

  constructor(operation: AnyOperation, given: Readonly<Record<string, unknown>>, exchange: McpExchange) {
    this.operation = operation;
    this.given = given;
    this.exchange = exchange;
  }

  get credentials(): GateRequest['credentials'] {
    return this.exchange.credentials;
  }

  get address(): string {
    return this.exchange.address;
  }

  get deps(): OperationDeps {
    return this.exchange.deps;
  }

  get hasLeft(): boolean {
    return this.exchange.hasLeft;
  }

  left(): AbortSignal {
    return this.exchange.left();
  }

  raw(): Readonly<Record<string, unknown>> {
    const given = withoutNulls(this.given);
    const format = this.operation.media === undefined ? undefined : given['format'];
    if (format !== undefined && !MCP_SQL_FORMATS.some((one) => one === format))
      throw fail('invalid_parameter', {
        parameter: 'format',
        detail: `format must be one of ${MCP_SQL_FORMATS.join(', ')} here; files are for the HTTP surface.`,
      });
    return 'max_rows' in this.operation.params ? { max_rows: MCP_ROWS_DEFAULT, ...given } : given;
  }

  onRate(...[decision, tier]: Parameters<GateRequest['onRate']>): void {
    this.exchange.onRate(decision, tier);
  }

  onPaid(): void {
    throw new Error('nothing is paid for over MCP');
  }

  onRun(lane: Lane): void {
    this.lane = lane;
    this.exchange.onRun(lane);
  }
}

/** Many models fill in every argument, and write null for those they have nothing to say about. */
function withoutNulls(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}
