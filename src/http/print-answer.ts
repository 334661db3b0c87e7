import { type TObject, Type } from '@sinclair/typebox';
import type { FastifyReply } from 'fastify';
import type { AnyOperation } from '../operations/define.ts';

type Body = Readonly<Record<string, unknown>>;

/** Prints an answer as JSON: what its schema declares and nothing else. */
export type PrintAnswer = (reply: FastifyReply, body: Body) => string;

/**
 * Prints the shared fields of an operation's answers once and every other field each time; shared ones stand last. Null for an
 * operation without shared fields, whose answers the route prints by itself.
 */
export function sharingPrinter({ output, shared = [] }: AnyOperation): PrintAnswer | null {
  if (shared.length === 0) return null;
  const own = Type.Omit(output, [...shared]);
  const parts = shared.map((name) => partPrinter(name, output));
  return (reply, body) => {
    let text = reply.serializeInput(body, own).slice(0, -1);
    for (const print of parts) text += print(reply, body);
    return `${text}}`;
  };
}

/** The text of one field, kept for as long as the value that it was printed from lives. */
function partPrinter(name: string, { properties }: TObject): PrintAnswer {
  const schema = properties[name];
  if (schema === undefined) throw new Error(`a shared field ${name} that the answer does not have`);
  const printed = new WeakMap<object, string>();
  return (reply, body) => {
    const value = body[name];
    if (!isObject(value)) throw new Error(`the shared field ${name} is no object`);
    let text = printed.get(value);
    if (text === undefined) {
      text = `,${JSON.stringify(name)}:${reply.serializeInput(value, schema)}`;
      printed.set(value, text);
    }
    return text;
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
