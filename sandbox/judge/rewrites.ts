import type { TextEdit } from '../../core/text-edits.ts';
import {
  type CallerText,
  closingOf,
  depthsOf,
  endOf,
  insertion,
  isWord,
  type Piece,
  replacement,
} from './caller-text.ts';
import { columnsOf } from './columns.ts';
import type { Token } from './parser.ts';

/**
 * How a caller's text would read less, for warnings that follow from the figures of an estimate. Each is null where the change is not
 * mechanical: a text with one SELECT from one table is changed, and no other.
 */
export interface Rewrites {
  /** Reads the last `LAST_DAYS` days alone. */
  readonly lastDays: TextEdit[] | null;
  /** Groups by ids and counts them, in place of addresses. */
  readonly ids: TextEdit[] | null;
  /** Has a LIMIT of `LIMIT_ROWS`: it lists rows as they are, and has none. */
  readonly limit: TextEdit[] | null;
}

export const NO_REWRITES: Rewrites = { lastDays: null, ids: null, limit: null };

const LAST_DAYS = 30;
/** A person does not read more rows, and the engine can stop early. */
const LIMIT_ROWS = 1_000;

interface PlainSelect {
  readonly tokens: readonly Token[];
  readonly keywords: readonly Token[];
  readonly depths: readonly number[];
  /** The place of FROM. */
  readonly from: number;
  /** The places of the clauses outside of brackets, which begin with a word of CLAUSES. */
  readonly clauses: readonly number[];
}

export function rewritesOf(
  caller: CallerText,
  { tables, walletKeys }: { readonly tables: readonly string[]; readonly walletKeys: readonly string[] },
): Rewrites {
  const select = plainSelect(caller);
  if (select === null) return NO_REWRITES;
  const editsOf = (pieces: readonly Piece[] | null): TextEdit[] | null =>
    pieces === null ? null : (caller.edits(pieces).edits ?? null);
  return {
    lastDays: editsOf(lastDays(select, tables)),
    ids: editsOf(ids(select, tables, walletKeys)),
    limit: editsOf(limit(select)),
  };
}

/** Clauses that may follow the condition, in no order. */
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
const CLAUSES: ReadonlySet<string> = new Set(['SELECT', 'FROM', 'PREWHERE', 'WHERE', ...AFTER_WHERE]);

/** Null for anything but a single SELECT from a single table: then it is plain where a condition belongs, and which column a name means. */
function plainSelect({ tokens, keywords }: CallerText): PlainSelect | null {
  const depths = depthsOf(tokens);
  const count = (word: string): number => keywords.filter((token) => isWord(token, word)).length;
  if (count('SELECT') !== 1 || count('FROM') !== 1 || count('JOIN') > 0 || count('WITH') > 0) return null;
  const from = keywords.findIndex((token) => isWord(token, 'FROM'));
  const clauses = [...keywords.keys()].filter((at) => {
    const token = keywords[at];
    return depths[at] === 0 && token?.kind === 'BareWord' && CLAUSES.has(token.text);
  });
  // `FROM t SELECT x` has its clauses in another order.
  if (depths[from] !== 0 || isWord(keywords[clauses[0] ?? -1], 'FROM')) return null;
  const table = tokens.slice(from, endOfClause({ tokens, clauses }, from));
  return table.some(({ kind }) => kind === 'Comma') ? null : { tokens, keywords, depths, from, clauses };
}

/** The place behind a clause: that of the next one, or of the end of the text. */
function endOfClause({ tokens, clauses }: Pick<PlainSelect, 'tokens' | 'clauses'>, at: number): number {
  const semicolon = tokens.findIndex(({ kind }) => kind === 'Semicolon');
  return clauses.find((clause) => clause > at) ?? (semicolon === -1 ? tokens.length : semicolon);
}

function clauseOf({ keywords, clauses }: PlainSelect, word: string): number | undefined {
  return clauses.find((at) => isWord(keywords[at], word));
}

function behind(tokens: readonly Token[], at: number): number {
  const token = tokens[at];
  if (token === undefined) throw new Error('an edit behind the end of a text');
  return endOf(token);
}

function lastDays(select: PlainSelect, tables: readonly string[]): Piece[] | null {
  const { tokens, keywords, depths, from } = select;
  const [table, ...others] = tables;
  if (table === undefined || others.length > 0) return null;
  const condition = timeCondition(columnsOf(table));
  if (condition === null) return null;
  const where = clauseOf(select, 'WHERE') ?? clauseOf(select, 'PREWHERE');
  if (where === undefined)
    return [insertion(behind(tokens, endOfClause(select, from) - 1), ` WHERE ${condition}`)];
  const end = endOfClause(select, where);
  const hasOr = keywords.some(
    (token, at) => at > where && at < end && depths[at] === 0 && isWord(token, 'OR'),
  );
  const begin = insertion(behind(tokens, where), ` ${condition} AND`);
  if (!hasOr) return [begin];
  return [
    begin,
    insertion(tokens[where + 1]?.at ?? begin.from, '('),
    insertion(behind(tokens, end - 1), ')'),
  ];
}

function timeCondition(columns: readonly string[]): string | null {
  if (columns.includes('block_time')) return `block_time >= now() - INTERVAL ${LAST_DAYS} DAY`;
  return columns.includes('day') ? `day >= today() - ${LAST_DAYS}` : null;
}

