import { COLUMNS_FIRST } from '../policy/settings.ts';
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
import { PLACED_WARNINGS_MAX, type QueryWarning } from './literals/constants.ts';
import type { Token } from './parser.ts';
import { attribute, listIn, type TreeNode, walk } from './query-tree.ts';
import type { Position } from './refusal.ts';
import { functionName } from './scope.ts';

/**
 * Where an accepted text means something else here than in standard SQL. The text runs as it is written; a warning says what differs
 * and what to write for the meaning of the standard. Everything was tried on 26.7.2.1.
 */
export interface DifferentText {
  readonly root: TreeNode;
  readonly caller: CallerText;
  /** The canonical text. */
  readonly text: string;
  readonly prefersColumns: boolean;
  /** Whether a value may be NULL by its own type; only then is it NULL where there is no row. */
  mayBeNull(value: TreeNode): boolean;
  /** The columns of a public table by its name. */
  columnsOf(table: string): readonly string[];
  positionAt(offset: number): Position;
}

export function differences(query: DifferentText): readonly QueryWarning[] {
  const nodes = [...walk(query.root)];
  return [
    ...rowsOutside(nodes, query),
    ...emptyAggregates(nodes, query),
    ...emptySums(nodes, query),
    ...hiddenColumns(nodes, query),
    ...cutDigits(nodes, query),
  ];
}

/** Functions of another row, which may not be there. */
const OTHER_ROW = /^(lag|lead|laginframe|leadinframe|nth_value)$/i;
/** With a third argument the caller says what stands for a row that is not there. */
const ARGUMENTS_WITH_DEFAULT = 3;

/** `lag(x)` of the first row is 0, an empty text or 1970-01-01, unless x may be NULL. */
function rowsOutside(nodes: readonly TreeNode[], query: DifferentText): QueryWarning[] {
  const found = new Map<string, QueryWarning>();
  for (const node of nodes) {
    const name = functionName(node);
    const [value, ...others] = listIn(node, 'ARGUMENTS');
    if (!OTHER_ROW.test(name) || value === undefined || found.has(name)) continue;
    if (others.length + 1 >= ARGUMENTS_WITH_DEFAULT || query.mayBeNull(value)) continue;
    found.set(name, {
      code: 'empty_is_not_null',
      message: `Where there is no such row, ${name} gives 0, an empty text or 1970-01-01, and not NULL as in standard SQL. For NULL write ${name}(toNullable(…)).`,
      ...firstArgument(name, query),
      ...query.caller.edits(nullableArguments(name, query.caller.tokens)),
    });
  }
  return [...found.values()];
}

/** The first argument of the first call of a function, where it is a single name. */
function firstArgument(
  name: string,
  { caller: { tokens }, positionAt }: DifferentText,
): Partial<QueryWarning> {
  const [at] = callsOf(tokens, name);
  if (at === undefined) return {};
  const value = tokens[at + 2];
  const isAlone = /^(Comma|ClosingRoundBracket)$/.test(tokens[at + 3]?.kind ?? '');
  if (value === undefined) return {};
  if (!isName(value) || !isAlone) return { near: name, position: positionAt(tokens[at]?.at ?? 0) };
  return { near: value.text, position: positionAt(value.at), replacement: `toNullable(${value.text})` };
}

/** The first argument of each call without a default; of a value that may be NULL already it changes nothing. */
function nullableArguments(name: string, tokens: readonly Token[]): Piece[] {
  return callsOf(tokens, name).flatMap((at) => {
    const depths = depthsOf(tokens.slice(at, closingOf(tokens, at + 1) + 1));
    const commas = [...depths.keys()].filter(
      (place) => depths[place] === 1 && tokens[at + place]?.kind === 'Comma',
    );
    if (commas.length + 1 >= ARGUMENTS_WITH_DEFAULT) return [];
    const first = tokens[at + 2];
    const last = tokens[at + (commas[0] ?? depths.length - 1) - 1];
    if (first === undefined || last === undefined) return [];
    return [insertion(first.at, 'toNullable('), insertion(endOf(last), ')')];
  });
}

/** Aggregates that give a value of their type for no rows. Counts and lists of nothing are 0 and [], as the caller means (docs/sql-dialect.md). */
const AGGREGATE =
  /^(?!.*or(null|default))(min|max|avg|avgweighted|any|any_value|anylast|first_value|last_value|arg(?:min|max)|median[a-z]*|quantile(?!s)[a-z0-9]*|(?:stddev|var)[a-z_]*|corr|covar[a-z_]*?)(distinct)?(if)?$/i;

