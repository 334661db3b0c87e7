import type { CallToolResult } from '@modelcontextprotocol/server';
import { ERRORS, type Failure } from '../../core/errors.ts';
import type { Problem } from '../openapi/problem.ts';
import type { AnyOperation } from '../operations/define.ts';
import { adviceOf, isWider, type MadeCall, type NextCall, nextOfAnswer, nextOfRefusal } from './next-call.ts';
import { definitionAt, type Tool, type ToolWords } from './tool.ts';

/**
 * A tool's answer: the REST answer as `structuredContent`, once, and a text of two lines. The first has the verdict and the
 * figures, the second says what to do next. The protocol advises servers to repeat the JSON as text for clients older than
 * `structuredContent`; all protocol versions served here have it, and a model would get every answer twice.
 */
export type ToolAnswer = CallToolResult;

interface AnsweredCall extends MadeCall {
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
  return 'An empty answer, not a failure: it never happened, is not indexed yet, or is on a chain that is not covered. get_telemetry says what is indexed.';
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
    return "No row matches: look at the time range, and at texts such as lower-case addresses and 'eip155:8453'. get_telemetry says what is indexed.";
  if ('estimate' in body) return 'Next: the same call without explain_only runs it.';
  if (operation.id === 'getSqlSchema' && 'limits' in body)
    return 'Next: get_sql_schema with table for the columns of the one you need, then run_sql.';
  return THEN[operation.id] ?? COMPLETE;
}

/** The figures that a model needs first, in a sentence: what came, how much of it, and what it cost. */

type Body = Readonly<Record<string, unknown>>;

export function figuresOf({ id }: Pick<AnyOperation, 'id'>, body: Body): string {
  const own = Object.hasOwn(OWN, id) ? OWN[id] : undefined;
  return own?.(body) ?? listFigures(body);
}

/** Of the operations whose answers are more than lists. */
const OWN: Readonly<Record<string, (body: Body) => string>> = {
  runSql: (body) => ('estimate' in body ? estimateFigures(body) : resultFigures(body)),
  getSqlSchema: schemaFigures,
  getAccount: (body) => sentences([shown(body['summary']), balanceFigures(body)]),
  getTelemetry: telemetryFigures,
  getMerchant: profileFigures,
  getAgent: profileFigures,
  getEntitySummary: summaryFigures,
  getPair: pairFigures,
};

/** `50 flows, from 2026-11-20T11:59:53Z to 2026-11-20T12:00:00Z.` for each list of the answer. */
function listFigures(body: Body): string {
  const counts = Object.entries(body)
    .filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]))
    .map(([name, rows]) => {
      const total = body[`${name}_total`];
      return `${rows.length} ${name}${typeof total === 'number' ? ` of ${total}` : ''}${timesOf(rows)}.`;
    });
  return sentences(counts);
}

function timesOf(rows: readonly unknown[]): string {
  const times = [rows.at(-1), rows[0]].map((row) => at(row, 'block_time'));
  const [from, to] = times;
  return typeof from === 'string' && typeof to === 'string' ? `, from ${from} to ${to}` : '';
}

/** Names and values of a longer row are left to `structuredContent`. */
const ROW_MAX_CHARS = 300;

function resultFigures({ row_count: count, rows, columns, truncated, usage, ...body }: Body): string {
  const first: unknown = Array.isArray(rows) ? rows[0] : undefined;
  const names = Array.isArray(columns) ? columns.map((column) => shown(at(column, 'name'))) : [];
  const values = names.map(
    (name, index) => `${name} = ${cellText(at(first, Array.isArray(first) ? index : name))}`,
  );
  const [head, row] = [names.join(', '), values.join(', ')];
  const left = at(usage, 'balance');
  return sentences([
    `${plural(count, 'row')}${truncated === true ? ', more were cut' : ''}, of ${head.length > ROW_MAX_CHARS ? plural(names.length, 'column') : head}.`,
    first === undefined || row.length > ROW_MAX_CHARS
      ? ''
      : `${count === 1 ? 'It is' : 'The first is'} ${row}.`,
    `${shown(at(usage, 'units_charged'))} QU charged${typeof left === 'number' ? `, ${left} left` : ''}; ${plural(at(body['statistics'], 'rows_read'), 'row')} read in ${shown(body['duration_ms'])} ms.`,
  ]);
}

function cellText(value: unknown): string {
  return value === null ? 'NULL' : shown(value);
}