const WALLET_COLUMNS = ['payer', 'payee', 'wallet', 'counterparty'] as const;

/**
 * `uniq(payer)` counts ids, and `GROUP BY payer` groups by them and looks one address of each group up. Null where a use of a column
 * would mean something else then, or where a key would stay an address.
 */
function ids(select: PlainSelect, tables: readonly string[], walletKeys: readonly string[]): Piece[] | null {
  const pieces: Piece[] = [];
  for (const column of WALLET_COLUMNS) {
    const changed = columnById(select, column);
    if (changed === null) return null;
    if (changed.length === 0 && walletKeys.includes(`${column}_id`)) return null;
    // Tables of agents and listings have addresses without ids.
    if (changed.length > 0 && !tables.some((table) => columnsOf(table).includes(`${column}_id`))) return null;
    pieces.push(...changed);
  }
  return pieces.length === 0 ? null : pieces;
}

function columnById(select: PlainSelect, column: string): Piece[] | null {
  const { tokens, depths } = select;
  const uses = [...tokens.keys()].filter(
    (at) => tokens[at]?.kind === 'BareWord' && tokens[at]?.text === column && !isQualified(tokens, at),
  );
  const counted = uses.filter((at) => isCounted(select, at));
  const others = uses.filter((at) => !counted.includes(at));
  const isKey = others.some((at) => isWord(clauseAt(select, at), 'GROUP'));
  const byId = counted.map((at) => replacement(tokens[at], `${column}_id`));
  if (!isKey) return byId;
  const isShown = others.some(
    (at) => depths[at] === 0 && isWord(clauseAt(select, at), 'SELECT') && !isNamed(select, at),
  );
  const pieces = others.map((at) => useById(select, at, { column, isShown }));
  const known = pieces.filter((piece) => piece !== null);
  return known.length === pieces.length ? [...byId, ...known.flat()] : null;
}

/** What stands for one use of a column that is grouped by; nothing where it stays, and null where it cannot. */
function useById(
  select: PlainSelect,
  at: number,
  { column, isShown }: { readonly column: string; readonly isShown: boolean },
): Piece[] | null {
  const { tokens, depths } = select;
  const clause = clauseAt(select, at);
  if (depths[at] !== 0) return null;
  if (isWord(clause, 'GROUP')) return [replacement(tokens[at], `${column}_id`)];
  // An alias of its own stays: `payee AS shop`.
  if (isWord(clause, 'SELECT'))
    return [replacement(tokens[at], `any(${column})${isNamed(select, at) ? '' : ` AS ${column}`}`)];
  // The alias `any(…)` can be sorted by. No WHERE may use it.
  return isShown && isWord(clause, 'ORDER') ? [] : null;
}

function isQualified(tokens: readonly Token[], at: number): boolean {
  return tokens[at - 1]?.kind === 'Dot' || tokens[at + 1]?.kind === 'Dot';
}

function isNamed({ keywords }: PlainSelect, at: number): boolean {
  return isWord(keywords[at + 1], 'AS');
}

function clauseAt({ keywords, clauses }: PlainSelect, at: number): Token | undefined {
  return keywords[clauses.findLast((clause) => clause < at) ?? -1];
}

const UNIQ = /^uniq/i;
const UNIQ_OR_COUNT = /^(uniq\w*|count)$/i;

/** `uniq(payer)`, `count(DISTINCT payer)`. */
function isCounted({ tokens, keywords }: PlainSelect, at: number): boolean {
  if (tokens[at + 1]?.kind !== 'ClosingRoundBracket') return false;
  if (isWord(keywords[at - 1], 'DISTINCT')) return UNIQ_OR_COUNT.test(tokens[at - 3]?.text ?? '');
  return tokens[at - 1]?.kind === 'OpeningRoundBracket' && UNIQ.test(tokens[at - 2]?.text ?? '');
}

/** A query with one of these words does not list rows as they are, or says itself how many. */
const NO_LIST = ['LIMIT', 'OFFSET', 'FETCH', 'GROUP', 'DISTINCT', 'UNION', 'HAVING'];
const AGGREGATE =
  /^(count|sum|avg|min|max|any|uniq|quantile|median|group|arg|top|first_value|last_value|stddev|var|corr)/i;

function limit(select: PlainSelect): Piece[] | null {
  const { tokens, keywords, clauses } = select;
  const lists = !keywords.some(
    (token, at) =>
      token.kind === 'BareWord' && (NO_LIST.includes(token.text) || isAggregate(select, token.text, at)),
  );
  if (!lists) return null;
  const tail = clauses.find((at) => isWord(keywords[at], 'SETTINGS') || isWord(keywords[at], 'FORMAT'));
  const end = tail ?? endOfClause(select, clauses.at(-1) ?? 0);
  return [insertion(behind(tokens, end - 1), ` LIMIT ${LIMIT_ROWS}`)];
}

function isAggregate({ tokens }: PlainSelect, name: string, at: number): boolean {
  if (!AGGREGATE.test(name) || tokens[at + 1]?.kind !== 'OpeningRoundBracket') return false;
  // Over a window it is a value of each row.
  return !isWord(tokens[closingOf(tokens, at + 1) + 1], 'OVER');
}
