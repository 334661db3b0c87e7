import type { TSchema } from '@sinclair/typebox';
import type { AnyOperation } from '../catalogue/operation.ts';
import type { Param } from '../catalogue/params.ts';
import { SQL_FORMATS, type SqlFormat } from '../catalogue/sql-params.ts';
import type { ToolWords } from './tool-words.ts';

/**
 * The schemas of a tool, projected from the declaration that REST is made of. A client hands all of them to its model on every
 * turn, so they say what a caller needs and leave the rest to the documentation: descriptions are cut after their first
 * sentence, answers are described two levels deep. Whatever fits the full schema fits this one.
 */

export type JsonSchema = Readonly<Record<string, unknown>> & { readonly type: 'object' };

/** What an answer over MCP can be written in; the other formats are files. */
export const MCP_SQL_FORMATS: readonly SqlFormat[] = SQL_FORMATS.filter(
  (format) => format === 'json' || format === 'json_compact',
);

const OUTPUT_DEPTH = 2;
const SENTENCE_MAX_CHARS = 140;

export function inputSchema({ params }: AnyOperation, words: ToolWords): JsonSchema {
  const entries = Object.entries(params);
  const required = entries.filter(([, param]) => param.required).map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, param]) => [name, inputProperty(name, param, words)])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

function inputProperty(
  name: string,
  { schema, description, in: place }: Param,
  words: ToolWords,
): Readonly<Record<string, unknown>> {
  const isFormat = place === 'body' && name === 'format';
  const choices = isFormat ? [...MCP_SQL_FORMATS] : choicesOf(schema);
  return { ...shapeOf(schema, choices), description: firstSentence(words(description)) };
}

/** The words of a switch; JSON has values for them. */
const SWITCH = 'true,false,1,0';

function shapeOf(schema: TSchema, choices: readonly string[] | undefined): Readonly<Record<string, unknown>> {
  if (choices === undefined) return bounded(schema);
  return choices.join() === SWITCH ? { type: 'boolean' } : { type: 'string', enum: choices };
}

/** Of a union of words: their list, which says the same in fewer characters. */
function choicesOf(schema: TSchema): string[] | undefined {
  const members: unknown = schema['anyOf'];
  if (!Array.isArray(members)) return undefined;
  const words = members.map((member: { readonly const?: unknown }) => member.const);
  return words.every((word) => typeof word === 'string') ? words : undefined;
}

function bounded(schema: TSchema): Readonly<Record<string, unknown>> {
  const { type, minimum, maximum } = schema as Record<string, unknown>; // a TypeBox schema is plain JSON
  return {
    type: type ?? 'string',
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
  };
}

/** What only a refusal has: the problem object of REST. */
const PROBLEM_REQUIRED = ['code'];

/**
 * Of an answer, or of a refusal: clients of the SDK's first generation hold both against this schema. `next_call` is ours: what to
 * call next.
 */
export function outputSchema(operation: AnyOperation): JsonSchema {
  const shape = outline(operation.output, OUTPUT_DEPTH) as Record<string, unknown>;
  const properties = shape['properties'] as Record<string, unknown>; // an operation answers with an object
  const mayGoOn = operation.paging !== 'none' || 'max_rows' in operation.params;
  return {
    type: 'object',
    properties: { ...properties, ...(mayGoOn ? { next_call: { type: 'object' } } : {}) },
    // What alternative answers lack cannot be required.
    ...(operation.alsoAnswers === undefined
      ? { anyOf: [{ required: shape['required'] ?? [] }, { required: PROBLEM_REQUIRED }] }
      : {}),
  };
}

function outline(schema: TSchema, depth: number): unknown {
  const { type, properties, required, items } = schema as Record<string, unknown>; // a TypeBox schema is plain JSON
  if (type === 'object' && properties !== undefined && depth > 1) {
    const inner = Object.entries(properties as Record<string, TSchema>);
    return {
      type,
      properties: Object.fromEntries(inner.map(([name, property]) => [name, outline(property, depth - 1)])),
      ...(required === undefined ? {} : { required }),
    };
  }
  if (type === 'array' && items !== undefined) return { type, items: typeOnly(items as TSchema) };
  return typeOnly(schema);
}

function typeOnly(schema: TSchema): Readonly<Record<string, unknown>> {
  const { type } = schema as Record<string, unknown>; // a TypeBox schema is plain JSON
  return type === undefined ? {} : { type };
}

export function firstSentence(text: string): string {
  const sentence = /^[\s\S]*?\.(?=\s|$)/.exec(text)?.[0] ?? text;
  return sentence.length <= SENTENCE_MAX_CHARS ? sentence : `${sentence.slice(0, SENTENCE_MAX_CHARS - 1)}…`;
}
