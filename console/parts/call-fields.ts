import type { Endpoint } from '../wire.ts';

/** What a listing says of the input and output of a call, as fields. Pure. All of it is untrusted text. */

export interface CallField {
  /** Where it goes: `query`, `body`, `path`, `header`, or that it comes back: `answer`. */
  readonly place: string;
  readonly name: string;
  readonly type: string;
  /** Null where the listing does not say. */
  readonly isRequired: boolean | null;
  readonly description: string;
  /** A value for a first call; '' without one. */
  readonly example: string;
}

type Call = NonNullable<Endpoint['call']>;

/** The names of version 1 and 2 for the same places. */
const PLACES: readonly (readonly [name: string, place: string])[] = [
  ['pathParams', 'path'],
  ['queryParams', 'query'],
  ['body', 'body'],
  ['bodyFields', 'body'],
  ['headers', 'header'],
  ['headerFields', 'header'],
];
const FIELDS_MAX = 40;

export function callFields({ input, output, schema }: Call): readonly CallField[] {
  const inputs = PLACES.flatMap(([name, place]) =>
    fieldsOf(at(input, name), at(schema, 'properties', 'input', 'properties', name), place),
  );
  const answer = at(schema, 'properties', 'output', 'properties', 'example') ?? output;
  const outputs = fieldsOf(at(output, 'example'), answer, 'answer');
  return [...inputs, ...outputs].slice(0, FIELDS_MAX);
}

/** From example values, from a JSON schema, or from a field each that describes itself, as version 1 writes it. */
function fieldsOf(said: unknown, schema: unknown, place: string): CallField[] {
  const described = at(schema, 'properties');
  const required = at(schema, 'required');
  const values = isObject(said) ? said : {};
  const names = new Set([...Object.keys(isObject(described) ? described : {}), ...Object.keys(values)]);
  return [...names].map((name) => {
    const value = at(values, name);
    const own = at(described, name) ?? (isObject(value) && 'type' in value ? value : undefined);
    const isExample = value !== undefined && own !== value && !isObject(value) && !isText(value, own);
    const type = at(own, 'type') ?? (own === undefined && value !== undefined ? typeOf(value) : '');
    const isOwn = at(own, 'required');
    return {
      place,
      name,
      type: typeof type === 'string' ? type : JSON.stringify(type),
      isRequired: requiredOf(required, isOwn, name),
      description: textAt(own, 'description'),
      example: isExample ? String(value) : '',
    };
  });
}

/** Version 1 may describe a field in a text: `"city": "a town"` of a place without a schema is an example or a description. */
function isText(value: unknown, own: unknown): boolean {
  return own === undefined && typeof value === 'string' && /\s/.test(value);
}

function requiredOf(list: unknown, own: unknown, name: string): boolean | null {
  if (Array.isArray(list)) return list.includes(name);
  return typeof own === 'boolean' ? own : null;
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value;
}

function textAt(value: unknown, name: string): string {
  const text = at(value, name);
  return typeof text === 'string' ? text : '';
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The URL with the example values of its query, and the example body as JSON; null for a method without one. */
export function firstCall({ resource, method, call }: Pick<Endpoint, 'resource' | 'method' | 'call'>): {
  readonly url: string;
  readonly body: string | null;
} {
  const fields = call === null ? [] : callFields(call);
  const url = URL.canParse(resource) ? new URL(resource) : null;
  for (const { place, name, example } of fields)
    if (place === 'query' && example !== '' && url?.searchParams.has(name) === false)
      url.searchParams.set(name, example);
  const hasBody = method === 'POST' || method === 'PUT' || method === 'PATCH';
  const body = fields.filter(({ place, example }) => place === 'body' && example !== '');
  return {
    url: fields.some(({ place, example }) => place === 'query' && example !== '')
      ? (url?.href ?? resource)
      : resource,
    body: hasBody
      ? JSON.stringify(Object.fromEntries(body.map(({ name, example }) => [name, example])))
      : null,
  };
}
