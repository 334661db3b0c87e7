/** Schemas of the OpenAPI document: one that has a `title` stands there once, under that name, and is referred to. */

export type Json = Readonly<Record<string, unknown>>;

const NULL_SCHEMA: Json = { type: 'null' };

interface NamedSchema {
  /** The schema without its description, to detect two schemas of one name. */
  readonly bare: string;
  readonly schema: Json;
  description: string | undefined;
}

export class NamedSchemas {
  private readonly named = new Map<string, NamedSchema>();

  /** The schema as it stands at its place: a reference where it has a name. Throws where two schemas have one name. */
  place(schema: Json): Json {
    const { title, ...own } = schema;
    if (typeof title !== 'string') return this.inside(own);
    const { description, ...bare } = own;
    const isNullable = Array.isArray(bare['type']) && bare['type'].includes('null');
    const said = typeof description === 'string' ? description : undefined;
    const named = this.name(title, isNullable ? withoutNull(bare) : bare);
    if (!isNullable) named.description ??= said;
    const reference = { $ref: `#/components/schemas/${title}` };
    const ownWords = said === undefined || said === named.description ? {} : { description: said };
    return isNullable ? { anyOf: [reference, NULL_SCHEMA], ...ownWords } : { ...reference, ...ownWords };
  }

  /** Every named schema that was placed, by name. */
  components(): Json {
    const entries = [...this.named].sort(([a], [b]) => Number(a > b) - Number(a < b));
    return Object.fromEntries(
      entries.map(([name, { schema, description }]) => [
        name,
        description === undefined ? schema : { ...schema, description },
      ]),
    );
  }

  private name(title: string, bare: Json): NamedSchema {
    const text = JSON.stringify(bare);
    const before = this.named.get(title);
    if (before !== undefined) {
      if (before.bare !== text) throw new Error(`two different schemas are named ${title}`);
      return before;
    }
    const named: NamedSchema = { bare: text, schema: this.inside(bare), description: undefined };
    this.named.set(title, named);
    return named;
  }

  private inside(schema: Json): Json {
    const words = choicesOf(schema);
    if (words !== undefined) return words;
    return Object.fromEntries(Object.entries(schema).flatMap(([key, value]) => this.keyword(key, value)));
  }

  private keyword(key: string, value: unknown): [string, unknown][] {
    switch (key) {
      case 'properties':
        return [[key, mapValues(value as Json, (inner) => this.place(inner as Json))]]; // as JSON Schema has it
      case 'items':
      case 'additionalProperties':
      case 'contentSchema':
        return [[key, typeof value === 'object' && value !== null ? this.place(value as Json) : value]];
      case 'anyOf':
      case 'allOf':
      case 'oneOf':
        return [[key, (value as readonly Json[]).map((inner) => this.place(inner))]];
      case 'patternProperties':
        // A record of anything: generators of types understand this form of it.
        return [['additionalProperties', this.place(Object.values(value as Json)[0] as Json)]];
      default:
        return [[key, value]];
    }
  }
}

function withoutNull(schema: Json): Json {
  const types = (schema['type'] as readonly string[]).filter((type) => type !== 'null');
  const words: unknown = schema['enum'];
  const listed = Array.isArray(words) ? { enum: words.filter((word) => word !== null) } : {};
  return { ...schema, type: types.length === 1 ? types[0] : types, ...listed };
}

/** A union of words says the same as their list, in fewer characters. */
function choicesOf({ anyOf, ...rest }: Json): Json | undefined {
  if (!Array.isArray(anyOf)) return undefined;
  const words = anyOf.map((member: Json) => member['const']);
  return words.every((word) => typeof word === 'string')
    ? { type: 'string', enum: words, ...rest }
    : undefined;
}

function mapValues(object: Json, change: (value: unknown) => unknown): Json {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

/** `rate_limited`, `listFlows`: as the names of components are written. */
export function pascalCase(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}
