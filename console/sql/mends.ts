import type { SqlEstimate, SqlSchema, SqlWarning } from '../wire.ts';
import type { SqlQuestion } from './query-text.ts';
import { meaningfulTokens, offsetOfPlace, type Token } from './tokens.ts';

/** Changes of a query that do what a warning asks for. Pure, so that tests can run it outside a browser. */

export interface Mend {
  /** What the button says. */
  readonly label: string;
  /** The part of the question that changes. */
  readonly change: Partial<Pick<SqlQuestion, 'sql' | 'tier'>>;
}

type Placed = Token & { readonly depth: number };

/** Null where the change is not mechanical: the visitor has to decide then. */
export function mendOf(
  { code, position, near, replacement, suggested_sql: suggested }: SqlWarning,
  { sql }: Pick<SqlQuestion, 'sql'>,
  { tables, advised_tier: advised }: Pick<SqlEstimate, 'tables' | 'advised_tier'>,
  schema: Pick<SqlSchema, 'tables'> | null,
): Mend | null {
  switch (code) {
    case 'constant_matches_nothing':
      return position === undefined || replacement === undefined
        ? null
        : mended(`Write ${replacement}`, withLiteral(sql, offsetOfPlace(sql, position), replacement));
    case 'empty_is_not_null':
      return position === undefined || replacement === undefined
        ? null
        : mended(`Write ${replacement}`, withWord(sql, offsetOfPlace(sql, position), { near, replacement }));
    case 'alias_hides_column':
      return suggested === undefined ? null : mended('Read the column', withSettingsOf(sql, suggested));
    case 'format_ignored':
      return mended('Remove FORMAT', withoutTail(sql, 'FORMAT'));
    case 'settings_left_out':
      return mended('Remove SETTINGS', withoutTail(sql, 'SETTINGS'));
    case 'prewhere_as_where':
      return mended('Write WHERE', whereForPrewhere(sql));
    case 'totals_left_out':
      return mended('Use WITH ROLLUP', rollupForTotals(sql));
    case 'no_time_filter':
      return mended(`Only the last ${DAYS_OF_MEND} days`, withLastDays(sql, tables, schema));
    case 'ids_are_faster':
      return mended('Use the ids', withIds(sql));
    case 'tier_too_small':
      return { label: `Use the tier ${advised}`, change: { tier: advised } };
    default:
      return null;
  }
}

function mended(label: string, sql: string | null): Mend | null {
  return sql === null ? null : { label, change: { sql } };
}

export const DAYS_OF_MEND = 30;
/** Rows that a query without LIMIT is offered. */
export const LIMIT_OF_MEND = 1_000;

function replaced(sql: string, { from, text }: Pick<Token, 'from' | 'text'>, next: string): string {
  return `${sql.slice(0, from)}${next}${sql.slice(from + text.length)}`;
}

/** The string, or the name in quotes, at that offset. */
function withLiteral(sql: string, offset: number, literal: string): string | null {
  const token = meaningfulTokens(sql).find(({ from, text }) => offset >= from && offset < from + text.length);
  if (token === undefined || !['string', 'quoted', 'number', 'word'].includes(token.kind)) return null;
  return replaced(sql, token, literal);
}

/** The word at that offset, if it is the one that the warning names. */
function withWord(
  sql: string,
  offset: number,
  { near, replacement }: { readonly near: string | undefined; readonly replacement: string },
): string | null {
  return sql.startsWith(near ?? '', offset) ? withLiteral(sql, offset, replacement) : null;
}

/** The visitor's text, with its layout and comments, and the SETTINGS of the suggestion; where it has a clause of its own there, the suggestion. */
function withSettingsOf(sql: string, suggested: string): string {
  const isLast = (token: Placed): boolean =>
    token.depth === 0 && (isWord(token, 'SETTINGS') || isWord(token, 'FORMAT') || token.text === ';');
  const settings = meaningfulTokens(suggested).findLast((token) => isWord(token, 'SETTINGS'));
  if (settings === undefined || meaningfulTokens(sql).some(isLast)) return suggested;
  return `${sql.trimEnd()}\n${suggested.slice(settings.from)}`;
}

const isWord = (token: Placed | undefined, word: string): boolean =>
  token?.kind === 'word' && token.text.toUpperCase() === word;