/** `max(x)` of no rows is 0, an empty text or 1970-01-01, and `avg(x)` is nan. */
function emptyAggregates(nodes: readonly TreeNode[], query: DifferentText): QueryWarning[] {
  const names = new Set<string>();
  for (const node of nodes) {
    const name = functionName(node);
    if (AGGREGATE.test(name) && mayMeetNoRows(node, query)) names.add(name);
  }
  const [first, ...others] = [...names];
  if (first === undefined) return [];
  const forms = [first, ...others].slice(0, NAMED_MAX).map(orNullForm);
  return [
    {
      code: 'empty_is_not_null',
      message: `Over no rows, ${[first, ...others].slice(0, NAMED_MAX).join(', ')} ${others.length === 0 ? 'gives' : 'give'} 0, an empty text, 1970-01-01 or nan, and not NULL as in standard SQL. For NULL write ${forms.join(', ')}.`,
      ...calledNames([first, ...others], query),
    },
  ];
}

const NAMED_MAX = 5;

/** Whether an aggregate whose value cannot be NULL by its type may meet no rows. */
function mayMeetNoRows(node: TreeNode, query: DifferentText): boolean {
  const [value] = listIn(node, 'ARGUMENTS');
  if (value === undefined || query.mayBeNull(value)) return false;
  return isOverRows(node) ? mayBeEmptyFrame(node) : /if$/i.test(functionName(node)) || isOverAllRows(node);
}

const SUM = /^sum(kahan|withoverflow)?(distinct)?(if)?$/i;

/** `sum(x)` of no rows is 0. Sums that are columns of the answer differ only where the answer shows a 0. */
function emptySums(nodes: readonly TreeNode[], query: DifferentText): QueryWarning[] {
  const sums = nodes.filter((node) => SUM.test(functionName(node)) && mayMeetNoRows(node, query));
  const [first] = sums;
  if (first === undefined) return [];
  const shown = outerQueries(query.root).map((one) => listIn(one, 'PROJECTION'));
  const places = sums.map((sum) => Math.max(...shown.map((columns) => placeIn(columns, sum))));
  const name = functionName(first);
  return [
    {
      code: 'empty_is_not_null',
      message: `Over no rows, ${name} gives 0, and not NULL as in standard SQL. For NULL write ${orNullForm(name)}.`,
      ...calledNames([...new Set(sums.map(functionName))], query),
      ...(places.includes(-1) ? {} : { zeroColumns: [...new Set(places)] }),
    },
  ];
}

/** The queries whose columns the answer has: one, or the members of a union. */
function outerQueries(node: TreeNode): readonly TreeNode[] {
  return node.kind === 'UNION' ? listIn(node, 'QUERIES').flatMap(outerQueries) : [node];
}

/** -1 where it is no column of its own, or behind a `*`, which stands for several. */
function placeIn(columns: readonly TreeNode[], wanted: TreeNode): number {
  return columns.some(({ kind }) => kind === 'MATCHER') ? -1 : columns.indexOf(wanted);
}

/** The first call of the first function, and the calls of all of them as they give NULL. */
function calledNames(names: readonly string[], { caller, positionAt }: DifferentText): Partial<QueryWarning> {
  const { tokens } = caller;
  // `max` and `MAX` are two names, and have the same calls.
  const calls = [...new Set(names.flatMap((name) => tokensCalling(tokens, name)))];
  const [token] = calls;
  if (token === undefined) return {};
  return {
    near: token.text,
    position: positionAt(token.at),
    replacement: orNullForm(token.text),
    ...caller.edits(calls.map((one) => replacement(one, orNullForm(one.text)))),
  };
}

function tokensCalling(tokens: readonly Token[], name: string): readonly Token[] {
  const written = callsOf(tokens, name);
  // `max(x) FILTER (WHERE …)` is maxIf in the tree.
  const places = written.length === 0 ? callsOf(tokens, name.replace(/If$/, '')) : written;
  return places.flatMap((at) => tokens[at] ?? []);
}

/** The engine knows MIN as min, and MINOrNull not at all. */
function orNullForm(name: string): string {
  return `${name === name.toUpperCase() ? name.toLowerCase() : name}OrNull`;
}

function isOverRows(node: TreeNode): boolean {
  return node.children.some(({ section }) => section === 'WINDOW');
}

/** Whether an aggregate without GROUP BY may meet no row: a table that is read whole has some. */
function isOverAllRows(node: TreeNode): boolean {
  const query = queryOf(node);
  if (query === null || query.children.some(({ section }) => section === 'GROUP BY')) return false;
  const isNarrowed = query.children.some(({ section }) => /^(WHERE|PREWHERE)$/.test(section));
  const source = query.children.find(({ section }) => section === 'JOIN TREE');
  return isNarrowed || source?.kind !== 'IDENTIFIER';
}

