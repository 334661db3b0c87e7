import { createRequire } from 'node:module';
import type { FastifyInstance, FastifySerializerCompiler } from 'fastify';

type CompilerFactory = (
  externalSchemas: Readonly<Record<string, unknown>>,
  options: object,
) => FastifySerializerCompiler<object>;

// The compiler that fastify itself uses, of its own dependencies.
const { SerializerSelector } = createRequire(import.meta.resolve('fastify'))(
  '@fastify/fast-json-stringify-compiler',
) as { SerializerSelector: () => CompilerFactory };

const compile = SerializerSelector()({}, {});
const compiled = new WeakMap<object, ReturnType<typeof compile>>();

/**
 * Makes the serializers of answers once in a worker: to compile all of them takes 100 ms of processor time, and tests build the application
 * a few hundred times. To be called before the application is ready.
 */
export function shareSerializers(app: FastifyInstance): void {
  app.setSerializerCompiler<object>((route) => {
    const serialize = compiled.get(route.schema) ?? compile(route);
    compiled.set(route.schema, serialize);
    return serialize;
  });
}