/** Without a clause that stands last: FORMAT, or SETTINGS with nothing but FORMAT behind it. */
function withoutTail(sql: string, word: 'FORMAT' | 'SETTINGS'): string | null {
  const outer = meaningfulTokens(sql).filter(({ depth }) => depth === 0);
  const found = outer.findLast((token) => isWord(token, word));
  if (found === undefined) return null;
  const behind = outer.find((token) => token.from > found.from && isWord(token, 'FORMAT'));
  const rest = word === 'SETTINGS' && behind !== undefined ? sql.slice(behind.from) : '';
  return `${sql.slice(0, found.from)}${rest}`.trimEnd();
}

function whereForPrewhere(sql: string): string | null {
  const tokens = meaningfulTokens(sql);
  const found = tokens.filter((token) => isWord(token, 'PREWHERE'));
  const [prewhere] = found;
  // With a WHERE as well, the two would have to become one condition.
  if (prewhere === undefined || found.length > 1 || tokens.some((token) => isWord(token, 'WHERE')))
    return null;
  return replaced(sql, prewhere, 'WHERE');
}

function rollupForTotals(sql: string): string | null {
  const tokens = meaningfulTokens(sql);
  const totals = tokens.find((token, index) => isWord(token, 'TOTALS') && isWord(tokens[index - 1], 'WITH'));
  return totals === undefined ? null : replaced(sql, totals, 'ROLLUP');
}

/** A single SELECT from a single table: then it is plain where a condition belongs, and which column a name means. */
function isPlain(tokens: readonly Placed[]): boolean {
  const count = (word: string): number => tokens.filter((token) => isWord(token, word)).length;
  return count('SELECT') === 1 && count('FROM') === 1 && count('JOIN') === 0 && count('WITH') === 0;
}

/** The clauses that may follow the condition. */
const AFTER_WHERE = [
  'GROUP',
  'HAVING',
  'WINDOW',
  'QUALIFY',
  'ORDER',
  'LIMIT',
  'OFFSET',
  'SETTINGS',
  'FORMAT',
];

/** Where the first of some clauses begins; the end of the text where there is none. A semicolon ends the text, too. */
function beginOf(tokens: readonly Placed[], words: readonly string[], after: number, sql: string): number {
  const found = tokens.find(
    (token) =>
      token.depth === 0 &&
      token.from > after &&
      (token.text === ';' || (token.kind === 'word' && words.includes(token.text.toUpperCase()))),
  );
  if (found !== undefined) return found.from;
  const last = tokens.at(-1);
  return last === undefined ? sql.length : last.from + last.text.length;
}

function withLastDays(
  sql: string,
  tables: readonly string[],
  schema: Pick<SqlSchema, 'tables'> | null,
): string | null {
  const columns =
    schema?.tables.find(({ name }) => name === tables[0])?.columns.map(({ name }) => name) ?? [];
  const tokens = meaningfulTokens(sql);
  if (tables.length !== 1 || !isPlain(tokens)) return null;
  if (columns.includes('block_time'))
    return withCondition(sql, tokens, `block_time >= now() - INTERVAL ${DAYS_OF_MEND} DAY`);
  return columns.includes('day') ? withCondition(sql, tokens, `day >= today() - ${DAYS_OF_MEND}`) : null;
}

function withCondition(sql: string, tokens: readonly Placed[], condition: string): string | null {
  const from = tokens.find((token) => isWord(token, 'FROM'));
  if (from === undefined) return null;
  const where = tokens.find((token) => token.depth === 0 && isWord(token, 'WHERE'));
  const end = beginOf(tokens, AFTER_WHERE, (where ?? from).from, sql);
  if (where === undefined) {
    const head = sql.slice(0, end).trimEnd();
    return `${head}\nWHERE ${condition}${tail(sql, end)}`;
  }
  const old = sql.slice(where.from + where.text.length, end).trim();
  // Brackets, because the old condition may hold an OR.
  const kept = /\bor\b/i.test(old) ? `(${old})` : old;
  return `${sql.slice(0, where.from)}${where.text} ${condition} AND ${kept}${tail(sql, end)}`;
}

function tail(sql: string, from: number): string {
  const rest = sql.slice(from).trim();
  if (rest === '') return '';
  return rest.startsWith(';') ? rest : `\n${rest}`;
}

const WALLET_COLUMNS = ['payer', 'payee', 'wallet', 'counterparty'];
const UNIQ = /^(uniq\w*|count)$/i;

