import type { CallToolResult } from '@modelcontextprotocol/server';
import { isChain } from '../../core/domain/chains.ts';
import { ERRORS, type Failure } from '../../core/errors.ts';
import type { Problem } from '../openapi/problem.ts';
import type { Deployment } from '../operations/deps.ts';
import { at, type Body, figuresOf, shown } from './figures.ts';
import { adviceOf, isWider, type MadeCall, type NextCall, nextOfAnswer, nextOfRefusal } from './next-call.ts';
import { callOverHttp } from './over-http.ts';
import { definitionAt, type Tool, type ToolWords } from './tool.ts';

/**
 * A tool's answer: the REST answer as `structuredContent`, once, and a text of two lines. The first has the verdict and the
 * figures, the second says what to do next. The protocol advises servers to repeat the JSON as text for clients older than
 * `structuredContent`; all protocol versions served here have it, and a model would get every answer twice.
 */
export type ToolAnswer = CallToolResult;

interface AnsweredCall extends MadeCall {
  readonly tool: Tool;
  readonly deployment: Pick<Deployment, 'chainFacts' | 'sellsCalls'>;
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
        placeOf(call, body),
      ]),
      next: joined([nothing, warningsOf(body), goesOn(call, body, next)]),
    },
    body,
    next,
  );
}

/** The same problem object as REST, and advice as text. */
export function refused(call: AnsweredCall, problem: Problem, failure: Failure): ToolAnswer {
  const { code, detail, hint, retry_after: retryAfter, suggested_sql: suggested } = problem;
  const next = nextOfRefusal(call, failure);
  const isOurs = ERRORS[code].status >= 500;
  // The tool of a sold route only explains how to buy it.
  const advice =
    code === 'payment_required' && call.operation.price.class === 'sold'
      ? definitionAt(call.tool, call.url).description
      : adviceOf(code);
  const text = {
    verdict: joined([
      `${isOurs ? 'Failed' : 'Refused'}, ${code}:`,
      call.words(detail),
      call.words(hint ?? ''),
      suggested === undefined ? '' : SUGGESTED,
    ]),
    next: joined([
      retryAfter === undefined ? '' : `Retry in ${retryAfter} seconds.`,
      advice,
      soldOverHttp(call, code),
      next === null ? '' : 'Next: next_call.',
    ]),
  };
  return { ...told(text, problem, next), isError: true };
}

const SUGGESTED =
  'The query reads like another dialect of SQL: `suggested_sql` asks the same in that of ClickHouse. It was not run: compare the two, then call run_sql with it.';

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

/** A reader may take an empty answer for a failure, or for proof that there is nothing. */
function nothingOf(
  call: AnsweredCall,
  body: Readonly<Record<string, unknown>>,
  next: NextCall | null,
): string {
  const { operation, given } = call;
  const { coverage } = body;
  const isUnknown =
    typeof coverage === 'object' && coverage !== null && Reflect.get(coverage, 'known') === false;
  const lists = Object.values(body).filter((value) => Array.isArray(value));
  // That nothing is new proves nothing.
  const isWhole = (next === null || isWider(call, next)) && !('has_more' in body);
  const isEmpty = operation.paging !== 'none' && isWhole && lists.every((rows) => rows.length === 0);
  if (!isUnknown && !isEmpty) return '';
  if (isWider(call, next)) return `Only ${shown(given['chain'])} was asked for.`;
  return `An empty answer, not a failure. Searched for: ${searched(call)}. It never happened, is not indexed yet, or is on a chain that is not covered. get_telemetry says what is indexed.`;
}

/** The arguments that choose rows, as they were understood. */
function searched({ operation, given }: AnsweredCall): string {
  const chosen = Object.entries(given)
    .filter(([name]) => !['limit', 'before', 'after', 'offset', 'fields', 'format'].includes(name))
    .map(([name, value]) => `${name} ${shown(value).slice(0, SEARCHED_MAX_CHARS)}`);
  if ('chain' in operation.params && given['chain'] === undefined) chosen.push('every indexed chain');
  return chosen.length === 0 ? 'everything' : chosen.join(', ');
}

/** Of one argument. */
const SEARCHED_MAX_CHARS = 100;

/** Which chain the figures are of: a model that reads the text alone must not take one for all. */
function placeOf({ operation, deployment }: AnsweredCall, { meta }: Body): string {
  if (!('chain' in operation.params)) return '';
  const chain = at(meta, 'chain');
  if (typeof chain === 'string' && isChain(chain))
    return `On ${deployment.chainFacts.get(chain)?.name ?? chain} (${chain}) alone.`;
  return chain === null ? `On every indexed chain: ${[...deployment.chainFacts.keys()].join(', ')}.` : '';
}

/** How a call that lacks a key or units is bought: this surface takes no payment. */
function soldOverHttp(
  { operation, given, url, deployment: { sellsCalls } }: AnsweredCall,
  code: string,
): string {
  const isUnpaid = code === 'api_key_required' || code === 'payment_required' || code === 'insufficient_qu';
  if (!sellsCalls || !isUnpaid || operation.price.class === 'sold') return '';
  return `Or buy this one call over HTTP: ${callOverHttp(operation, given, url)}. It answers 402 with \`accepts\`, what to pay over x402.`;
}

/** Warnings of the index are in `meta`, warnings about a query at the top, with what to write instead. */
function warningsOf({ meta, warnings: ofQuery }: Readonly<Record<string, unknown>>): string {
  const ofIndex: unknown =
    typeof meta === 'object' && meta !== null ? Reflect.get(meta, 'warnings') : undefined;
  const all = [ofQuery, ofIndex].flatMap((list: unknown) => (Array.isArray(list) ? (list as unknown[]) : []));
  const codes = new Set(all.map(codeOf).filter((code) => code !== ''));
  const constants = new Set(all.map(constantText));
  return joined([codes.size > 0 ? `Warnings: ${[...codes].join(', ')}.` : '', ...constants]);
}

/** Empty for a constant, which has a sentence of its own. */
function codeOf(warning: unknown): string {
  if (typeof warning === 'string') return warning;
  if (typeof warning !== 'object' || warning === null || constantText(warning) !== '') return '';
  const { code } = warning as Readonly<Record<string, unknown>>; // ours, of SqlWarning
  return typeof code === 'string' ? code : '';
}

/** A warning of SQL about a constant: its meaning, and the text to write instead. */
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

function goesOn(call: AnsweredCall, body: Readonly<Record<string, unknown>>, next: NextCall | null): string {
  const { operation } = call;
  if (isWider(call, next)) return 'next_call asks about every indexed chain.';
  if (next !== null)
    return operation.paging === 'none'
      ? 'Rows were cut. Aggregate or filter in the query, or have more of them with next_call, which is charged again.'
      : 'More with next_call.';
  if (body['truncated'] === true)
    return 'Rows were cut at the most that one answer has: aggregate or filter in the query.';
  if (body['row_count'] === 0)
    return "No row matches: look at the time range, and at texts such as addresses (0x in lower case, base58 as it is) and 'eip155:8453'. get_telemetry says what is indexed.";
  if ('estimate' in body) return 'Next: the same call without explain_only runs it.';
  if (operation.id === 'getSqlSchema' && 'limits' in body)
    return 'Next: get_sql_schema with table for the columns of the one you need, then run_sql.';
  return THEN[operation.id] ?? COMPLETE;
}
