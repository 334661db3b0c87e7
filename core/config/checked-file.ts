import { readFileSync } from 'node:fs';
import type { Static, TSchema } from '@sinclair/typebox';
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value';
import { nearest } from '../command-text.ts';
import { ENVIRONMENT } from './environment.ts';
import { configProblems, hideSecrets } from './problem.ts';

/** The object in a JSON file. Throws `UserError` when the file cannot be read or holds no JSON object. */
export function readJsonObject(path: string): Record<string, unknown> {
  const value = parseFile(path);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw configProblems([`${path} holds no JSON object`]);
  return Object.fromEntries(Object.entries(value));
}

function parseFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw configProblems([`${path} cannot be read: ${messageOf(cause)}`]);
  }
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message would quote the text, and a configuration holds secrets.
    throw configProblems([`${path} is not JSON`]);
  }
}

/** The value with defaults filled in. Throws `UserError` with every violation of the schema. */
export function checked<Schema extends TSchema>(schema: Schema, value: unknown): Static<Schema> {
  const filled: unknown = Value.Default(schema, Value.Clone(value));
  if (Value.Check(schema, filled)) return filled;
  const problems = [...Value.Errors(schema, filled)].flatMap(inOwnWords);
  throw configProblems([...new Set(problems.map(hideSecrets))]);
}

/** For a choice, lists the allowed values; for a nullable object, reports the faults inside the object. */
function inOwnWords(error: ValueError): string[] {
  const { path, message, value: found, schema } = error;
  if (error.type === ValueErrorType.ObjectAdditionalProperties) return [unknownSetting(path, schema)];
  const variants = Array.isArray(schema['anyOf']) ? (schema['anyOf'] as readonly TSchema[]) : [];
  const choices = variants.flatMap(({ const: value }) =>
    value === undefined ? [] : [JSON.stringify(value)],
  );
  if (choices.length > 0 && choices.length === variants.length)
    return [spelled(path, `must be one of ${choices.join(', ')}`, found)];
  const [inner] = error.errors
    .map((each) => [...each])
    .filter((each) => each.some((one) => one.path !== path));
  if (inner !== undefined) return inner.flatMap(inOwnWords);
  return [
    spelled(path, variants.length === 0 ? message : `must be ${variants.map(kindOf).join(' or ')}`, found),
  ];
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  array: 'a list',
  object: 'an object',
};

/** A readable name of the type that a schema allows. */
function kindOf({ type, pattern }: TSchema): string {
  const kind = KINDS[String(type)] ?? String(type);
  return typeof pattern === 'string' ? `${kind} like ${pattern}` : kind;
}

/** Never quotes the value: it may be a password in the wrong place. */
function unknownSetting(path: string, { properties = {} }: TSchema): string {
  const key = path.slice(1).replaceAll('/', '.');
  const meant = nearest(key.split('.').at(-1) ?? '', Object.keys(properties as object));
  return `${key}: there is no such setting${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

function spelled(path: string, message: string, found: unknown): string {
  const key = path.slice(1).replaceAll('/', '.');
  const [variable] = Object.entries(ENVIRONMENT).find(([, place]) => place === key) ?? [];
  const name = key === '' ? 'configuration' : key;
  return `${name}${variable === undefined ? '' : ` (${variable})`}: ${message}, not ${JSON.stringify(found) ?? 'absent'}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