function estimateFigures(body: Body): string {
  const { estimate, tier, advised_tier: advised } = body;
  const rows = at(estimate, 'rows_to_read');
  return `The query is valid and was not run. It would read ${typeof rows === 'number' ? `about ${plural(rows, 'row')}` : 'an unknown number of rows'} and cost ${shown(at(estimate, 'qu_min'))} to ${shown(at(estimate, 'qu_max'))} QU in tier ${shown(tier)}${advised === tier ? '' : `; advised tier: ${shown(advised)}`}.`;
}

function schemaFigures({ tables, functions, functions_total: total }: Body): string {
  const names = Array.isArray(tables) ? tables.map((table) => shown(at(table, 'name'))) : [];
  return sentences([
    names.length === 0 ? '' : `${names.length === 1 ? 'Table' : 'Tables'} ${names.join(', ')}.`,
    Array.isArray(functions) ? `${functions.length} of ${shown(total)} matching functions.` : '',
  ]);
}

function balanceFigures({ balance }: Body): string {
  const units = at(balance, 'available_qu');
  return typeof units === 'number' ? `${units} QU available.` : '';
}

function telemetryFigures({ status, chains }: Body): string {
  const lines = Array.isArray(chains)
    ? chains.map(
        (chain) =>
          `${shown(at(chain, 'chain'))} is ${shown(at(chain, 'state'))} at block ${shown(at(chain, 'indexed_block'))}, ${shown(at(chain, 'lag_seconds'))} s behind`,
      )
    : [];
  return sentences([`Status ${shown(status)}.`, lines.length === 0 ? '' : `${lines.join('; ')}.`]);
}

function profileFigures(body: Body): string {
  const { wallet, coverage, aggregates, data_quality: quality } = body;
  if (at(coverage, 'known') === false)
    return sentences([`${shown(wallet)} is not known.`, elsewhereFigures(body)]);
  const of = (name: string): string => shown(at(aggregates, name));
  return sentences([
    `${shown(wallet)} was paid ${of('inbound_usd')} USD in ${of('inbound_count')} settlements and paid ${of('outbound_usd')} USD in ${of('outbound_count')}; ${of('proven_usd')} USD proven, ${of('distinct_counterparties')} counterparties; data quality: ${shown(at(quality, 'verdict'))}.`,
    elsewhereFigures(body),
  ]);
}

/** What an answer about one chain left out. */
function elsewhereFigures({ elsewhere }: Body): string {
  if (!Array.isArray(elsewhere) || elsewhere.length === 0) return '';
  const others = elsewhere.map(
    (one) =>
      `${plural(at(one, 'settlement_count'), 'settlement')} of ${shown(at(one, 'usd'))} USD on ${shown(at(one, 'chain'))}`,
  );
  return `Not in these figures: ${others.join(', ')}.`;
}

function summaryFigures({ wallet, verdict, received, compare, ...body }: Body): string {
  const reasons = (field: unknown): string =>
    Array.isArray(field) && field.length > 0 ? field.map(shown).join(', ') : 'nothing';
  const median = at(compare, 'median_usd');
  return sentences([
    `${shown(wallet)}: ${shown(verdict)}. For: ${reasons(body['reasons_for'])}. Against: ${reasons(body['reasons_against'])}.`,
    `It was paid ${shown(at(received, 'usd'))} USD in ${plural(at(received, 'settlement_count'), 'settlement')}, ${shown(at(received, 'proven_usd'))} USD of it proven.`,
    typeof median === 'number' ? `Usually ${median} USD at a time.` : '',
    elsewhereFigures(body),
  ]);
}

function pairFigures(body: Body): string {
  const { payer, payee, paid, paid_back: back } = body;
  const of = (name: string): string => shown(at(paid, name));
  return sentences([
    `${shown(payer)} paid ${shown(payee)} ${of('settled_usd')} USD in ${plural(at(paid, 'settlement_count'), 'settlement')} on ${plural(at(paid, 'days_active'), 'day')}, ${of('proven_usd')} USD proven, and was paid back ${shown(at(back, 'settled_usd'))} USD.`,
    elsewhereFigures(body),
  ]);
}

/** A field or an item of an answer; undefined where there is none. */
function at(value: unknown, name: string | number): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return 'unknown';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function plural(count: unknown, noun: string): string {
  return `${shown(count)} ${noun}${count === 1 ? '' : 's'}`;
}

function sentences(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}
