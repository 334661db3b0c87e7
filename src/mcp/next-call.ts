import { ERRORS, type Failure } from '../../core/errors.ts';
import { nearest } from '../../core/nearest-name.ts';
import type { AnyOperation } from '../operations/define.ts';
import { SQL_MEDIA } from '../operations/sql/params.ts';
import { MCP_ROWS_DEFAULT } from './mcp-call.ts';
import { toolName } from './tool-name.ts';

/** What to call next, complete: a model that does as it is told needs to think of nothing. */
export interface NextCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Not before; absent for at once. */
  readonly after_seconds?: number;
}

/** A call as it was made. */
export interface MadeCall {
  readonly operation: AnyOperation;
  readonly given: Readonly<Record<string, unknown>>;
}

/** How an answer goes on: the same call from another place on, or with room for the rows that were cut; null at the end. */
export function nextOfAnswer(
  { operation, given }: MadeCall,
  body: Readonly<Record<string, unknown>>,
): NextCall | null {
  const tool = toolName(operation.id);
  const { paging } = operation;
  if (paging !== 'none') {
    const place = body[`next_${paging}`];
    const goesOn = typeof place === 'string' || typeof place === 'number';
    return goesOn ? { tool, arguments: { ...given, [paging]: place } } : null;
  }
  const rows = body['truncated'] === true ? moreRows(given['max_rows']) : null;
  return rows === null ? null : { tool, arguments: { ...given, max_rows: rows } };
}

/** Null where no more rows can be had in one answer. */
function moreRows(asked: unknown): number | null {
  const rows = Number(asked ?? MCP_ROWS_DEFAULT);
  return rows < SQL_MEDIA.json.rowsMax ? SQL_MEDIA.json.rowsMax : null;
}

/** How a refused call can be mended, where that takes no judgement; null where it does. */
export function nextOfRefusal(call: MadeCall, failure: Failure): NextCall | null {
  const { code, context } = failure;
  const tool = toolName(call.operation.id);
  switch (code) {
    case 'invalid_parameter':
      return withArguments(tool, correctedArguments(call, context.parameter));
    case 'invalid_query':
    case 'query_failed':
      return withArguments(tool, correctedQuery(call, failure));
    case 'invalid_api_key':
    case 'api_key_required':
    case 'payment_required':
    case 'insufficient_qu':
    case 'upgrade_required':
      // It costs nothing, and says what this caller may have. What is sold is bought over HTTP, whatever the key may do.
      return call.operation.price.class === 'sold' ? null : { tool: 'get_account', arguments: {} };
    default: {
      if (!ERRORS[code].retryable) return null;
      const { retryAfterSeconds } = context;
      return {
        tool,
        arguments: call.given,
        ...(retryAfterSeconds === undefined ? {} : { after_seconds: retryAfterSeconds }),
      };
    }
  }
}

type Arguments = Readonly<Record<string, unknown>>;

function withArguments(tool: string, given: Arguments | null): NextCall | null {
  return given === null ? null : { tool, arguments: given };
}

/** A mistyped name under the name that was meant; a list whose place is not known, from its beginning. */
function correctedArguments({ operation, given }: MadeCall, parameter: string | undefined): Arguments | null {
  if (parameter === undefined || !Object.hasOwn(given, parameter)) return null;
  const { [parameter]: value, ...rest } = given;
  if (parameter === operation.paging) return rest;
  const known = Object.keys(operation.params);
  if (known.includes(parameter)) return null;
  const meant = nearest(parameter, known);
  return meant === undefined || Object.hasOwn(rest, meant) ? null : { ...rest, [meant]: value };
}

/** The query with the name that was meant, wherever the wrong one stands outside of texts. */
function correctedQuery({ given }: MadeCall, { context }: Failure): Arguments | null {
  const { near, meant } = context.query ?? {};
  const field = typeof given['sql'] === 'string' ? 'sql' : 'query';
  const sql = given[field];
  if (near === undefined || meant === undefined || typeof sql !== 'string') return null;
  const corrected = sql.replace(QUOTED_OR_NAME, (word) =>
    word === near || word === `"${near}"` ? meant : word,
  );
  return corrected === sql ? null : { ...given, [field]: corrected };
}

/** A quoted text or name whole, so that no name is found in it; else a name with its dots. */
const QUOTED_OR_NAME = /'(?:[^'\\]|\\.|'')*'|"[^"]*"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*/g;
