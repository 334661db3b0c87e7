import { documentSchemas, type JsonObject } from '../../kit/document-schemas.ts';

/** The OpenAPI document as the fuzzer reads it: it is the only source of its questions. */

export interface DescribedParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: JsonObject;
  readonly example?: unknown;
}

export interface DescribedHeader {
  readonly required: boolean;
  /** What a value has against its schema. */
  readonly complaints: (value: string) => string[];
}

export interface DescribedResponse {
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, DescribedHeader>;
  /** By media type: what a body has against its schema; null where it is not JSON. */
  readonly content: ReadonlyMap<string, ((body: unknown) => string[]) | null>;
  /** Codes of the errors among the examples; empty for a good answer. */
  readonly codes: ReadonlySet<string>;
}

export interface DescribedOperation {
  readonly id: string;
  /** Upper case. */
  readonly method: string;
  readonly path: string;
  /** Whether it stands under the base paths of the API. */
  readonly isApi: boolean;
  /** `free`, `keyed`, `metered`, `sold`; of service routes `free`. */
  readonly priceClass: string;
  readonly parameters: readonly DescribedParameter[];
  /** The schema of a JSON body, and examples of it; null where there is no body. */
  readonly body: { readonly schema: JsonObject; readonly examples: readonly JsonObject[] } | null;
  readonly responses: ReadonlyMap<number, DescribedResponse>;
}

export function readDocument(document: JsonObject): readonly DescribedOperation[] {
  const { resolve, complaintsAt, complaints } = documentSchemas(document);

  const responseAt = (pointer: string): DescribedResponse => {
    const { target, at } = resolve(pointer);
    const { headers = {}, content = {} } = target as { headers?: JsonObject; content?: JsonObject }; // a response
    return {
      headers: new Map(
        Object.keys(headers).map((name) => [name.toLowerCase(), headerAt(`${at}/headers/${escaped(name)}`)]),
      ),
      content: new Map(
        Object.keys(content).map((type) => [
          type,
          /json$/.test(type) && type !== 'application/x-ndjson'
            ? complaintsAt(`${at}/content/${escaped(type)}/schema`)
            : null,
        ]),
      ),
      codes: new Set(Object.keys((content['application/problem+json'] as JsonObject)?.['examples'] ?? {})),
    };
  };

  const headerAt = (pointer: string): DescribedHeader => {
    const { required = false, schema } = resolve(pointer).target as {
      required?: boolean;
      schema: JsonObject;
    }; // a header
    const check = complaints(schema);
    const isNumber = schema['type'] === 'integer';
    return { required, complaints: (value) => check(isNumber ? Number(value) : value) };
  };

  const operationAt = (path: string, method: string): DescribedOperation => {
    const at = `#/paths/${escaped(path)}/${method}`;
    const described = resolve(at).target as JsonObject;
    const parameters = (described['parameters'] ?? []) as readonly unknown[];
    const body = described['requestBody'] === undefined ? null : bodyAt(`${at}/requestBody`);
    const info = described['x-payment-info'] as { readonly class: string } | undefined;
    return {
      id: String(described['operationId']),
      method: method.toUpperCase(),
      path,
      isApi: info !== undefined,
      priceClass: info?.class ?? 'free',
      parameters: parameters.map((_, index) => {
        const parameter = resolve(`${at}/parameters/${index}`).target as unknown as DescribedParameter; // one
        return { ...parameter, schema: resolved(parameter.schema) };
      }),
      body,
      responses: new Map(
        Object.keys(described['responses'] as JsonObject).map((status) => [
          Number(status),
          responseAt(`${at}/responses/${status}`),
        ]),
      ),
    };
  };

  const bodyAt = (pointer: string): DescribedOperation['body'] => {
    const { target } = resolve(`${pointer}/content/application~1json`);
    const {
      schema,
      example,
      examples = {},
    } = target as {
      schema: JsonObject;
      example?: JsonObject;
      examples?: Record<string, { value: JsonObject }>;
    }; // a media type, which has one of the two
    const only = example === undefined ? [] : [example];
    return {
      schema: resolved(schema),
      examples: [...only, ...Object.values(examples).map(({ value }) => value)],
    };
  };

  const resolved = (schema: JsonObject): JsonObject =>
    typeof schema['$ref'] === 'string' ? (resolve(schema['$ref']).target as JsonObject) : schema;

  return Object.entries(document['paths'] as JsonObject).flatMap(([path, item]) =>
    ['get', 'post', 'put', 'patch', 'delete']
      .filter((method) => method in (item as JsonObject))
      .map((method) => operationAt(path, method)),
  );
}

/** A name as a part of a JSON pointer. Source: RFC 6901 3. */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