/**
 * `uniq(payer)` counts ids, and `GROUP BY payer` groups by them and looks one address of each group up. Only where every other use of the
 * column stays what it was.
 */
function withIds(sql: string): string | null {
  const tokens = meaningfulTokens(sql);
  if (!isPlain(tokens)) return null;
  const edits: { readonly token: Placed; readonly text: string }[] = [];
  for (const column of WALLET_COLUMNS) {
    const uses = tokens.filter(({ kind, text }) => kind === 'word' && text === column);
    for (const token of uses) {
      const text = withId(tokens, token, column);
      if (text !== null) edits.push({ token, text });
    }
  }
  if (edits.length === 0) return null;
  return edits
    .toSorted((a, b) => b.token.from - a.token.from)
    .reduce((text, { token, text: next }) => replaced(text, token, next), sql);
}

/** What stands for one use of the column; null where it stays. */
function withId(tokens: readonly Placed[], token: Placed, column: string): string | null {
  const at = tokens.indexOf(token);
  const isCounted =
    tokens[at + 1]?.text === ')' &&
    ((tokens[at - 1]?.text === '(' && /^uniq/i.test(tokens[at - 2]?.text ?? '')) ||
      (isWord(tokens[at - 1], 'DISTINCT') && UNIQ.test(tokens[at - 3]?.text ?? '')));
  if (isCounted) return `${column}_id`;
  if (token.depth > 0 || !isGrouped(tokens, column)) return null;
  const clause = tokens
    .slice(0, at)
    .findLast(({ kind, text, depth }) => kind === 'word' && depth === 0 && CLAUSES.has(text.toUpperCase()));
  if (clause === undefined) return null;
  if (isWord(clause, 'GROUP')) return `${column}_id`;
  // An alias of its own stays: `payee AS shop`.
  if (!isWord(clause, 'SELECT')) return null;
  const isNamed = isWord(tokens[at + 1], 'AS');
  return isNamed ? `any(${column})` : `any(${column}) AS ${column}`;
}

const CLAUSES = new Set(['SELECT', 'FROM', 'WHERE', ...AFTER_WHERE]);

function isGrouped(tokens: readonly Placed[], column: string): boolean {
  const group = tokens.findIndex((token) => token.depth === 0 && isWord(token, 'GROUP'));
  if (group < 0) return false;
  const rest = tokens.slice(group + 1);
  const end = rest.findIndex(({ kind, text }) => kind === 'word' && CLAUSES.has(text.toUpperCase()));
  const names = rest.slice(0, end < 0 ? rest.length : end);
  // A WHERE on the address would be read as the alias `any(…)`, which no WHERE may use.
  const where = tokens.findIndex((token) => token.depth === 0 && isWord(token, 'WHERE'));
  const isFiltered =
    where >= 0 && tokens.slice(where, group).some(({ kind, text }) => kind === 'word' && text === column);
  return (
    !isFiltered && names.some(({ kind, text, depth }) => kind === 'word' && depth === 0 && text === column)
  );
}

/**
 * LIMIT for a query that lists rows as they are, where more are read than are kept: a person does not read a million rows, and the engine can stop
 * early. Null where the query has one, or groups.
 */
export function limitMend(
  { sql }: Pick<SqlQuestion, 'sql'>,
  { rowsToRead, rowsMax }: { readonly rowsToRead: number | null; readonly rowsMax: number },
): Mend | null {
  if (rowsToRead === null || rowsToRead <= rowsMax) return null;
  const tokens = meaningfulTokens(sql);
  const listsRows = !tokens.some(
    (token, index) =>
      ['LIMIT', 'GROUP', 'DISTINCT', 'UNION', 'FETCH'].some((word) => isWord(token, word)) ||
      (token.kind === 'word' && AGGREGATE.test(token.text) && tokens[index + 1]?.text === '('),
  );
  if (!isPlain(tokens) || !listsRows) return null;
  const end = beginOf(tokens, ['SETTINGS', 'FORMAT'], 0, sql);
  return {
    label: `Add LIMIT ${LIMIT_OF_MEND}`,
    change: { sql: `${sql.slice(0, end).trimEnd()}\nLIMIT ${LIMIT_OF_MEND}${tail(sql, end)}` },
  };
}

const AGGREGATE =
  /^(count|sum|avg|min|max|any|uniq|quantile|median|group|arg|top|first_value|last_value|stddev|var|corr)/i;
