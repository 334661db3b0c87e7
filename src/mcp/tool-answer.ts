import type { CallToolResult } from '@modelcontextprotocol/server';
import { ERRORS, type Failure } from '../../core/errors.ts';
import type { Problem } from '../openapi/problem.ts';
import { adviceOf } from './advice.ts';
import { figuresOf } from './answer-figures.ts';
import { type MadeCall, type NextCall, nextOfAnswer, nextOfRefusal } from './next-call.ts';
import { definitionAt, type Tool } from './tool.ts';
import type { ToolWords } from './tool-words.ts';

/**
 * What a tool answers: the REST answer as `structuredContent`, once, and a text of two lines. The first has the verdict and the
 * figures, the second says what to do next. The protocol advises servers to repeat the JSON as text for clients older than
 * `structuredContent`; none of the protocols spoken here is, and a model would be handed every answer twice.
 */
export type ToolAnswer = CallToolResult;

export interface AnsweredCall extends MadeCall {
  readonly tool: Tool;
  /** The URL under which the caller knows the service. */
  readonly url: string;
  readonly words: ToolWords;
}

export function answered(call: AnsweredCall, body: Readonly<Record<string, unknown>>): ToolAnswer {
  const next = nextOfAnswer(call, body);
  const nothing = nothingOf(call, body, next);
  return told(
    {
      verdict: joined([
        nothing === '' ? 'OK.' : 'OK, but nothing was found.',
        figuresOf(call.operation, body),
      ]),
      next: joined([nothing, warningsOf(body), goesOn(call, body, next)]),
    },
    body,
    next,
  );
}

/** The same problem object as REST, and in words what helps. */
export function refused(call: AnsweredCall, problem: Problem, failure: Failure): ToolAnswer {
  const { code, detail, hint, retry_after: retryAfter } = problem;
  const next = nextOfRefusal(call, failure);
  const isOurs = ERRORS[code].status >= 500;
  // How to buy what is sold is all that its tool is for.
  const advice =
    code === 'payment_required' && call.operation.price.class === 'sold'
      ? definitionAt(call.tool, call.url).description
      : adviceOf(code);
  const text = {
    verdict: joined([
      `${isOurs ? 'Failed' : 'Refused'}, ${code}:`,
      call.words(detail),
      call.words(hint ?? ''),
    ]),
    next: joined([
      retryAfter === undefined ? '' : `Retry in ${retryAfter} seconds.`,
      advice,
      next === null ? '' : 'Next: next_call.',
    ]),
  };
  return { ...told(text, problem, next), isError: true };
}

function told(
  { verdict, next: then }: { readonly verdict: string; readonly next: string },
  body: Readonly<Record<string, unknown>>,
  next: NextCall | null,
): ToolAnswer {
  return {
    content: [{ type: 'text', text: `${oneLine(verdict)}\n${oneLine(then)}` }],
    structuredContent: { ...body, ...(next === null ? {} : { next_call: { ...next } }) },
  };
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function joined(sentences: readonly string[]): string {
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

/** An answer that holds nothing is easily taken for a failure, or for proof that there is nothing. Source: read-api.md 1. */
function nothingOf(
  { operation }: AnsweredCall,
  body: Readonly<Record<string, unknown>>,
  next: NextCall | null,
): string {
  const { coverage } = body;
  const isUnknown =
    typeof coverage === 'object' && coverage !== null && Reflect.get(coverage, 'known') === false;
  const lists = Object.values(body).filter((value) => Array.isArray(value));
  const isEmpty = operation.paging !== 'none' && next === null && lists.every((rows) => rows.length === 0);
  if (!isUnknown && !isEmpty) return '';
  return 'That is the answer, no failure: it never happened, is not indexed yet, or is on a chain that is not covered. get_telemetry says what is indexed.';
}

/** Those of the index in `meta`, those about a query at the top, with what to write instead. */
function warningsOf({ meta, warnings: ofQuery }: Readonly<Record<string, unknown>>): string {
  const ofIndex: unknown =
    typeof meta === 'object' && meta !== null ? Reflect.get(meta, 'warnings') : undefined;
  const all = [ofQuery, ofIndex].flatMap((list: unknown) => (Array.isArray(list) ? (list as unknown[]) : []));
  const codes = new Set(all.map(codeOf).filter((code) => code !== ''));
  const constants = new Set(all.map(constantText));
  return joined([codes.size > 0 ? `Warnings: ${[...codes].join(', ')}.` : '', ...constants]);
}

/** Empty for a constant, which is told in a sentence of its own. */
function codeOf(warning: unknown): string {
  if (typeof warning === 'string') return warning;
  if (typeof warning !== 'object' || warning === null || constantText(warning) !== '') return '';
  const { code } = warning as Readonly<Record<string, unknown>>; // ours, of SqlWarning
  return typeof code === 'string' ? code : '';
}

/** A warning of SQL about a constant: what it is, and what to write instead. */
function constantText(warning: unknown): string {
  if (typeof warning !== 'object' || warning === null) return '';
  const { near, message, replacement } = warning as Readonly<Record<string, unknown>>; // ours, of SqlWarning
  if (typeof near !== 'string') return '';
  const instead = typeof replacement === 'string' ? ` Write ${replacement}.` : '';
  return `'${near}' matches nothing: ${String(message)}${instead}`;
}

/** What follows from an answer that does not go on, by operation. */
const THEN: Readonly<Record<string, string>> = {
  getSqlSchema: 'Next: run_sql over these columns; explain_only checks a query for nothing.',
  getAccount: 'Next: call a tool that your key may use; metered_routes and sql_tiers have the prices.',
  listCapabilities: 'Next: get_capability or list_endpoints with a slug.',
  listEndpoints:
    'Next: call a resource over HTTP; it answers 402 with what to pay. get_merchant has what its payee was paid.',
};
const COMPLETE = 'This is all of it: structuredContent has the whole answer.';

function goesOn(
  { operation }: AnsweredCall,
  body: Readonly<Record<string, unknown>>,
  next: NextCall | null,
): string {
  if (next !== null)
    return operation.paging === 'none'
      ? 'Rows were cut. Aggregate or filter in the query, or have more of them with next_call, which is charged again.'
      : 'More with next_call.';
  if (body['truncated'] === true)
    return 'Rows were cut at the most that one answer has: aggregate or filter in the query.';
  if (body['row_count'] === 0)
    return "No row matches: look at the time range, and at texts such as lower-case addresses and 'eip155:8453'. get_telemetry says what is indexed.";
  if ('estimate' in body) return 'Next: the same call without explain_only runs it.';
  if (operation.id === 'getSqlSchema' && 'limits' in body)
    return 'Next: get_sql_schema with table for the columns of the one you need, then run_sql.';
  return THEN[operation.id] ?? COMPLETE;
}
