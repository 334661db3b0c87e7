import type { TSchema } from '@sinclair/typebox';
import type { AnyOperation } from '../operations/define.ts';
import type { Param } from '../operations/params.ts';
import { SQL_FORMATS, type SqlFormat } from '../operations/sql/params.ts';
import type { ToolWords } from './tool-words.ts';

/**
 * The schemas of a tool, projected from the declaration that REST is made of. A client hands all of them to its model on every
 * turn, so they say what a caller needs and leave the rest to the documentation: parameters have texts of their own for models,
 * written to be short and never cut; answers are described one level deep. Whatever fits the full schema fits this one.
 */

export type JsonSchema = Readonly<Record<string, unknown>> & { readonly type: 'object' };

/** What an answer over MCP can be written in; the other formats are files. */
export const MCP_SQL_FORMATS: readonly SqlFormat[] = SQL_FORMATS.filter(
  (format) => format === 'json' || format === 'json_compact',
);

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
  { schema, description, toolText, in: place }: Param,
  words: ToolWords,
): Readonly<Record<string, unknown>> {
  const isFormat = place === 'body' && name === 'format';
  const choices = isFormat ? [...MCP_SQL_FORMATS] : choicesOf(schema);
  return { ...shapeOf(schema, choices), description: toolText ?? words(description) };
}

/** The words of a switch; JSON has values for them. */
const SWITCH = 'true,false,1,0';

function shapeOf(schema: TSchema, choices: readonly string[] | undefined): Readonly<Record<string, unknown>> {
  if (choices === undefined) return bounded(schema);
  return choices.join() === SWITCH ? { type: 'boolean' } : { type: 'string', enum: choices };
}

/** The words that a parameter takes; of a union of words their list, which says the same in fewer characters. */
function choicesOf(schema: TSchema): string[] | undefined {
  const { enum: listed } = schema as Record<string, unknown>; // a TypeBox schema is plain JSON
  if (Array.isArray(listed)) return listed.filter((word) => typeof word === 'string');
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

/**
 * The lists and objects of an answer, by name; its plain values say themselves what they are. None is required: clients of the SDK's
 * first generation hold refusals, which are problem objects, against the same schema. `next_call` is ours: what to call next.
 */
export function outputSchema(operation: AnyOperation): JsonSchema {
  const { properties } = operation.output;
  const mayGoOn = operation.paging !== 'none' || 'max_rows' in operation.params;
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(
        Object.entries(properties)
          .filter(([, { type }]) => !isPlain(type))
          .map(([name, { type }]) => [name, type === undefined ? {} : { type }]),
      ),
      ...(mayGoOn ? { next_call: { type: 'object' } } : {}),
    },
  };
}

/** `type` as a schema has it: a word, or several where null is one of them. */
function isPlain(type: unknown): boolean {
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.every((one) => typeof one === 'string' && one !== 'array' && one !== 'object');
}
