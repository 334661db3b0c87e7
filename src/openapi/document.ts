import type { TSchema } from '@sinclair/typebox';
import type { AnyOperation } from '../operations/define.ts';
import { takesBody } from '../operations/params.ts';
import { AddressShape, ChainShape, TimeShape, UsdShape } from '../operations/shapes.ts';
import { FailureResponses, failsOf } from './failures.ts';
import {
  COMMON_HEADERS,
  HEADERS,
  headerReferences,
  RECEIPT_HEADERS,
  REQUEST_HEADERS,
  requestHeaders,
  SharedParameters,
} from './headers.ts';
import { PAYMENT_SCHEMAS, paymentInfo, SECURITY_SCHEMES, securityOf } from './payments.ts';
import { type Json, NamedSchemas, pascalCase } from './schemas.ts';
import { servicePaths, TAGS, tagsOf } from './service.ts';

/** OpenAPI 3.1, generated purely from the declared operations and the error catalogue. */

interface OpenApiOptions {
  readonly operations: readonly AnyOperation[];
  /** Schema of the error answer. */
  readonly problem: TSchema;
  readonly version: string;
  /** '' for links relative to the document. */
  readonly publicUrl: string;
}

/** What the whole document shares. */
interface Parts {
  readonly schemas: NamedSchemas;
  readonly failures: FailureResponses;
  readonly parameters: SharedParameters;
}

const DESCRIPTION = `Read-only, but for what is below \`/account\`, \`/queries\` and \`/dashboards\`: the caller’s own keys, the list of its queries, and what it saves. Every path is served under \`/v0\` and, with the same answers, under \`/api/v0\`; what is read with GET answers HEAD as well, without a body and without a charge, and every route answers OPTIONS.

**Lists** are walked with \`next_before\` (or \`next_offset\`): an empty array is an answer, a query that was refused is 503 \`upstream_unavailable\`.

**Amounts** in atomic units are decimal strings; \`*_usd\` are numbers with at most six decimals. Times are RFC 3339 in UTC.

**Errors** are \`application/problem+json\`: branch on \`code\`. A parameter that an operation does not have is refused.

**Prices**: \`x-payment-info\` of each operation. A key opens what takes any key, the Query Units (QU) of its organization pay for the rest; without a key a call can be paid for over x402 where the deployment sells calls. A request that is refused costs nothing.

Operations are also tools of the MCP surface, \`POST /mcp\`, which describes itself; \`POST /v0/sql/jobs\` is \`run_sql\` with \`wait_seconds\` there, queries are saved and dashboards read over HTTP alone, and files are fetched over HTTP.`;

const GUIDANCE =
  'Start with GET /v0/account: it needs no key, and says who you are, what every call costs, and how it is paid. Use GET /v0/flows or /v0/transactions for settlements, /v0/merchants/{address} for what a wallet was paid, /v0/endpoints for what can be bought, and POST /v0/sql (tables: GET /v0/sql/schema, a free estimate: explain_only) for everything else. Follow next_before until it is null. On 402 sign one of accepts and send the same request again with X-PAYMENT.';

export function buildOpenApi(options: OpenApiOptions): Json {
  const { operations, problem, version, publicUrl } = options;
  const parts: Parts = {
    schemas: new NamedSchemas(),
    failures: new FailureResponses(publicUrl),
    parameters: new SharedParameters(operations),
  };
  // First, so that their own descriptions win.
  for (const shape of [ChainShape, AddressShape, TimeShape, UsdShape, ...PAYMENT_SCHEMAS])
    parts.schemas.place(shape);
  parts.schemas.place({ ...problem, title: 'Problem' });
  const paths = {
    ...operationPaths(operations, parts),
    ...servicePaths(publicUrl, parts),
  };
  return plain({
    openapi: '3.1.0',
    info: {
      title: 'Settlement Index',
      version,
      summary: 'x402 settlements, indexed and graded, as JSON.',
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
      'x-guidance': GUIDANCE,
    },
    externalDocs: { description: 'Guides and reference.', url: `${publicUrl}/docs` },
    servers: [
      { url: `${publicUrl}/v0`, description: 'The API.' },
      { url: `${publicUrl}/api/v0`, description: 'The same answers.' },
    ],
    tags: TAGS.map(({ name, description }) => ({ name, description })),
    paths,
    components: {
      schemas: parts.schemas.components(),
      responses: parts.failures.components(),
      headers: HEADERS,
      parameters: { ...parts.parameters.components(parts.schemas), ...REQUEST_HEADERS },
      securitySchemes: SECURITY_SCHEMES,
    },
  });
}

/** Operations that share a path go under the same key. */
function operationPaths(operations: readonly AnyOperation[], parts: Parts): Json {
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const method = operation.method.toLowerCase();
    paths[operation.path] = { ...paths[operation.path], [method]: operationObject(operation, parts) };
  }
  return paths;
}

