/**
 * The typed SQL template. Text comes only from our own source, values are sent separately as server-side parameters, and a bare
 * string does not type-check where an `Sql` is expected. So no statement can be built from a caller's text.
 *
 *   sql`SELECT count() FROM settlements WHERE chain = ${text(chain)} AND block_number >= ${uint64(from)}`
 */

/** A value with its ClickHouse type. Only the engine substitutes it. */
export interface SqlValue {
  readonly kind: 'value';
  readonly type: string;
  readonly value: string | number | readonly string[] | readonly number[] | readonly bigint[];
}

/** A finished statement or fragment. */
export interface Sql {
  readonly kind: 'sql';
  /** Alternating text and values, so that fragments nest without clashing parameter names. */
  readonly parts: readonly (string | SqlValue)[];
  readonly __brand: 'Sql';
}

export const text = (value: string): SqlValue => ({ kind: 'value', type: 'String', value });
export const uint8 = (value: number): SqlValue => ({ kind: 'value', type: 'UInt8', value });
export const uint32 = (value: number): SqlValue => ({ kind: 'value', type: 'UInt32', value });
export const uint64 = (value: number | bigint): SqlValue => ({
  kind: 'value',
  type: 'UInt64',
  value: String(value),
});
/** Unix seconds, UTC. Padded to ten digits: the engine does not read a shorter number, such as 0, as a time. */
export const dateTime = (unixSeconds: number): SqlValue => ({
  kind: 'value',
  type: "DateTime('UTC')",
  value: String(unixSeconds).padStart(10, '0'),
});
export const texts = (values: readonly string[]): SqlValue => ({
  kind: 'value',
  type: 'Array(String)',
  value: values,
});
export const uint8s = (values: readonly number[]): SqlValue => ({
  kind: 'value',
  type: 'Array(UInt8)',
  value: values,
});
export const uint64s = (values: readonly (number | bigint)[]): SqlValue => ({
  kind: 'value',
  type: 'Array(UInt64)',
  // bigint, not text: the engine refuses quoted numbers inside an array parameter.
  value: values.map(BigInt),
});

/** Builds a statement. Only values and other `Sql` fragments can be interpolated. */
export function sql(strings: TemplateStringsArray, ...holes: readonly (SqlValue | Sql)[]): Sql {
  const parts: (string | SqlValue)[] = [strings[0] ?? ''];
  for (const [index, hole] of holes.entries()) {
    if (hole.kind === 'sql') parts.push(...hole.parts);
    else parts.push(hole);
    parts.push(strings[index + 1] ?? '');
  }
  return { kind: 'sql', parts } as unknown as Sql; // the brand exists in the type only
}

/** The empty fragment, for an absent optional condition. */
export const empty: Sql = sql``;

/** Joins conditions with AND; without any it is `1`. */
export function allOf(conditions: readonly Sql[]): Sql {
  const [first, ...rest] = conditions;
  return first === undefined ? sql`1` : rest.reduce((joined, next) => sql`${joined} AND ${next}`, first);
}

/** The wire form: text with `{p0:Type}` placeholders, and the parameters. */
export function render(statement: Sql): {
  readonly query: string;
  readonly params: Record<string, SqlValue['value']>;
} {
  const params: Record<string, SqlValue['value']> = {};
  let query = '';
  let count = 0;
  for (const part of statement.parts) {
    if (typeof part === 'string') {
      query += part;
      continue;
    }
    const name = `p${count++}`;
    params[name] = part.value;
    query += `{${name}:${part.type}}`;
  }
  return { query, params };
}

/**
 * Text from our own schema or migrations, for the few places that take no placeholder (identifiers, DDL). The name tells reviewers
 * to check that the text never comes from outside.
 */
export function trustedText(own: string): Sql {
  return { kind: 'sql', parts: [own] } as unknown as Sql;
}

/** Columns or values with commas between them; at least one. */
export function commaList(items: readonly (Sql | SqlValue)[]): Sql {
  const [first, ...rest] = items.map((item) => sql`${item}`);
  if (first === undefined) throw new TypeError('a list of nothing');
  return rest.reduce((all, next) => sql`${all}, ${next}`, first);
}

/** At least one part. */
export function unionAll(parts: readonly Sql[]): Sql {
  const [first, ...rest] = parts;
  if (first === undefined) throw new Error('a union of nothing');
  return rest.reduce((all, next) => sql`${all} UNION ALL ${next}`, first);
}