/** A frame that ends before its row or begins behind it holds no rows at an end of the partition. */
function mayBeEmptyFrame(node: TreeNode): boolean {
  const over = node.children.find(({ section }) => section === 'WINDOW');
  const window = over?.kind === 'IDENTIFIER' ? windowNamed(node, attribute(over, 'identifier')) : over;
  return (
    window !== undefined &&
    (attribute(window, 'frame_begin_type') === 'offset following' ||
      attribute(window, 'frame_end_type') === 'offset preceding')
  );
}

function windowNamed(node: TreeNode, name: string | undefined): TreeNode | undefined {
  const query = queryOf(node);
  return query === null ? undefined : listIn(query, 'WINDOW').find((one) => attribute(one, 'alias') === name);
}

function queryOf(node: TreeNode): TreeNode | null {
  for (let at = node.parent; at !== null; at = at.parent) if (at.kind === 'QUERY') return at;
  return null;
}

/** In these clauses the standard reads the column, and the engine the alias. */
const CLAUSES = ['WHERE', 'GROUP BY', 'HAVING', 'QUALIFY'] as const;

/** `SELECT max(amount) AS amount … WHERE amount > 5`. */
function hiddenColumns(nodes: readonly TreeNode[], query: DifferentText): QueryWarning[] {
  if (query.prefersColumns) return [];
  const found = new Map<string, QueryWarning>();
  const known: KnownColumns = new Map();
  for (const node of nodes) {
    if (node.kind !== 'QUERY' || found.size >= PLACED_WARNINGS_MAX) continue;
    const columns = new Set(sourcesOf(node).flatMap((source) => columnsIn(source, query, known)));
    const aliases = new Set(hidingAliases(node).filter((alias) => columns.has(alias)));
    for (const clause of CLAUSES) {
      const part = node.children.find(({ section }) => section === clause);
      const name = part === undefined ? undefined : namedIn(part, aliases);
      if (name !== undefined && !found.has(name)) found.set(name, hiddenColumn(name, clause, query));
    }
  }
  return [...found.values()];
}

function hiddenColumn(name: string, clause: string, query: DifferentText): QueryWarning {
  const { caller, text, positionAt } = query;
  const [first = ''] = clause.split(' ');
  const from = caller.keywords.findIndex((token) => isWord(token, first));
  const token = caller.tokens.find((one, at) => at > from && bare(one.text) === name);
  return {
    code: 'alias_hides_column',
    message: `In ${clause}, ${name} is the alias of this query and not the column, as it is in standard SQL. Give the alias a name of its own, or write SETTINGS ${COLUMNS_FIRST} = 1.`,
    ...(token === undefined ? {} : { near: token.text, position: positionAt(token.at) }),
    suggested_sql: `${text} SETTINGS ${COLUMNS_FIRST} = 1`,
    ...caller.edits(columnsFirst(caller)),
  };
}

/** The setting as the first of the SETTINGS that the text ends with, or at its end, before a FORMAT. */
function columnsFirst({ tokens, keywords }: CallerText): Piece[] {
  const depths = depthsOf(tokens);
  const isOuter = (at: number, words: RegExp): boolean =>
    depths[at] === 0 && keywords[at]?.kind === 'BareWord' && words.test(keywords[at].text);
  const places = [...keywords.keys()];
  const union = places.findLast((at) => isOuter(at, UNITED)) ?? -1;
  const settings = places.findLast((at) => at > union && isOuter(at, /^SETTINGS$/));
  const own = settings === undefined ? undefined : tokens[settings];
  if (own !== undefined) return [insertion(endOf(own), ` ${COLUMNS_FIRST} = 1,`)];
  const tail = places.find(
    (at) => at > union && (isOuter(at, /^FORMAT$/) || tokens[at]?.kind === 'Semicolon'),
  );
  const last = tokens[(tail ?? tokens.length) - 1];
  return last === undefined ? [] : [insertion(endOf(last), ` SETTINGS ${COLUMNS_FIRST} = 1`)];
}

/** Words between queries that are joined to one. */
const UNITED = /^(UNION|EXCEPT|INTERSECT)$/;

/** Aliases of the query whose value is another than the column of that name. */
function hidingAliases(query: TreeNode): string[] {
  return [...listIn(query, 'PROJECTION'), ...listIn(query, 'WITH')].flatMap((value) => {
    const alias = attribute(value, 'alias');
    return alias === undefined || isColumnNamed(value, alias) ? [] : [alias];
  });
}

function isColumnNamed(node: TreeNode, name: string): boolean {
  return node.kind === 'IDENTIFIER' && attribute(node, 'identifier')?.split('.').at(-1) === name;
}

/** The tables and subqueries that a query reads itself. */
function sourcesOf(node: TreeNode): readonly TreeNode[] {
  return node.children
    .filter(({ section }) => /(^JOIN TREE|TABLE EXPRESSION)$/.test(section))
    .flatMap((source) => (/JOIN/.test(source.kind) ? sourcesOf(source) : [source]));
}