/** TypeBox keeps its own marks under symbols; JSON has none. */
function plain(document: Json): Json {
  return JSON.parse(JSON.stringify(document)) as Json; // what was just printed
}

function operationObject(operation: AnyOperation, parts: Parts): Json {
  const { id, summary, description } = operation;
  return {
    operationId: id,
    tags: tagsOf(id),
    summary,
    description: `${description} ${operation.price.meaning}`,
    parameters: [...parts.parameters.of(operation, parts.schemas), ...requestHeaders(operation)],
    ...(takesBody(operation) ? { requestBody: requestBody(operation, parts) } : {}),
    security: securityOf(operation),
    'x-payment-info': paymentInfo(operation),
    responses: { ...successResponses(operation, parts), ...parts.failures.of(failsOf(operation)) },
  };
}

function requestBody({ id, params, requestExamples, file }: AnyOperation, { schemas }: Parts): Json {
  const fields = Object.entries(params).filter(([, param]) => param.in === 'body');
  const required = fields.filter(([, param]) => param.required).map(([name]) => name);
  const examples = fields.filter(([, { example }]) => example !== undefined);
  return {
    required: true,
    content: {
      'application/json': {
        schema: schemas.place({
          title: `${pascalCase(id)}Request`,
          type: 'object',
          properties: Object.fromEntries(
            fields.map(([name, { schema, description }]) => [name, { ...schema, description }]),
          ),
          ...(required.length === 0 ? {} : { required }),
          additionalProperties: false,
        }),
        ...(requestExamples === undefined
          ? { example: Object.fromEntries(examples.map(([name, { example }]) => [name, example])) }
          : { examples: requestExamples }),
      },
      ...Object.fromEntries(
        Object.entries(file?.media ?? {}).map(([type, format]) => {
          const example = file?.examples[format];
          const schema = { type: 'string', format: 'binary' };
          return [type, example === undefined ? { schema } : { schema, example }];
        }),
      ),
    },
  };
}

function successResponses(operation: AnyOperation, { schemas }: Parts): Json {
  const tagged = operation.caching === 'revalidate';
  const headers = [
    ...COMMON_HEADERS,
    ...(tagged ? ['ETag'] : []),
    ...(operation.price.class === 'free' ? [] : RECEIPT_HEADERS),
    ...(operation.repeatable ? ['Idempotent-Replayed'] : []),
  ];
  const pages = operation.paging === 'none' ? [] : ['Link'];
  return {
    [operation.status ?? 200]: {
      description: `${operation.summary}.`,
      headers: { ...headerReferences([...headers, ...pages]), ...ownHeaders(operation) },
      content: { 'application/json': jsonContent(operation, schemas), ...otherContent(operation) },
    },
    ...(operation.takesRanges === true
      ? {
          206: {
            description: 'The bytes that Range asked for.',
            headers: { ...headerReferences(headers), ...ownHeaders(operation) },
            content: otherContent(operation),
          },
        }
      : {}),
    ...(tagged
      ? {
          304: {
            description: 'Nothing changed since the tag in If-None-Match, and nothing was charged.',
            headers: headerReferences([...headers, ...pages]),
          },
        }
      : {}),
  };
}

function jsonContent(operation: AnyOperation, schemas: NamedSchemas): Json {
  const { id, output, alsoAnswers = [], example, moreExamples } = operation;
  const named = (shape: TSchema) => schemas.place({ title: `${pascalCase(id)}Answer`, ...shape });
  return {
    schema: alsoAnswers.length === 0 ? named(output) : { anyOf: [output, ...alsoAnswers].map(named) },
    ...(moreExamples === undefined
      ? { example }
      : { examples: { answer: { summary: 'The usual answer.', value: example }, ...moreExamples } }),
  };
}

function otherContent({ media = {} }: AnyOperation): Json {
  return Object.fromEntries(
    Object.entries(media)
      .filter(([type]) => type !== 'application/json')
      .map(([type, { holds, example }]) => [
        type,
        // Without a type: OpenAPI 3.1 writes bytes so.
        example === undefined
          ? { schema: { description: holds, contentMediaType: type } }
          : { schema: { type: 'string', description: holds }, example },
      ]),
  );
}

function ownHeaders({ answerHeaders = {} }: AnyOperation): Json {
  return Object.fromEntries(
    Object.entries(answerHeaders).map(([name, says]) => [
      headerName(name),
      { description: says, schema: { type: 'string' } },
    ]),
  );
}

/** As documentation writes it: `X-Row-Count`. */
function headerName(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
}

/** What an object that this operation answers with looks like. */
export function answerSchema({ output, alsoAnswers = [] }: AnyOperation): TSchema | Json {
  return alsoAnswers.length === 0 ? output : { anyOf: [output, ...alsoAnswers] };
}
