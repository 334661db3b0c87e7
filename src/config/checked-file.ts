import { readFileSync } from 'node:fs';
import type { Static, TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { ConfigProblem, hideSecrets } from './problem.ts';

/** The object in a JSON file. Throws `ConfigProblem` when it cannot be read or is none. */
export function readJsonObject(path: string): Record<string, unknown> {
  const value = parseFile(path);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ConfigProblem([`${path} holds no JSON object`]);
  return Object.fromEntries(Object.entries(value));
}

function parseFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new ConfigProblem([`${path} cannot be read: ${messageOf(cause)}`]);
  }
  try {
    return JSON.parse(text);
  } catch {
    // Not the parser's words: they quote the text, and a configuration holds secrets.
    throw new ConfigProblem([`${path} is not JSON`]);
  }
}

/** The value with defaults filled in. Throws `ConfigProblem` with everything that the schema does not allow. */
export function checked<Schema extends TSchema>(schema: Schema, value: unknown): Static<Schema> {
  const filled: unknown = Value.Default(schema, Value.Clone(value));
  if (Value.Check(schema, filled)) return filled;
  const problems = [...Value.Errors(schema, filled)].map(
    ({ path, message, value: found }) =>
      `${path === '' ? 'configuration' : path.slice(1).replaceAll('/', '.')}: ${message}, not ${JSON.stringify(found) ?? 'absent'}`,
  );
  throw new ConfigProblem([...new Set(problems.map(hideSecrets))]);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
