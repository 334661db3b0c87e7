/** A column of a result, with its type as the engine prints it. */
export interface ResultColumn {
  readonly name: string;
  readonly type: string;
}

/** The engine's types as trees, for code that treats values by their type. */
export type ColumnType =
  | { readonly kind: 'leaf'; readonly text: string }
  | {
      readonly kind: 'nullable' | 'low_cardinality' | 'array';
      readonly text: string;
      readonly of: ColumnType;
    }
  | { readonly kind: 'map'; readonly text: string; readonly key: ColumnType; readonly value: ColumnType }
  | { readonly kind: 'tuple'; readonly text: string; readonly elements: readonly TupleElement[] };

export interface TupleElement {
  /** As it is written in the type, with its quotes; null in a tuple without names. */
  readonly name: string | null;
  readonly type: ColumnType;
}

const WRAPPERS: Readonly<Record<string, 'nullable' | 'low_cardinality' | 'array'>> = {
  Nullable: 'nullable',
  LowCardinality: 'low_cardinality',
  Array: 'array',
};

/** Reads a type as the engine prints it. A type that is none of the others is a leaf: aggregate states, Variant, JSON among them. */
export function columnType(printed: string): ColumnType {
  const text = printed.trim();
  const [, name = '', inner = ''] = /^(\w+)\(([\s\S]*)\)$/.exec(text) ?? [];
  const wrapper = WRAPPERS[name];
  if (wrapper !== undefined) return { kind: wrapper, text, of: columnType(inner) };
  if (name === 'Tuple') return { kind: 'tuple', text, elements: splitAt(',', inner).map(tupleElement) };
  const [key, value, ...others] = name === 'Map' ? splitAt(',', inner) : [];
  if (key !== undefined && value !== undefined && others.length === 0)
    return { kind: 'map', text, key: columnType(key), value: columnType(value) };
  return { kind: 'leaf', text };
}

/** `name Type`, or a type alone, which has no space outside its brackets. */
function tupleElement(printed: string): TupleElement {
  const [name, ...type] = splitAt(' ', printed.trim());
  return type.length === 0
    ? { name: null, type: columnType(printed) }
    : { name: name ?? null, type: columnType(type.join(' ')) };
}

/** Brackets, and names and texts in quotes, whose contents are skipped. */
const TOKENS = /`(?:[^`\\]|\\.)*`?|'(?:[^'\\]|\\.)*'?|[(), ]/gs;

/** Splits where the sign is outside of brackets and quotes. */
export function splitAt(sign: ',' | ' ', text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (token === '(') depth += 1;
    else if (token === ')') depth -= 1;
    else if (token === sign && depth === 0) {
      parts.push(text.slice(from, index));
      from = index + 1;
    }
  }
  const last = text.slice(from);
  return text === '' ? [] : [...parts, last];
}

/** The name of a tuple's element as JSON shows it. */
export function plainName(name: string): string {
  return name.startsWith('`') ? name.slice(1, -1).replace(/\\(.)/g, '$1') : name;
}
