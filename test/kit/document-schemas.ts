import { closed, newAjv } from './answer-schema.ts';

/** Schemas inside of an OpenAPI document, each under its place. */

export type JsonObject = Readonly<Record<string, unknown>>;

export type Complaints = (value: unknown) => string[];

export interface DocumentSchemas {
  /** What stands at `#/…`, and where it really stands when that is a reference. */
  resolve(pointer: string): { readonly target: unknown; readonly at: string };
  /** What a value has against the schema at a place; nothing undeclared may be in it. */
  complaintsAt(pointer: string): Complaints;
  /** What a value has against a schema that refers into the document. */
  complaints(schema: JsonObject): Complaints;
}

const DOCUMENT = 'https://openapi.invalid/document';

export function documentSchemas(document: JsonObject): DocumentSchemas {
  const ajv = newAjv();
  ajv.addSchema(closed(document) as object, DOCUMENT);
  const compiled = new Map<string, Complaints>();

  const resolve = (pointer: string): { readonly target: unknown; readonly at: string } => {
    let target: unknown = document;
    let at = '#';
    for (const part of pointer.split('/').slice(1)) {
      ({ target, at } = followed(target, at));
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
      if (typeof target !== 'object' || target === null || !(name in target))
        throw new Error(`nothing stands at ${pointer}`);
      target = (target as JsonObject)[name];
      at = `${at}/${part}`;
    }
    return followed(target, at);
  };

  const followed = (target: unknown, at: string): { readonly target: unknown; readonly at: string } => {
    const reference = (target as { $ref?: unknown } | null)?.$ref;
    return typeof reference === 'string' ? resolve(reference) : { target, at };
  };

  const complaintsAt = (place: string): Complaints => {
    const { at: pointer } = resolve(place);
    let check = compiled.get(pointer);
    if (check === undefined) {
      const validate = ajv.compile({ $ref: `${DOCUMENT}${pointer}` });
      check = (value) => {
        validate(value);
        return (validate.errors ?? []).map(
          ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
        );
      };
      compiled.set(pointer, check);
    }
    return check;
  };

  const complaints = (schema: JsonObject): Complaints => {
    const validate = ajv.compile(absolute(closed(schema)) as object);
    return (value) => {
      validate(value);
      return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
    };
  };

  return { resolve, complaintsAt, complaints };
}

/** References into the document, for a schema that does not stand in it. */
function absolute(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(absolute);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string' && value.startsWith('#')
        ? `${DOCUMENT}${value}`
        : absolute(value),
    ]),
  );
}
