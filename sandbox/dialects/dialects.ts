import { solidTokens } from './tokens.ts';

/** The dialects that are read, and how a text is recognised as one of them. */

export const DIALECTS = ['postgresql', 'trino', 'bigquery', 'mysql'] as const;
export type Dialect = (typeof DIALECTS)[number];

/** A longer text is not tried: the grammars need longer than it is worth. */
export const TEXT_MAX_CHARS = 16_384;

type Points = Partial<Record<Dialect, number>>;

/**
 * Words and marks by which a dialect is known, and how much each says. They are searched in the tokens with one space between each two of
 * them, so no pattern has to skip blanks or quoted text.
 */
const SIGNS: readonly (readonly [RegExp, Points])[] = [
  [/::/, { postgresql: 2 }],
  [
    /\bilike\b|\bdistinct on\b|\bgenerate_series\b|\bto_char\b|~\*|\bis (not )?distinct from\b/i,
    { postgresql: 2 },
  ],
  [/\binterval '\d{1,9} ?[a-z]+'/i, { postgresql: 3 }],
  [/\bstring_agg\b|\bsplit_part\b|\bwithin group\b/i, { postgresql: 1 }],
  [/\b0x[0-9a-f]{16}/i, { trino: 2 }],
  [/\binterval '\d{1,9}' [a-z]/i, { trino: 2, postgresql: 1 }],
  [
    /\b(approx_distinct|approx_percentile|max_by|min_by|count_if|listagg|from_hex|sequence|array_join|array_agg|to_unixtime|day_of_week|url_extract_[a-z]{1,20}|try|try_cast|cardinality|element_at) \(/i,
    { trino: 2 },
  ],
  [/\bdate_(diff|add) \( '/i, { trino: 3 }],
  [/\bdate_trunc \( '/i, { postgresql: 2, trino: 2 }],
  [/ `[\w-]{1,100}\.[\w.-]{1,200}` /, { bigquery: 3 }],
  [
    /\b(safe_[a-z_]{1,40}|countif|approx_quantiles|approx_count_distinct|generate_date_array|timestamp_(sub|add|diff|trunc)|format_(date|timestamp)|net \. \w{1,40}|regexp_contains) \(|\bqualify\b|\bint64\b|\bfloat64\b|\br '/i,
    { bigquery: 2 },
  ],
  [/\bdate_(trunc|diff) \( [^',]/i, { bigquery: 3 }],
  [/`/, { mysql: 1, bigquery: 1 }],
  [
    /\b(date_format|group_concat|curdate|datediff|str_to_date|unix_timestamp|substring_index|timestampdiff|weekday|dayofweek|yearweek|truncate|last_day|dayname|monthname|instr|locate) \(|\blimit \d{1,19} ,|\bdiv\b|\brlike\b/i,
    { mysql: 2 },
  ],
  [/\b(date_sub|date_add) \(|\binterval [\w(]/i, { mysql: 1, bigquery: 1 }],
  [/\bifnull \(/i, { mysql: 1, bigquery: 1 }],
  // Double quotes hold a text after a comparison or as an argument. Elsewhere they quote a name.
  [/ (=|<>|!=|like|in \() "[^"]{0,200}" (?!\.)/i, { mysql: 2, bigquery: 2 }],
  [/"[^"%]{0,200}%|, "[^\w"]{0,200}" [,)]/, { mysql: 2, bigquery: 2 }],
  [/ (select|by|where|and|on|from|join|as|\.) "\w{1,100}" /i, { postgresql: 2, trino: 2 }],
];

/** The most probable first. A wrong guess costs time only: the next is tried if no result is accepted. */
export function likelyFirst(text: string): Dialect[] {
  const points = new Map<Dialect, number>(DIALECTS.map((dialect) => [dialect, 0]));
  const words = ` ${solidTokens(text).join(' ')} `;
  for (const [sign, given] of SIGNS) {
    if (!sign.test(words)) continue;
    for (const dialect of DIALECTS) points.set(dialect, (points.get(dialect) ?? 0) + (given[dialect] ?? 0));
  }
  return DIALECTS.toSorted((one, other) => (points.get(other) ?? 0) - (points.get(one) ?? 0));
}
