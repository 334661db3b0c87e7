import { createRequire } from 'node:module';
import { type Node, nodesOf, isNode, Untranslatable } from './nodes.ts';
import { printStatement } from './print-select.ts';
import { DIALECTS, type Dialect, respell, TEXT_MAX_CHARS } from './spelling.ts';

/** Reads a text as one of four dialects and writes it as ClickHouse. Runs in a thread of its own: the grammars can loop and run out of memory. */

export interface Translation {
  readonly dialect: Dialect;
  readonly sql: string;
}

/** Of the library, which has no types for its builds of a single dialect. */
interface Grammar {
  astify(text: string, options: { readonly database: string }): unknown;
}

const grammars = new Map<Dialect, Grammar>();
const require = createRequire(import.meta.url);

/** Loaded at first use: each takes about 15 ms and 5 MB. */
function grammarOf(dialect: Dialect): Grammar {
  const known = grammars.get(dialect);
  if (known !== undefined) return known;
  const { Parser } = require(`node-sql-parser/build/${dialect}.js`) as { Parser: new () => Grammar }; // its documented export
  const grammar = new Parser();
  grammars.set(dialect, grammar);
  return grammar;
}

/** The text of each dialect that it can be read as, the most probable first, each text once. */
export function translations(text: string): Translation[] {
  if (text.length > TEXT_MAX_CHARS) return [];
  const found: Translation[] = [];
  for (const dialect of likelyFirst(text)) {
    const sql = translated(text, dialect);
    if (sql !== null && !found.some((other) => other.sql === sql)) found.push({ dialect, sql });
  }
  return found;
}

/** A grammar that does not read the text is tried again with the spelling of the dialect: PostgreSQL's reads the most. */
function translated(text: string, dialect: Dialect): string | null {
  const spelled = respell(text, dialect);
  for (const grammar of dialect === 'postgresql' ? [dialect] : ([dialect, 'postgresql'] as const)) {
    try {
      return printStatement(statementOf(grammarOf(grammar).astify(spelled, { database: grammar })), dialect);
    } catch {
      // A syntax error of the grammar, or a construct without a rule. The next may read it.
    }
  }
  return null;
}

function statementOf(ast: unknown): Node {
  const statement = Array.isArray(ast) && ast.length === 1 ? nodesOf(ast)[0] : ast;
  if (!isNode(statement)) throw new Untranslatable('several statements');
  return isNode(statement['ast']) ? statement['ast'] : statement;
}

/** Words and marks by which a dialect is known, and how much each says. */
const SIGNS: readonly (readonly [RegExp, Partial<Record<Dialect, number>>])[] = [
  [/::/, { postgresql: 2 }],
  [/\b(not\s+)?ilike\b|\bdistinct\s+on\b|\bgenerate_series\b|\bto_char\b|!?~\*|\bis\s+(not\s+)?distinct\s+from\b/i, { postgresql: 2 }],
  [/\binterval\s+'\d+ ?[a-z]+'/i, { postgresql: 3 }],
  [/\bstring_agg\b|\bsplit_part\b|\bwithin\s+group\b/i, { postgresql: 1 }],
  [/\b0x[0-9a-f]{16,}/i, { trino: 2 }],
  [/\binterval\s+'\d+'\s+[a-z]/i, { trino: 2, postgresql: 1 }],
  [/\b(approx_distinct|approx_percentile|max_by|min_by|count_if|listagg|from_hex|sequence|array_join|array_agg|to_unixtime|day_of_week|url_extract_\w+|try|try_cast|cardinality|element_at)\s*\(/i, { trino: 2 }],
  [/\bdate_(diff|add)\s*\(\s*'/i, { trino: 3 }],
  [/\bdate_trunc\s*\(\s*'/i, { postgresql: 2, trino: 2 }],
  [/`[\w-]+\.[\w.-]+`/, { bigquery: 3 }],
  [/\b(safe_\w+|countif|approx_quantiles|approx_count_distinct|generate_date_array|timestamp_(sub|add|diff|trunc)|format_(date|timestamp)|net\.\w+|regexp_contains)\s*\(|\bqualify\b|\bint64\b|\bfloat64\b|\br'/i, { bigquery: 2 }],
  [/\bdate_(trunc|diff)\s*\(\s*[^',\s]/i, { bigquery: 3 }],
  [/`/, { mysql: 1, bigquery: 1 }],
  [/\b(date_format|group_concat|curdate|datediff|str_to_date|unix_timestamp|substring_index|timestampdiff|weekday|dayofweek|yearweek)\s*\(|\blimit\s+\d+\s*,|\bdiv\b|\brlike\b/i, { mysql: 2 }],
  [/\b(date_sub|date_add)\s*\([^()]*(\([^()]*\))?[^()]*\binterval\b|\binterval\s+[\w(]/i, { mysql: 1, bigquery: 1 }],
  [/\bifnull\s*\(/i, { mysql: 1, bigquery: 1 }],
  // A text in double quotes: after a comparison or as an argument. Elsewhere they quote a name.
  [/(=|<>|!=|\blike|\bin\s*\()\s*"[^"]*"(?!\s*\.)/i, { mysql: 2, bigquery: 2 }],
  [/"[^"]*%[^"]*"|,\s*"[^\w"]*"\s*[,)]/, { mysql: 2, bigquery: 2 }],
  [/(\b(select|by|where|and|on|from|join|as)\s+|\.)"\w+"/i, { postgresql: 2, trino: 2 }],
];

function likelyFirst(text: string): Dialect[] {
  const score = (dialect: Dialect): number =>
    SIGNS.reduce((sum, [sign, points]) => sum + (sign.test(text) ? (points[dialect] ?? 0) : 0), 0);
  return DIALECTS.toSorted((one, other) => score(other) - score(one));
}
