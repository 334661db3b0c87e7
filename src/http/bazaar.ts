import type { TSchema } from '@sinclair/typebox';
import { BASE_PATHS } from '../../core/domain/resources.ts';
import type { AnyOperation } from '../operations/define.ts';
import { type Param, takesBody } from '../operations/params.ts';

/**
 * How a route on sale is called, as an extension of its offer. Clients echo it with their payment, and facilitators list the resource in
 * their bazaar from that. Source: the extension `bazaar` in the specifications of x402-foundation/x402.
 */
export interface Discovery {
  readonly bazaar: Readonly<Record<string, unknown>>;
}

/** Made once for each operation: offers are answered often, and declarations never change. */
const made = new WeakMap<AnyOperation, Discovery>();

export function discoveryOf(operation: AnyOperation): Discovery {
  const known = made.get(operation);
  if (known !== undefined) return known;
  const discovery = { bazaar: { ...describedCall(operation), ...templateOf(operation) } };
  made.set(operation, discovery);
  return discovery;
}

/** A route with parameters in its path is one resource, whatever their values. */
function templateOf({ path }: AnyOperation): { readonly routeTemplate?: string } {
  return path.includes('{') ? { routeTemplate: `${BASE_PATHS[0]}${path.replace(/\{(\w+)\}/g, ':$1')}` } : {};
}

function describedCall({ method, params }: AnyOperation): Readonly<Record<string, unknown>> {
  const hasBody = takesBody({ method });
  const groups = [
    { name: 'pathParams', ...described(params, 'path') },
    ...(hasBody
      ? [{ name: 'body', ...described(params, 'body') }]
      : [{ name: 'queryParams', ...described(params, 'query') }]),
  ].filter(({ schema, name }) => name === 'body' || Object.keys(schema.properties).length > 0);
  const byName = <Value>(value: (group: (typeof groups)[number]) => Value): Record<string, Value> =>
    Object.fromEntries(groups.map((group) => [group.name, value(group)]));
  return {
    info: {
      input: {
        type: 'http',
        method,
        ...(hasBody ? { bodyType: 'json' } : {}),
        ...byName(({ example }) => example),
      },
      output: { type: 'json' },
    },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        input: {
          type: 'object',
          properties: {
            type: { type: 'string', const: 'http' },
            method: { type: 'string', enum: [method] },
            ...(hasBody ? { bodyType: { type: 'string', enum: ['json'] } } : {}),
            ...byName(({ schema }) => schema),
          },
          required: ['type', 'method', ...(hasBody ? ['bodyType', 'body'] : [])],
          additionalProperties: false,
        },
        output: { type: 'object', properties: { type: { type: 'string' } }, required: ['type'] },
      },
      required: ['input'],
    },
  };
}

/** The parameters of one place: a call that is valid, and what each takes. Short, because an offer is a header. */
function described(params: AnyOperation['params'], place: Param['in']) {
  const own = Object.entries(params).filter(([, param]) => param.in === place);
  const required = own.filter(([, param]) => param.required).map(([name]) => name);
  const shown = own.filter(
    ([name, { example }]) => example !== undefined && (required.includes(name) || name === 'sql'),
  );
  return {
    example: Object.fromEntries(shown.map(([name, { example }]) => [name, example])),
    schema: {
      type: 'object',
      properties: Object.fromEntries(own.map(([name, { schema }]) => [name, shortSchema(schema)])),
      ...(required.length === 0 ? {} : { required }),
    },
  };
}

function shortSchema({ type, anyOf, enum: listed }: TSchema): Readonly<Record<string, unknown>> {
  const words = Array.isArray(listed)
    ? listed
    : (anyOf as { readonly const?: unknown }[] | undefined)?.map((one) => one.const);
  if (words?.every((word) => typeof word === 'string')) return { enum: words };
  return typeof type === 'string' ? { type } : {};
}
