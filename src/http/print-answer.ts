import { type TObject, Type } from '@sinclair/typebox';
import type { FastifyReply } from 'fastify';
import type { AnyOperation } from '../operations/define.ts';

type Body = Readonly<Record<string, unknown>>;

/**
 * Prints an answer as JSON: what its schema declares and nothing else. Bytes, because most of them are ready: a text put together
 * would be copied to be measured and again to be sent.
 */
export type PrintAnswer = (reply: FastifyReply, body: Body) => Buffer;

/**
 * Prints the shared fields of an operation's answers once and every other field each time; shared ones stand last. Null for an
 * operation without shared fields, whose answers the route prints by itself.
 */
export function sharingPrinter({ output, shared = [] }: AnyOperation): PrintAnswer | null {
  if (shared.length === 0) return null;
  const own = Type.Omit(output, [...shared]);
  const parts = shared.map((name) => partPrinter(name, output));
  return (reply, body) =>
    Buffer.concat([
      Buffer.from(reply.serializeInput(body, own).slice(0, -1)),
      ...parts.map((print) => print(reply, body)),
      END,
    ]);
}

const END = Buffer.from('}');

/** The bytes of one field, kept for as long as the value that it was printed from lives. */
function partPrinter(name: string, { properties }: TObject): PrintAnswer {
  const schema = properties[name];
  if (schema === undefined) throw new Error(`a shared field ${name} that the answer does not have`);
  const printed = new WeakMap<object, Buffer>();
  return (reply, body) => {
    const value = body[name];
    if (!isObject(value)) throw new Error(`the shared field ${name} is no object`);
    let bytes = printed.get(value);
    if (bytes === undefined) {
      bytes = Buffer.from(`,${JSON.stringify(name)}:${reply.serializeInput(value, schema)}`);
      printed.set(value, bytes);
    }
    return bytes;
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