/** Columns by subquery. One that is being read has none yet: a recursive CTE names itself. */
type KnownColumns = Map<TreeNode, readonly string[]>;

function columnsIn(source: TreeNode, query: DifferentText, known: KnownColumns): readonly string[] {
  const before = known.get(source);
  if (before !== undefined) return before;
  known.set(source, []);
  const columns = [...new Set(readColumns(source, query, known))];
  known.set(source, columns);
  return columns;
}

function readColumns(source: TreeNode, query: DifferentText, known: KnownColumns): readonly string[] {
  const all = (nodes: readonly TreeNode[]) => nodes.flatMap((one) => columnsIn(one, query, known));
  if (source.kind === 'UNION') return all(listIn(source, 'QUERIES'));
  if (source.kind === 'QUERY')
    return listIn(source, 'PROJECTION').flatMap((one) =>
      one.kind === 'MATCHER' ? all(sourcesOf(source)) : namesOf(one),
    );
  const name = attribute(source, 'identifier') ?? '';
  const declared = declaredAs(source, name);
  return declared === undefined ? query.columnsOf(name) : all([declared]);
}

/** The subquery of a WITH that a table's place names. */
function declaredAs(source: TreeNode, name: string): TreeNode | undefined {
  for (let at = queryOf(source); at !== null; at = queryOf(at)) {
    const found = listIn(at, 'WITH').find((one) => attribute(one, 'cte_name') === name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function namesOf(projected: TreeNode): string[] {
  const name = attribute(projected, 'alias') ?? attribute(projected, 'identifier')?.split('.').at(-1);
  return name === undefined ? [] : [name];
}

/** The first of the names that a part of a query uses by itself, without its table and outside of subqueries. */
function namedIn(part: TreeNode, names: ReadonlySet<string>): string | undefined {
  if (part.kind === 'QUERY' || part.kind === 'UNION') return undefined;
  const name = part.kind === 'IDENTIFIER' ? (attribute(part, 'identifier') ?? '') : '';
  if (names.has(name)) return name;
  for (const child of part.children) {
    const found = namedIn(child, names);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The type of a CAST to a decimal: without a scale it has no digits behind the point. */
const DECIMAL = /^'(?:Nullable\()?(?:decimal|dec|numeric|fixed)(?:\((\d+)(?:, ?(\d+))?\))?\)?'/i;
const SIZED_DECIMAL = /^'(?:Nullable\()?decimal(?:32|64|128|256)\((\d+)\)\)?'/i;
/** The amounts of this index have no more. */
const AMOUNT_DIGITS = 6;

/** `x::numeric` and `CAST(x AS decimal(10, 2))` cut digits off, where databases keep or round them. */
function cutDigits(nodes: readonly TreeNode[], { caller, positionAt }: DifferentText): QueryWarning[] {
  for (const node of nodes) {
    if (!/^_?cast$/i.test(functionName(node))) continue;
    const [, target] = listIn(node, 'ARGUMENTS');
    const type = /^constant_value: ('.*'), constant_value_type/s.exec(target?.rest ?? '')?.[1] ?? '';
    const digits = SIZED_DECIMAL.exec(type)?.[1] ?? DECIMAL.exec(type)?.[2];
    if (digits === undefined && !DECIMAL.test(type)) continue;
    if (Number(digits ?? 0) >= AMOUNT_DIGITS) continue;
    const token = caller.tokens.find(({ text }) =>
      /^(?:'Nullable\(|')?(?:decimal|dec|numeric|fixed)/i.test(text),
    );
    return [
      {
        code: 'cast_cuts_digits',
        message: `A cast to ${type.slice(1, -1)} keeps ${digits ?? 0} digits behind the point and cuts the others off. Write round(x, ${digits ?? 2}) to round, or leave the cast out: amounts are exact decimals already.`,
        ...(token === undefined ? {} : { near: token.text, position: positionAt(token.at) }),
      },
    ];
  }
  return [];
}

/** The places of a function's name where it is called. */
function callsOf(tokens: readonly Token[], name: string): number[] {
  const wanted = name.toLowerCase();
  return [...tokens.keys()].filter((at) => {
    const text = tokens[at]?.text ?? '';
    return (
      text.length === name.length &&
      text.toLowerCase() === wanted &&
      tokens[at + 1]?.kind === 'OpeningRoundBracket'
    );
  });
}

function isName({ kind }: Token): boolean {
  return kind === 'BareWord' || kind === 'QuotedIdentifier';
}

function bare(word: string): string {
  return /^[`"]/.test(word) ? word.slice(1, -1) : word;
}
