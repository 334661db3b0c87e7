import { createRequire } from 'node:module';
import type Ajv2020 from 'ajv/dist/2020.js';
import type addFormats from 'ajv-formats';

// Both packages are CommonJS whose types and default export disagree under NodeNext.
const require = createRequire(import.meta.url);
const AjvClass = require('ajv/dist/2020.js') as typeof Ajv2020.default;
const formats = require('ajv-formats') as typeof addFormats.default;

/** Of JSON Schema 2020-12, with formats. */
export function newAjv(): Ajv2020.default {
  return formats(new AjvClass({ strict: false, allErrors: true }));
}

/** Compiling takes a hundred times as long as checking. */
const COMPILED = new WeakMap<object, ReturnType<Ajv2020.default['compile']>>();

/** What a value has against a schema; nothing undeclared may be in it. Empty when it fits. */
export function complaints(schema: object, value: unknown): string[] {
  let validate = COMPILED.get(schema);
  if (validate === undefined) {
    validate = newAjv().compile(closed(schema) as object);
    COMPILED.set(schema, validate);
  }
  validate(value);
  return (validate.errors ?? []).map(
    (error) => `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`,
  );
}

/** The schema with `additionalProperties: false` on every object that does not say itself what it may have. */
export function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return 'properties' in inner && !('additionalProperties' in inner)
    ? { ...inner, additionalProperties: false }
    : inner;
}
