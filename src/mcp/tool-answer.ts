import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Failure } from '../errors.ts';
import type { Problem } from '../problem.ts';
import { adviceOf } from './advice.ts';
import { type MadeCall, type NextCall, nextOfAnswer, nextOfRefusal } from './next-call.ts';
import type { ToolWords } from './tool-words.ts';

/**
 * What a tool answers: the REST answer as `structuredContent`, a short text that says what it is and what to do next, and the
 * answer once more as text, for clients that hand their model nothing but text. Source: api.md 6, MCP tools, "Structured Content".
 */
export type ToolAnswer = CallToolResult;

export interface AnsweredCall extends MadeCall {
  readonly words: ToolWords;
}

/** A larger answer would fill a model's context twice; whoever asks for so much reads `structuredContent`. */
const TEXT_COPY_MAX_CHARS = 256 * 1024;

export function answered(call: AnsweredCall, body: Readonly<Record<string, unknown>>): ToolAnswer {
  const next = nextOfAnswer(call, body);
  const sentences = [countsOf(body), nothingOf(call, body, next), warningsOf(body), goesOn(call, next)];
  const text = sentences.filter((sentence) => sentence !== '').join(' ');
  return told(text === '' ? `${call.operation.summary}.` : text, body, next);
}

/** The same problem object as REST, and in words what helps. */
export function refused(call: AnsweredCall, problem: Problem, failure: Failure): ToolAnswer {
  const { code, detail, hint, retry_after: retryAfter } = problem;
  const sentences = [
    `${code}: ${call.words(detail)}`,
    call.words(hint ?? ''),
    retryAfter === undefined ? '' : `Retry in ${retryAfter} seconds.`,
    adviceOf(code),
  ];
  const next = nextOfRefusal(call, failure);
  const text = sentences.filter((sentence) => sentence !== '').join(' ');
  return { ...told(next === null ? text : `${text} Next: next_call.`, problem, next), isError: true };
}

function told(text: string, body: Readonly<Record<string, unknown>>, next: NextCall | null): ToolAnswer {
  const structuredContent = { ...body, ...(next === null ? {} : { next_call: { ...next } }) };
  const copy = JSON.stringify(structuredContent);
  return {
    content: [
      { type: 'text', text },
      ...(copy.length > TEXT_COPY_MAX_CHARS ? [] : [{ type: 'text' as const, text: copy }]),
    ],
    structuredContent,
  };
}

/** `50 flows.` for each list of the answer. */
function countsOf(body: Readonly<Record<string, unknown>>): string {
  return Object.entries(body)
    .filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]))
    .map(([name, rows]) => `${rows.length} ${name}.`)
    .join(' ');
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

function warningsOf({ meta, warnings: ofQuery }: Readonly<Record<string, unknown>>): string {
  const warnings: unknown =
    typeof meta === 'object' && meta !== null ? Reflect.get(meta, 'warnings') : undefined;
  const codes = Array.isArray(warnings) && warnings.length > 0 ? `Warnings: ${warnings.join(', ')}.` : '';
  const constants = Array.isArray(ofQuery) ? ofQuery.map(constantText) : [];
  return [codes, ...constants].filter((sentence) => sentence !== '').join(' ');
}

/** A warning of SQL about a constant: what it is, and what to write instead. */
function constantText(warning: unknown): string {
  if (typeof warning !== 'object' || warning === null) return '';
  const { near, message, replacement } = warning as Readonly<Record<string, unknown>>; // ours, of SqlWarning
  if (typeof near !== 'string') return '';
  const instead = typeof replacement === 'string' ? ` Write ${replacement}.` : '';
  return `'${near}' matches nothing: ${String(message)}${instead}`;
}

function goesOn({ operation }: AnsweredCall, next: NextCall | null): string {
  if (next === null) return '';
  return operation.paging === 'none'
    ? 'Rows were cut. Aggregate or filter in the query, or have more of them with next_call, which is charged again.'
    : 'More with next_call.';
}
