/** The dialects that are read, and how a text is recognised as one of them. */

export const DIALECTS = ['postgresql', 'trino', 'bigquery', 'mysql'] as const;
export type Dialect = (typeof DIALECTS)[number];

/** A longer text is not tried: the grammars need longer than it is worth. */
export const TEXT_MAX_CHARS = 16_384;

/** Words and marks by which a dialect is known, and how much each says. */
const SIGNS: readonly (readonly [RegExp, Partial<Record<Dialect, number>>])[] = [
  [/::/, { postgresql: 2 }],
  [
    /\b(not\s+)?ilike\b|\bdistinct\s+on\b|\bgenerate_series\b|\bto_char\b|!?~\*|\bis\s+(not\s+)?distinct\s+from\b/i,
    { postgresql: 2 },
  ],
  [/\binterval\s+'\d+ ?[a-z]+'/i, { postgresql: 3 }],
  [/\bstring_agg\b|\bsplit_part\b|\bwithin\s+group\b/i, { postgresql: 1 }],
  [/\b0x[0-9a-f]{16,}/i, { trino: 2 }],
  [/\binterval\s+'\d+'\s+[a-z]/i, { trino: 2, postgresql: 1 }],
  [
    /\b(approx_distinct|approx_percentile|max_by|min_by|count_if|listagg|from_hex|sequence|array_join|array_agg|to_unixtime|day_of_week|url_extract_\w+|try|try_cast|cardinality|element_at)\s*\(/i,
    { trino: 2 },
  ],
  [/\bdate_(diff|add)\s*\(\s*'/i, { trino: 3 }],
  [/\bdate_trunc\s*\(\s*'/i, { postgresql: 2, trino: 2 }],
  [/`[\w-]+\.[\w.-]+`/, { bigquery: 3 }],
  [
    /\b(safe_\w+|countif|approx_quantiles|approx_count_distinct|generate_date_array|timestamp_(sub|add|diff|trunc)|format_(date|timestamp)|net\.\w+|regexp_contains)\s*\(|\bqualify\b|\bint64\b|\bfloat64\b|\br'/i,
    { bigquery: 2 },
  ],
  [/\bdate_(trunc|diff)\s*\(\s*[^',\s]/i, { bigquery: 3 }],
  [/`/, { mysql: 1, bigquery: 1 }],
  [
    /\b(date_format|group_concat|curdate|datediff|str_to_date|unix_timestamp|substring_index|timestampdiff|weekday|dayofweek|yearweek|truncate|last_day|dayname|monthname|instr|locate)\s*\(|\blimit\s+\d+\s*,|\bdiv\b|\brlike\b/i,
    { mysql: 2 },
  ],
  [
    /\b(date_sub|date_add)\s*\([^()]*(\([^()]*\))?[^()]*\binterval\b|\binterval\s+[\w(]/i,
    { mysql: 1, bigquery: 1 },
  ],
  [/\bifnull\s*\(/i, { mysql: 1, bigquery: 1 }],
  // A text in double quotes: after a comparison or as an argument. Elsewhere they quote a name.
  [/(=|<>|!=|\blike|\bin\s*\()\s*"[^"]*"(?!\s*\.)/i, { mysql: 2, bigquery: 2 }],
  [/"[^"]*%[^"]*"|,\s*"[^\w"]*"\s*[,)]/, { mysql: 2, bigquery: 2 }],
  [/(\b(select|by|where|and|on|from|join|as)\s+|\.)"\w+"/i, { postgresql: 2, trino: 2 }],
];

/** The most probable first. A wrong guess costs time only: the next is tried if no result is accepted. */
export function likelyFirst(text: string): Dialect[] {
  const score = (dialect: Dialect): number =>
    SIGNS.reduce((sum, [sign, points]) => sum + (sign.test(text) ? (points[dialect] ?? 0) : 0), 0);
  return DIALECTS.toSorted((one, other) => score(other) - score(one));
}
