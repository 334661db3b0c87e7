import { usdNumber } from '../../../core/domain/amount.ts';
import { SQL_MEDIA } from '../sql/params.ts';
import { type SavedParameter, type SavedQuery, soldPrice } from './definition.ts';
import { QueryAnswerShape } from './shapes.ts';
import { typeInWords, type ValueType, valueTypeOf } from './values.ts';

/** The OpenAPI document of an owner's saved queries. */

type Json = Readonly<Record<string, unknown>>;

export function ownerDocument(
  owner: string,
  queries: readonly SavedQuery[],
  publicUrl: string,
): {
  readonly openapi: string;
  readonly info: Json;
  readonly servers: readonly Json[];
  readonly paths: Json;
  readonly components: Json;
} {
  return {
    openapi: '3.1.0',
    info: {
      title: `Saved queries of ${owner}`,
      version: '1',
      description:
        'Queries over x402 settlements and ERC-8004 agents. A key pays with the units of its organization; without one a call is paid for over x402: it answers 402 with what to sign.',
    },
    servers: [{ url: `${publicUrl}/v0` }],
    paths: Object.fromEntries(
      queries.map((query) => [`/q/${owner}/${query.slug}`, { get: operationOf(query) }]),
    ),
    components: {
      schemas: { QueryAnswer: JSON.parse(JSON.stringify(QueryAnswerShape)) as Json },
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function operationOf(query: SavedQuery): Json {
  const { slug, content, settings, latestVersion } = query;
  const price = soldPrice(content, settings);
  return {
    operationId: slug.replaceAll('-', '_'),
    summary: content.title === '' ? slug : content.title,
    description: `${content.description === '' ? '' : `${content.description} `}${price.meaning}`,
    security: [{ bearer: [] }, {}],
    'x-payment-info': { mode: 'fixed', currency: 'USD', amount: usdNumber(price.x402UsdMicros).toString() },
    parameters: [
      ...content.parameters.map(parameterOf),
      { name: 'version', in: 'query', schema: { type: 'integer', minimum: 1, maximum: latestVersion } },
      {
        name: 'format',
        in: 'query',
        schema: { type: 'string', enum: Object.keys(SQL_MEDIA), default: 'json' },
      },
      { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1 } },
      { name: 'offset', in: 'query', schema: { type: 'integer', minimum: 0, default: 0 } },
    ],
    responses: {
      200: {
        description: 'The rows.',
        content: Object.fromEntries(
          Object.values(SQL_MEDIA).map(({ mediaType }) => {
            const type = mediaType.split(';', 1)[0] ?? mediaType;
            const isJson = type === 'application/json';
            return [type, isJson ? { schema: { $ref: '#/components/schemas/QueryAnswer' } } : {}];
          }),
        ),
      },
      304: { description: 'Nothing changed since the tag in If-None-Match.' },
      400: { description: 'A parameter is not valid; `parameter` names it.' },
      402: { description: 'The call has a price; `accepts` says how to pay it.' },
      404: { description: 'There is no such query for this caller.' },
    },
  };
}

function parameterOf({ name, type, description, standard, example }: SavedParameter): Json {
  const valueType = valueTypeOf(type);
  const words = valueType === null ? type : `${typeInWords(valueType)} (${type})`;
  return {
    name,
    in: 'query',
    required: standard === null,
    description: description === '' ? words : `${description} ${words}`,
    schema: {
      ...schemaOf(valueType),
      ...(standard === null ? {} : { default: inJson(standard, valueType) }),
    },
    ...(example === null ? {} : { example: inJson(example, valueType) }),
  };
}

/** A value as its schema has it. */
function inJson(value: string, type: ValueType | null): unknown {
  const { type: word } = schemaOf(type);
  return word === 'string' ? value : JSON.parse(value);
}

/** As texts of a URL; lists are written in one value. */
function schemaOf(type: ValueType | null): Json {
  if (type === null || type.isList) return { type: 'string' };
  switch (type.scalar.kind) {
    case 'integer':
      // Wider ones are texts: JSON numbers lose their digits.
      return (type.scalar.bits?.count ?? 64) <= 32
        ? { type: 'integer' }
        : { type: 'string', pattern: '^[+-]?[0-9]+$' };
    case 'number':
      return { type: 'number' };
    case 'flag':
      return { type: 'boolean' };
    case 'day':
      return { type: 'string', format: 'date' };
    case 'time':
      return { type: 'string', format: 'date-time' };
    case 'decimal':
    case 'text':
      return { type: 'string' };
  }
}
