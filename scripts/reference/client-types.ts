import openapiTS, { astToString } from 'openapi-typescript';
import { HEAD } from './client.ts';

/**
 * `client/openapi.ts`, by `openapi-typescript`: the parameters of path and query, the answers of success, and the named shapes. The package
 * ships them, so what no type of the client is derived from (paths, headers, answers of failure, examples) is left out: 110 kB, not 343.
 */
export async function clientTypes(openApi: object): Promise<string> {
  // A copy: it is changed.
  const document = JSON.parse(JSON.stringify(openApi)) as Document; // made by our own builder
  for (const pathItem of Object.values(document.paths)) {
    for (const operation of Object.values(pathItem)) if (isOperation(operation)) strip(operation, document);
  }
  const { schemas, parameters } = document.components;
  document.components = {
    schemas,
    parameters: Object.fromEntries(Object.entries(parameters).filter(([, shared]) => !isHeader(shared))),
  };
  const nodes = await openapiTS(JSON.stringify(document), { defaultNonNullable: false });
  const text = astToString(nodes.filter((node) => 'name' in node && KEPT_TYPES.has(nameOf(node.name))));
  return `${HEAD}${compact(text)}`;
}

const KEPT_TYPES: ReadonlySet<string> = new Set(['components', 'operations']);
const SUCCESSES: ReadonlySet<string> = new Set(['200', '201']);

interface Parameter {
  readonly in?: string;
  /** Where it stands in `components`. */
  readonly $ref?: string;
}

interface Payload {
  headers?: unknown;
  readonly content?: Readonly<Record<string, { example?: unknown; examples?: unknown }>>;
}

interface Operation {
  summary?: string;
  description?: string;
  parameters?: readonly Parameter[];
  readonly requestBody?: Payload;
  responses: Readonly<Record<string, Payload>>;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  components: {
    readonly schemas: object;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

function isOperation(part: unknown): part is Operation {
  return typeof part === 'object' && part !== null && 'responses' in part;
}

function isHeader(parameter: Parameter): boolean {
  return parameter.in === 'header';
}

function strip(operation: Operation, { components }: Document): void {
  // The methods of client/operations.ts have both.
  delete operation.summary;
  delete operation.description;
  const shared = ({ $ref = '' }: Parameter): Parameter | undefined =>
    components.parameters[$ref.slice($ref.lastIndexOf('/') + 1)];
  operation.parameters = (operation.parameters ?? []).filter((one) => !isHeader(shared(one) ?? one));
  operation.responses = Object.fromEntries(
    Object.entries(operation.responses).filter(([status]) => SUCCESSES.has(status)),
  );
  for (const payload of [operation.requestBody, ...Object.values(operation.responses)]) {
    delete payload?.headers;
    for (const media of Object.values(payload?.content ?? {})) {
      delete media.example;
      delete media.examples;
    }
  }
}

function nameOf(name: unknown): string {
  return typeof name === 'object' && name !== null && 'text' in name ? String(name.text) : '';
}

/** Two spaces instead of four, and no members that say that there is nothing. */
function compact(text: string): string {
  return text
    .replaceAll(/^ +(?:header|cookie|requestBody)\?: never;\n/gm, '')
    .replaceAll(/^ +headers: \{\n +\[name: string\]: unknown;\n +\};\n/gm, '')
    .replaceAll(/^(?: {4})+/gm, (indent) => ' '.repeat(indent.length / 2));
}
