import { PUBLISHED_DATABASE } from '../../clickhouse/catalogue/tables.ts';
import { PUBLIC_TABLE_NAMES, PUBLIC_TABLES, type PublicTableName } from '../../core/domain/public-tables.ts';
import { type SqlSetting, TABLE_FILTERS, timeZoneOf } from '../policy/settings.ts';
import { readTableFilters } from '../policy/table-filters.ts';
import { bare } from './client-text.ts';
import { isProblem, type Parsed, type SqlParser, type Token } from './parser.ts';
import { refuse } from './refusal.ts';

/**
 * What a client asks of tables apart from its text: conditions on their rows (`additional_table_filters`, which Grafana sends), and a time
 * zone (`session_timezone`). A table that the text names is replaced by a subquery over it, and the whole is judged like any other text, so
 * neither can reach more than the text itself could.
 */

export interface StandIns {
  readonly text: string;
  /** How often each table was replaced; the tree must name it as often (rule `stand-ins`), so that none was missed. */
  readonly replaced: ReadonlyMap<string, number>;
}

/** Null where the settings ask nothing of the tables of the text. Throws `Refused` (`settings`). */
export async function withStandIns(
  { canonical, tokens }: Parsed,
  settings: readonly SqlSetting[],
  parser: SqlParser,
): Promise<StandIns | null> {
  const filters = filtersOf(settings);
  const zone = timeZoneOf(settings);
  if (filters.size === 0 && zone === null) return null;
  const subqueries = new Map<string, string | null>();
  const replaced = new Map<string, number>();
  const parts: string[] = [];
  const bytes = Buffer.from(canonical);
  let done = 0;
  for (const [at, token] of tokens.entries()) {
    if (!isTable(tokens, at)) continue;
    const table = bare(token);
    if (!isPublic(table)) continue;
    if (!subqueries.has(table))
      subqueries.set(table, await subqueryOf(table, filters.get(table), zone, parser));
    const subquery = subqueries.get(table);
    if (subquery === null || subquery === undefined) continue;
    replaced.set(table, (replaced.get(table) ?? 0) + 1);
    const isNamed = isWord(tokens[at - 1], 'IN') || isWord(tokens[at + 1], 'AS');
    parts.push(
      bytes.subarray(done, token.at).toString('utf8'),
      `(${subquery})`,
      isNamed ? '' : ` AS ${table}`,
    );
    done = token.at + Buffer.byteLength(token.text);
  }
  if (replaced.size === 0) return null;
  return { text: parts.join('') + bytes.subarray(done).toString('utf8'), replaced };
}

/** By table; the last setting holds, as in ClickHouse. */
function filtersOf(settings: readonly SqlSetting[]): ReadonlyMap<string, string> {
  const value = settings.findLast(({ name }) => name === TABLE_FILTERS)?.value ?? '{}';
  const filters = new Map<string, string>();
  for (const [name, condition] of readTableFilters(value) ?? []) {
    const table = name.startsWith(`${PUBLISHED_DATABASE}.`)
      ? name.slice(PUBLISHED_DATABASE.length + 1)
      : name;
    if (!isPublic(table))
      refuse('settings', {
        near: TABLE_FILTERS,
        detail: `${TABLE_FILTERS} names ${name.slice(0, 60)}, which is no public table.`,
      });
    filters.set(table, condition);
  }
  return filters;
}

/** The engine's own text of it; null where the table has nothing to replace. */
async function subqueryOf(
  table: PublicTableName,
  condition: string | undefined,
  zone: string | null,
  parser: SqlParser,
): Promise<string | null> {
  const times =
    zone === null ? [] : PUBLIC_TABLES[table].columns.filter(({ type }) => type.includes('DateTime'));
  if (condition === undefined && times.length === 0) return null;
  const shown = times.map(({ name }) => `toTimeZone(${name}, '${zone}') AS ${name}`);
  const from = `SELECT *${shown.length === 0 ? '' : ` REPLACE (${shown.join(', ')})`} FROM ${table}`;
  const parsed = await parser.parse(condition === undefined ? from : `${from} WHERE (${condition})`);
  if (isProblem(parsed) || (condition !== undefined && hasMoreThanWhere(parsed.tokens)))
    return refuse('settings', {
      near: TABLE_FILTERS,
      detail: `The condition of ${TABLE_FILTERS} for ${table} is no condition of a WHERE.`,
    });
  return parsed.canonical;
}

/** Whether anything stands behind the condition: it closed the bracket that was put around it. */
function hasMoreThanWhere(tokens: readonly Token[]): boolean {
  let depth = 0;
  return tokens.some((token) => {
    if (token.kind.startsWith('Opening')) depth += 1;
    else if (token.kind.startsWith('Closing')) depth -= 1;
    return depth === 0 && token.kind === 'BareWord' && BEHIND_WHERE.test(token.text);
  });
}

const BEHIND_WHERE =
  /^(GROUP|HAVING|WINDOW|QUALIFY|ORDER|LIMIT|OFFSET|FETCH|SETTINGS|UNION|EXCEPT|INTERSECT|FORMAT|INTO|PREWHERE)$/;

function isTable(tokens: readonly Token[], at: number): boolean {
  const [token, next] = [tokens[at], tokens[at + 1]];
  if (token?.kind !== 'BareWord' && token?.kind !== 'QuotedIdentifier') return false;
  if (next?.kind === 'Dot' || next?.kind === 'OpeningRoundBracket') return false;
  return isTablePlaceAt(tokens, at);
}

/** Whether a name at that place of canonical text is a table's: behind FROM, JOIN, a comma of a FROM, or IN. */
export function isTablePlaceAt(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1];
  if (['FROM', 'JOIN', 'IN'].some((word) => isWord(before, word))) return true;
  return before?.kind === 'Comma' && isInFrom(tokens, at);
}

/** Whether the clause that the comma before `at` belongs to is a FROM. */
function isInFrom(tokens: readonly Token[], at: number): boolean {
  let depth = 0;
  for (let index = at - 1; index >= 0; index -= 1) {
    const token = tokens[index];
    if (token === undefined) return false;
    if (token.kind.startsWith('Closing')) depth += 1;
    else if (token.kind.startsWith('Opening')) depth -= 1;
    if (depth < 0) return false;
    if (depth === 0 && token.kind === 'BareWord' && CLAUSE.test(token.text)) return token.text === 'FROM';
  }
  return false;
}

const CLAUSE =
  /^(SELECT|FROM|WHERE|PREWHERE|GROUP|HAVING|WINDOW|QUALIFY|ORDER|LIMIT|OFFSET|WITH|ON|USING|BY)$/;

function isWord(token: Token | undefined, word: string): boolean {
  return token?.kind === 'BareWord' && token.text === word;
}

function isPublic(name: string): name is PublicTableName {
  return (PUBLIC_TABLE_NAMES as readonly string[]).includes(name);
}
