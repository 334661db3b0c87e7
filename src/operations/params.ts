import { type TSchema, Type } from '@sinclair/typebox';
import type { Chain } from '../../core/domain/chains.ts';
import { fail } from '../../core/errors.ts';

/**
 * A parameter: its place, its meaning, and how it is read. `read` takes a text (HTTP) or a JSON value (other
 * surfaces) and throws `invalid_parameter`; it never guesses.
 */

/**
 * POST, PUT and PATCH carry their parameters in a JSON body. What changes something beyond what it charges says so (`changes`).
 */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export function takesBody({ method }: { readonly method: Method }): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH';
}

export interface ParamFacts {
  readonly chains: readonly Chain[];
}

export interface Param<Value = unknown> {
  /** `body`: a field of the JSON object that a POST carries. */
  readonly in: 'path' | 'query' | 'body';
  readonly description: string;
  /** The same for a model, which gets it on every turn: a sentence or two. `description` by default. */
  readonly toolText?: string;
  readonly required: boolean;
  readonly schema: TSchema;
  /** For tools, where HTTP writes the value as text: an object is JSON there. */
  readonly toolSchema?: TSchema;
  readonly example?: string | number | boolean;
  /** What a tool is called with where its caller says nothing, if that is not the default of HTTP. */
  readonly toolDefault?: number | boolean;
  /** Names that models give it, each with the other arguments that such a name implies: `payee` of a wallet says its `role`. */
  readonly otherNames?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The value that a model's word stands for, such as a chain for `Base`; the word itself where it stands for no other. */
  meant?(word: string): string;
  /** Its name among the shared parameters of the OpenAPI document, where another one has the same `name`. */
  readonly component?: string;
  /** `raw` is undefined when the caller did not send it. `name` is the parameter's name, for the message. */
  read(raw: unknown, name: string, facts: ParamFacts): Value;
}

export type Params = Readonly<Record<string, Param>>;

export type InputOf<P extends Params> = {
  readonly [Name in keyof P]: P[Name] extends Param<infer Value> ? Value : never;
};

/** A refusal that names the parameter and says what it takes. */
export function invalid(parameter: string, detail: string): Error {
  return fail('invalid_parameter', { parameter, detail });
}

/** A caller's value for a message: printable, and cut to a short length. */
export function quoted(raw: unknown): string {
  if (raw === undefined) return 'nothing';
  const text = typeof raw === 'string' ? raw : (JSON.stringify(raw) ?? String(raw));
  const printable = text.replace(/[^\x20-\x7e]/g, '?');
  return `"${printable.length > 60 ? `${printable.slice(0, 60)}…` : printable}"`;
}
/** A switch, off by default. */
export function flagParam(description: string, toolText = description): Param<boolean> {
  return {
    in: 'query',
    description,
    toolText,
    required: false,
    schema: Type.Union(
      ['true', 'false', '1', '0'].map((word) => Type.Literal(word)),
      { default: 'false' },
    ),
    read: (raw, name) => {
      if (raw === undefined || raw === false || raw === 'false' || raw === '0') return false;
      if (raw === true || raw === 'true' || raw === '1') return true;
      throw invalid(name, `${name} must be one of true, false, 1, 0, not ${quoted(raw)}.`);
    },
  };
}

export function readChoice<Choice extends string>(
  raw: unknown,
  name: string,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((candidate) => candidate === raw);
  if (choice === undefined)
    throw invalid(name, `${name} must be one of ${choices.join(', ')}, not ${quoted(raw)}.`);
  return choice;
}

/** A whole number from 1 to `max`. Refused outside that range, not clamped: less would be the answer to another question. */
export function readWhole(raw: unknown, name: string, max: number): number {
  const value = wholeOf(raw, name);
  if (value >= 1 && value <= max) return value;
  throw invalid(name, `${name} must be from 1 to ${max}.`);
}

/** A whole number, as text or JSON. */
export function wholeOf(raw: unknown, name: string): number {
  const isWhole =
    typeof raw === 'number' ? Number.isInteger(raw) : typeof raw === 'string' && /^[+-]?\d{1,30}$/.test(raw);
  if (isWhole) return Number(raw);
  throw invalid(name, `${name} must be an integer, not ${quoted(raw)}.`);
}
