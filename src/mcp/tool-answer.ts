import type { CallToolResult } from '@modelcontextprotocol/server';
import type { AnyOperation } from '../catalogue/operation.ts';
import { ERRORS } from '../errors.ts';
import type { Problem } from '../problem.ts';
import { toolName } from './tool.ts';

/** What a tool answers: the REST answer as `structuredContent`, and a short text that says what it is and what to do next. */
export type ToolAnswer = CallToolResult;

/** How a page goes on: the same call from another place on. */
interface NextCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export function answered(
  operation: AnyOperation,
  body: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): ToolAnswer {
  const next = nextCall(operation, body, given);
  const sentences = [countsOf(body), warningsOf(body), next === null ? '' : `More with next_call.`];
  const text = sentences.filter((sentence) => sentence !== '').join(' ');
  return {
    content: [{ type: 'text', text: text === '' ? `${operation.summary}.` : text }],
    structuredContent: { ...body, ...(next === null ? {} : { next_call: { ...next } }) },
  };
}

function nextCall(
  { id, paging }: AnyOperation,
  body: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): NextCall | null {
  if (paging === 'none') return null;
  const place = body[`next_${paging}`];
  if (typeof place !== 'string' && typeof place !== 'number') return null;
  return { tool: toolName(id), arguments: { ...given, [paging]: place } };
}

/** `50 flows.` for each list of the answer. */
function countsOf(body: Readonly<Record<string, unknown>>): string {
  return Object.entries(body)
    .filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]))
    .map(([name, rows]) => `${rows.length} ${name}.`)
    .join(' ');
}

function warningsOf({ meta }: Readonly<Record<string, unknown>>): string {
  const warnings: unknown =
    typeof meta === 'object' && meta !== null ? Reflect.get(meta, 'warnings') : undefined;
  return Array.isArray(warnings) && warnings.length > 0 ? `Warnings: ${warnings.join(', ')}.` : '';
}

/** The same problem object as REST, and in words what helps. */
export function refused(problem: Problem): ToolAnswer {
  const { code, detail, hint, retry_after: retryAfter } = problem;
  const sentences = [
    `${code}: ${detail}`,
    hint ?? '',
    retryAfter === undefined ? '' : `Retry in ${retryAfter} seconds.`,
    ERRORS[code].advice,
  ];
  return {
    content: [{ type: 'text', text: sentences.filter((sentence) => sentence !== '').join(' ') }],
    structuredContent: { ...problem },
    isError: true,
  };
}
