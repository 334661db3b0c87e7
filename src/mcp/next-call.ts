import { nearest } from '../../core/command-text.ts';
import { ERRORS, type ErrorCode, type Failure } from '../../core/errors.ts';
import { withEdits } from '../../core/text-edits.ts';
import type { AnyOperation } from '../operations/define.ts';
import type { Warning } from '../operations/index-state/freshness.ts';
import { SQL_MEDIA, TOOL_ROWS_DEFAULT } from '../operations/sql/params.ts';
import { type Arguments, isKnownName, meantArguments } from './arguments.ts';
import { toolName } from './tool.ts';

/** The next call to make, with all of its arguments: a model can make it as it is. */
export interface NextCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Not before; absent for at once. */
  readonly after_seconds?: number;
}

/** A call as it was made. */
export interface MadeCall {
  readonly operation: AnyOperation;
  /** All that there are. */
  readonly operations: readonly AnyOperation[];
  readonly given: Readonly<Record<string, unknown>>;
}

/** The call for the rest of an answer: the part that was cut, or else the chains that were left out; null where this is all. */
export function nextOfAnswer(call: MadeCall, body: Readonly<Record<string, unknown>>): NextCall | null {
  return restOfAnswer(call, body) ?? (isNarrowed(body) ? withoutChain(call) : null);
}

/** Whether the answer says that there is, or may be, more on the chains that were not asked for. */
function isNarrowed({ elsewhere, meta }: Readonly<Record<string, unknown>>): boolean {
  if (Array.isArray(elsewhere)) return elsewhere.length > 0;
  const warnings: unknown =
    typeof meta === 'object' && meta !== null ? Reflect.get(meta, 'warnings') : undefined;
  const leftOut: Warning = 'other_chains_left_out';
  return Array.isArray(warnings) && warnings.includes(leftOut);
}

/** From the beginning: the place in a list of one chain is none in the list of all. */
function withoutChain({ operation, given }: MadeCall): NextCall {
  const left = ['chain', operation.paging, ...('after' in operation.params ? ['after'] : [])];
  const kept = Object.entries(given).filter(([name]) => !left.includes(name));
  return { tool: toolName(operation.id), arguments: Object.fromEntries(kept) };
}

/** Whether a call to make next asks about the chains that the one before left out. */
export function isWider({ given }: MadeCall, next: NextCall | null): boolean {
  return next !== null && Object.hasOwn(given, 'chain') && !Object.hasOwn(next.arguments, 'chain');
}

/** The same call from the next position, or with room for the rows that were cut. */
function restOfAnswer(
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
  const rows = Number(asked ?? TOOL_ROWS_DEFAULT);
  return rows < SQL_MEDIA.json.rowsMax ? SQL_MEDIA.json.rowsMax : null;
}

/** The corrected form of a refused call, where the correction needs no judgement; null otherwise. */
export function nextOfRefusal(call: MadeCall, failure: Failure): NextCall | null {
  const { code, context } = failure;
  const tool = toolName(call.operation.id);
  switch (code) {
    case 'invalid_parameter':
      return (
        ofOneWallet(call, context.parameter) ??
        withArguments(tool, correctedArguments(call, context.parameter))
      );
    case 'invalid_query':
    case 'query_failed':
      return withArguments(tool, correctedQuery(call, failure));
    case 'invalid_api_key':
    case 'api_key_required':
    case 'payment_required':
    case 'insufficient_qu':
    case 'upgrade_required':
      // get_account is free and says what this caller may use. Sold routes are bought over HTTP, with any key.
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

function withArguments(tool: string, given: Arguments | null): NextCall | null {
  return given === null ? null : { tool, arguments: given };
}

/** Tools that list everybody, and the one that has the same of one wallet. */
const OF_ONE_WALLET: Readonly<Record<string, string>> = {
  listFlows: 'listEntitySettlements',
  listTransactions: 'listEntitySettlements',
  listWallets: 'getEntitySummary',
  listMerchants: 'getMerchant',
  getLeaderboard: 'getMerchant',
};

/** A list of everybody that was asked about one wallet: the tool that takes one, with the arguments that it knows. */
function ofOneWallet(
  { operation, operations, given }: MadeCall,
  parameter: string | undefined,
): NextCall | null {
  const other = operations.find(({ id }) => id === OF_ONE_WALLET[operation.id]);
  if (other === undefined || parameter === undefined || typeof given[parameter] !== 'string') return null;
  const meant = meantArguments(other, given);
  const known = Object.entries(meant).filter(([name]) => Object.hasOwn(other.params, name));
  const isAbout = known.some(
    ([name, value]) => other.params[name]?.in === 'path' && value === given[parameter],
  );
  return isAbout ? { tool: toolName(other.id), arguments: Object.fromEntries(known) } : null;
}

/** A mistyped name under the name that was meant; a list whose place is not known, from its beginning. */
function correctedArguments(
  { operation, operations, given }: MadeCall,
  parameter: string | undefined,
): Arguments | null {
  if (parameter === undefined || !Object.hasOwn(given, parameter)) return null;
  const { [parameter]: value, ...rest } = given;
  if (parameter === operation.paging) return rest;
  const known = Object.keys(operation.params);
  // A name that another tool has is no typing error: its value means something else here.
  if (known.includes(parameter) || isKnownName(operations, parameter)) return null;
  const meant = nearest(parameter, known);
  return meant === undefined || Object.hasOwn(rest, meant) ? null : { ...rest, [meant]: value };
}

/** The query with the edits that do what the refusal proposes. */
function correctedQuery({ given }: MadeCall, { context }: Failure): Arguments | null {
  const { edits, suggestedSql } = context.query ?? {};
  const field = typeof given['sql'] === 'string' ? 'sql' : 'query';
  const sql = given[field];
  // Another query than the one that was asked: the caller compares the two and decides.
  if (suggestedSql !== undefined) return null;
  return edits === undefined || typeof sql !== 'string' ? null : { ...given, [field]: withEdits(sql, edits) };
}

/** Advice for callers of tools, where it differs from the HTTP advice of the catalogue of errors. */
const ADVICE: Partial<Record<ErrorCode, string>> = {
  invalid_parameter: 'Correct the argument named in `parameter`; nothing was run or charged.',
  invalid_api_key:
    'Ask the person who configured this server for a valid key, sent as the header X-API-Key or Authorization: Bearer. get_account says what answers without one.',
  api_key_required:
    'Ask the person who configured this server for a key, sent as the header X-API-Key or Authorization: Bearer. Free tools answer without one: get_account has the prices, mint_trial_key says whether and how a key can be bought.',
  payment_required:
    'No payment can be sent over MCP. Use the key of an organization with units, or pay for the same call over HTTP.',
  insufficient_qu:
    'Top up at top_up_url of get_account. Tools that cost 0 QU still answer, and so does run_sql with explain_only.',
  upgrade_required: 'get_account lists the tiers that this plan allows. Ask for a plan that includes more.',
  not_found: 'Use another tool: this one has nothing to offer on this deployment.',
  rate_limited: 'Wait, then make the same call again.',
  overloaded: 'Wait, then make the same call again; nothing was run or charged.',
  upstream_unavailable:
    'Wait, then make the same call again; the part of the service that `resource` names did not answer.',
  internal_error: 'Make the same call once more; if it fails again, report `request_id` to the operator.',
};

/** What to do about an error, worded for a caller of tools. */
export function adviceOf(code: ErrorCode): string {
  return ADVICE[code] ?? ERRORS[code].advice;
}
