import type { TSchema } from '@sinclair/typebox';
import { type AnyOperation, PUBLIC_URL_MARK, toolName } from '../operations/define.ts';
import type { Param } from '../operations/params.ts';
import { priceInUnits } from '../operations/prices.ts';
import { SQL_FORMATS, type SqlFormat } from '../operations/sql/params.ts';

/** An operation as a tool. */
export interface Tool {
  readonly operation: AnyOperation;
  readonly definition: ToolDefinition;
}

interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint?: boolean;
    readonly openWorldHint: false;
  };
}

/** Most tools change nothing but the caller's balance; the index is a closed world. */
function annotationsOf({ changes }: AnyOperation): ToolDefinition['annotations'] {
  if (changes === undefined) return { readOnlyHint: true, openWorldHint: false };
  return { readOnlyHint: false, destructiveHint: changes !== 'adds', openWorldHint: false };
}

/** By name; without the operations that are no tools. */
export function toolsOf(operations: readonly AnyOperation[], words: ToolWords): ReadonlyMap<string, Tool> {
  return new Map(
    operations
      .filter(({ tool }) => tool !== null)
      .map((operation) => toolOf(operation, words))
      .map((tool) => [tool.definition.name, tool]),
  );
}

export function toolOf(operation: AnyOperation, words: ToolWords): Tool {
  const definition = {
    name: toolName(operation.id),
    description: `${operation.tool} ${priceInUnits(operation.price)}`,
    inputSchema: inputSchema(operation, words),
    outputSchema: outputSchema(operation),
    annotations: annotationsOf(operation),
  };
  return { operation, definition };
}

/** The definition for a caller who reaches the service under this URL. */
export function definitionAt({ definition }: Tool, url: string): ToolDefinition {
  const { description } = definition;
  return description.includes(PUBLIC_URL_MARK)
    ? { ...definition, description: description.replaceAll(PUBLIC_URL_MARK, url) }
    : definition;
}

/** Turns the routes in a text into tools: `GET /v0/sql/schema` is `get_sql_schema`. */
export type ToolWords = (text: string) => string;

/**
 * The catalogue speaks of routes, but its readers here have tools. A route inside a URL stays: it is meant for another
 * client. So does a route that is sold, which only HTTP can buy.
 */
export function toolWordsOf(operations: readonly AnyOperation[]): ToolWords {
  const named = operations.filter(
    ({ path, price, tool }) => tool !== null && !path.includes('{') && price.class !== 'sold',
  );
  if (named.length === 0) return (text) => text;
  const tools = new Map(named.map(({ path, id }) => [path, toolName(id)]));
  return (text) => text.replace(ROUTE, (whole, path: string) => tools.get(path) ?? whole);
}

const ROUTE = /(?<![\w./:])(?:(?:GET|POST) )?(?:\/v0)?(\/[\w/-]+)/g;

/**
 * The schemas of a tool, projected from the declaration that REST is made of. A client hands all of them to its model on every
 * turn, so they say what a caller needs and leave the rest to the documentation: parameters have texts of their own for models,
 * written to be short and never cut; answers are described one level deep. Whatever fits the full schema fits this one.
 */

type JsonSchema = Readonly<Record<string, unknown>> & { readonly type: 'object' };

/** What an answer over MCP can be written in; the other formats are files. */
export const MCP_SQL_FORMATS: readonly SqlFormat[] = SQL_FORMATS.filter(
  (format) => format === 'json' || format === 'json_compact',
);

function inputSchema({ params }: AnyOperation, words: ToolWords): JsonSchema {
  // One without a text for models is for other surfaces.
  const entries = Object.entries(params).filter(([, { toolText }]) => toolText !== '');
  const required = entries.filter(([, param]) => param.required).map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, param]) => [name, inputProperty(name, param, words)])),
    ...(required.length > 0 ? { required } : {}),
  };
}

function inputProperty(
  name: string,
  { schema: ofHttp, toolSchema: schema = ofHttp, description, toolText, in: place }: Param,
  words: ToolWords,
): Readonly<Record<string, unknown>> {
  const isFormat = place !== 'path' && name === 'format';
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

/** Bounds that no caller comes near: they say nothing to a model. */
const NO_MINIMUM = 1;
const NO_MAXIMUM = 100_000;

function bounded(schema: TSchema): Readonly<Record<string, unknown>> {
  const { type, minimum, maximum } = schema as Record<string, unknown>; // a TypeBox schema is plain JSON
  return {
    type: type ?? 'string',
    ...(typeof minimum === 'number' && minimum > NO_MINIMUM ? { minimum } : {}),
    ...(typeof maximum === 'number' && maximum < NO_MAXIMUM ? { maximum } : {}),
  };
}

/**
 * The lists and objects of an answer, by name; its plain values, and `meta` and `next_call` that most have, need no description. None is
 * required: clients of the SDK's first generation validate refusals, which are problem objects, against the same schema.
 */
function outputSchema(operation: AnyOperation): JsonSchema {
  const described = Object.entries(operation.output.properties)
    .filter(([name, { type }]) => name !== 'meta' && !isPlain(type))
    .map(([name, { type }]) => [name, typeof type === 'string' ? { type } : {}] as const);
  return {
    type: 'object',
    ...(described.length === 0 ? {} : { properties: Object.fromEntries(described) }),
  };
}

/** `type` as a schema has it: a word, or several where null is one of them. */
function isPlain(type: unknown): boolean {
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.every((one) => typeof one === 'string' && one !== 'array' && one !== 'object');
}
