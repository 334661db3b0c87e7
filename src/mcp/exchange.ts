import { type Failure, fail } from '../../core/errors.ts';
import type { GateRequest } from '../gate/gate.ts';
import type { AnyOperation } from '../operations/define.ts';
import { type Arguments, withDefaults } from './arguments.ts';
import { MCP_SQL_FORMATS } from './tool.ts';

/** The facts of the HTTP exchange behind a call. */
export interface McpExchange extends Pick<GateRequest, 'sender' | 'deps' | 'progress'> {
  readonly requestId: string;
  /** The URL callers use, as far as this request shows it, without a slash at its end. */
  readonly url: string;
  /** Whose saved queries are tools of their own for this client: the `queries` of its address. Null for none. */
  readonly owner: string | null;
  /** Called when the gate or the run refused the call, before its answer is written. */
  onRefused(failure: Failure): void;
  /** Registers `delivered`, called once the answer was sent or could not be. */
  whenSent(delivered: (answered: boolean) => Promise<void>): void;
}

/** A tool call as the gate sees it. Nothing can be paid for here: a key is the only credential. */
export function toolCall(
  operation: AnyOperation,
  given: Arguments,
  { sender, deps, progress }: McpExchange,
): GateRequest {
  return {
    operation,
    surface: 'mcp',
    sender,
    deps,
    progress,
    charging: { mayCharge: true, idempotencyKey: undefined },
    raw: () => rawOf(operation, given),
  };
}

function rawOf(operation: AnyOperation, given: Arguments): Arguments {
  const format = operation.media === undefined ? undefined : given['format'];
  if (format !== undefined && !MCP_SQL_FORMATS.some((one) => one === format))
    throw fail('invalid_parameter', {
      parameter: 'format',
      detail: `format must be one of ${MCP_SQL_FORMATS.join(', ')} here; files are for the HTTP surface.`,
    });
  return withDefaults(operation, given);
}
