/** The text of a query: its placeholders, and the link that shares it. Pure, so that tests can run it outside a browser. */

/** A query with everything that belongs to it. */
export interface SqlQuestion {
  readonly sql: string;
  readonly tier: string;
  /** Values of the placeholders, as texts. */
  readonly params: Readonly<Record<string, string>>;
}

export interface Placeholder {
  readonly name: string;
  readonly type: string;
}

/** A placeholder, or else a string, a quoted name or a comment, whose braces are none. */
const PLACEHOLDER_OR_TEXT =
  /\{\s*([A-Za-z_]\w*)\s*:([^{}]*)\}|'(?:[^'\\]|\\[\s\S])*(?:'|\\?$)|"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|`(?:[^`\\]|\\[\s\S])*(?:`|\\?$)|--[^\n]*|#[ !][^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;

/** The placeholders `{name:Type}` of a query, each name once, in the order of the text. */
export function findPlaceholders(sql: string): readonly Placeholder[] {
  const found = new Map<string, Placeholder>();
  for (const [, name, spaced = ''] of sql.matchAll(PLACEHOLDER_OR_TEXT)) {
    const type = spaced.trim();
    if (name !== undefined && type !== '' && !found.has(name)) found.set(name, { name, type });
  }
  return [...found.values()];
}

/** The text without strings, quoted names, comments and placeholders, in which words look like those of the query. */
export function bareText(sql: string): string {
  return sql.replaceAll(PLACEHOLDER_OR_TEXT, ' ');
}

/** The values of the placeholders in the text. A missing one is left out; the API then names it in its error. */
export function valuesFor(
  sql: string,
  values: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const names = findPlaceholders(sql).map(({ name }) => name);
  return Object.fromEntries(names.flatMap((name) => (name in values ? [[name, values[name] ?? '']] : [])));
}

/** Whether stored data is a query. */
export function isQuestion(value: unknown): value is SqlQuestion {
  return (
    typeof value === 'object' &&
    value !== null &&
    'sql' in value &&
    typeof value.sql === 'string' &&
    'tier' in value &&
    typeof value.tier === 'string' &&
    'params' in value &&
    typeof value.params === 'object' &&
    value.params !== null
  );
}

const PARAM_PREFIX = 'p.';
const CHART_FIELD = 'chart';
export const DEFAULT_TIER = 'standard';

/**
 * A query as the fragment of an address, which browsers never send to a server: `#q=SELECT+1&tier=standard&p.wallet=0x…`. It never holds
 * a key.
 */
export function fragmentOf({ sql, tier, params }: SqlQuestion, chart: string | null = null): string {
  const fields = new URLSearchParams({ q: sql });
  if (tier !== DEFAULT_TIER) fields.set('tier', tier);
  for (const [name, value] of Object.entries(params)) fields.set(`${PARAM_PREFIX}${name}`, value);
  if (chart !== null) fields.set(CHART_FIELD, chart);
  return `#${fields.toString()}`;
}

/** The query of a fragment; null where it holds none. */
export function readFragment(fragment: string): (SqlQuestion & { readonly chart: string | null }) | null {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''));
  const sql = fields.get('q');
  if (sql === null) return null;
  const params = [...fields].flatMap(([name, value]) =>
    name.startsWith(PARAM_PREFIX) ? [[name.slice(PARAM_PREFIX.length), value]] : [],
  );
  return {
    sql,
    tier: fields.get('tier') ?? DEFAULT_TIER,
    params: Object.fromEntries(params),
    chart: fields.get(CHART_FIELD),
  };
}
