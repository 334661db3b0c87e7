import type { Printer } from './call.ts';
import type { Dialect } from './dialects.ts';
import {
  argumentsOf,
  columnOf,
  functionName,
  isNode,
  type Node,
  nodeOf,
  nodesOf,
  onlyKnown,
  subqueryOf,
  Untranslatable,
  wordOf,
} from './nodes.ts';
import { printExpression } from './print-expression.ts';
import { type FromItem, fromItems, printFrom } from './print-from.ts';
import { printOrder, printSpecification } from './print-window.ts';
import { aliasesOf, NO_SCOPE, nameText, type Scope } from './scope.ts';
import { MARKERS } from './spelling.ts';

/** Prints a statement of a dialect's tree as ClickHouse. */
export function printStatement(ast: Node, dialect: Dialect): string {
  const printer: Printer = {
    dialect,
    expression: (node, scope) => printExpression(node, scope, printer),
    select: (inner, outer) => printQuery(inner, { outer, printer, isInner: true }),
  };
  return printQuery(ast, { outer: NO_SCOPE, printer, isInner: false });
}

interface Place {
  readonly outer: Scope;
  readonly printer: Printer;
  /** A subquery or a WITH: its columns are named by others. */
  readonly isInner: boolean;
}

/** A SELECT, or several joined by UNION and the like. */
function printQuery(ast: Node, place: Place): string {
  if (ast['type'] !== 'select') throw new Untranslatable(`a statement of type ${wordOf(ast['type'])}`);
  const withs = nodesOf(ast['with']);
  const isRecursive = withs.some((item) => item['recursive'] === true);
  const head =
    withs.length === 0
      ? ''
      : `WITH ${isRecursive ? 'RECURSIVE ' : ''}${withs.map((item) => printWith(item, place)).join(',\n')}\n`;
  const parts = partsOf(ast);
  const last = parts.at(-1) ?? ast;
  if (parts.length === 1) return `${head}${printSelect({ ...ast, orderby: orderOf(ast) }, place)}`;
  // Of a union, the library keeps ORDER BY and LIMIT in its last SELECT or in `_orderby` and `_limit` of its first. ClickHouse would apply them to the last.
  const inLast = isBracketed(last) ? [] : nodesOf(last['orderby']);
  const order = [...nodesOf(ast['_orderby']), ...inLast];
  const limit = limitText(ast['_limit'], null) || (isBracketed(last) ? '' : limitText(last['limit'], null));
  const selects = parts.map((part) => {
    const text = printSelect(
      part === last && !isBracketed(last) ? { ...part, orderby: null, limit: null } : part,
      place,
    );
    return isBracketed(part) ? `(${text})` : text;
  });
  const union = selects
    .map((text, at) => (at === 0 ? text : `${setOperator(parts[at - 1]?.['set_op'])}\n${text}`))
    .join('\n');
  if (order.length === 0 && limit === '') return `${head}${union}`;
  const tail = order.length === 0 ? '' : `\nORDER BY ${printOrder(order, NO_SCOPE, place.printer)}`;
  return `${head}SELECT * FROM (\n${union}\n)${tail}${limit}`;
}

function partsOf(ast: Node): Node[] {
  const parts: Node[] = [];
  for (let part: Node | null = ast; part !== null; part = isNode(part['_next']) ? part['_next'] : null)
    parts.push(part);
  return parts;
}

function orderOf(ast: Node): readonly Node[] {
  return [...nodesOf(ast['orderby']), ...nodesOf(ast['_orderby'])];
}

function isBracketed(ast: Node): boolean {
  return ast['parentheses_symbol'] === true || ast['parentheses'] === true;
}

function setOperator(operator: unknown): string {
  const word = wordOf(operator).toUpperCase();
  if (word === 'MINUS') return 'EXCEPT DISTINCT';
  if (!/^(UNION|INTERSECT|EXCEPT)( ALL| DISTINCT)?$/.test(word)) throw new Untranslatable(word);
  // ClickHouse keeps repeated rows in these two unless they say DISTINCT.
  return /^(INTERSECT|EXCEPT)$/.test(word) ? `${word} DISTINCT` : word;
}

function printWith(item: Node, place: Place): string {
  const query = subqueryOf(item['stmt']);
  if (query === null) throw new Untranslatable('this WITH');
  const [first, ...others] = nodesOf(query['columns']);
  const marker =
    isNode(first?.['expr']) && functionName(first['expr']) === MARKERS.columns ? first['expr'] : null;
  const names = [...nodesOf(item['columns']), ...(marker === null ? [] : argumentsOf(marker))].map(
    (column) => columnOf(column)?.name ?? wordOf(column),
  );
  const list = names.length === 0 ? '' : ` (${names.map(nameText).join(', ')})`;
  const body = printQuery(marker === null ? query : { ...query, columns: others }, {
    ...place,
    isInner: true,
  });
  return `${nameText(wordOf(item['name']))}${list} AS (${body})`;
}

function printSelect(written: Node, { outer, printer, isInner }: Place): string {
  const ast = withSeriesInFrom(written);
  onlyKnown(ast, SELECT_PARTS);
  const columns = nodesOf(ast['columns']);
  const aliases = aliasesOf(columns);
  const items = fromItems(nodesOf(ast['from']), { mustBeNamed: aliases.size > 0 });
  const scope: Scope = {
    sources: items.flatMap(({ source }) => (source === null ? [] : [source])),
    aliases,
    unnested: unnestedOf(items),
    clause: 'columns',
    outer,
  };
  const later: Scope = { ...scope, clause: 'aliases' };
  const print = (node: unknown, at: Scope): string => printExpression(nodeOf(node), at, printer);
  const distinctOn = isNode(ast['distinct']) ? nodesOf(ast['distinct']['columns']) : [];
  const conditions = [
    ...(isNode(ast['where']) ? [whereText(ast['where'], scope, printer)] : []),
    ...chainConditions(items),
  ];
  const part = (word: string, node: unknown, at: Scope): string =>
    isNode(node) ? `\n${word} ${print(node, at)}` : '';
  const order = nodesOf(ast['orderby']);
  return [
    `SELECT ${isDistinct(ast) ? 'DISTINCT ' : ''}`,
    columns.map((item) => printItem(item, scope, { printer, isInner })).join(', '),
    items.length === 0 ? '' : `\nFROM ${printFrom(items, scope, printer)}`,
    conditions.length === 0 ? '' : `\nWHERE ${conditions.join(' AND ')}`,
    groupText(ast['groupby'], later, printer),
    part('HAVING', ast['having'], later),
    windowText(ast['window'], scope, printer),
    part('QUALIFY', ast['qualify'], later),
    order.length === 0 ? '' : `\nORDER BY ${printOrder(order, later, printer)}`,
    distinctOn.length === 0
      ? ''
      : `\nLIMIT 1 BY ${distinctOn.map((item) => print(item['expr'] ?? item, scope)).join(', ')}`,
    limitText(ast['limit'], isNode(ast['_next']) ? null : ast['_limit']),
  ].join('');
}

const SELECT_PARTS: ReadonlySet<string> = new Set(
  'type,distinct,columns,into,from,where,groupby,having,orderby,limit,with,window,qualify,set_op,_next,_orderby,_limit,parentheses,parentheses_symbol,tableList,columnList,loc'.split(
    ',',
  ),
);

function isDistinct(ast: Node): boolean {
  const { distinct } = ast;
  return distinct === 'DISTINCT' || (isNode(distinct) && distinct['type'] === 'DISTINCT');
}

function unnestedOf(items: readonly FromItem[]): ReadonlyMap<string, string> {
  return new Map(
    items.flatMap(({ unnested }) => (unnested === null ? [] : [[unnested.table, unnested.column] as const])),
  );
}

/** `SELECT generate_series(1, 5)` without FROM makes rows: the series goes to FROM. */
function withSeriesInFrom(ast: Node): Node {
  if (nodesOf(ast['from']).length > 0) return ast;
  let series: Node | null = null;
  const replaced = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replaced);
    if (!isNode(value)) return value;
    const isSeries = value['type'] === 'function' && functionName(value) === 'generate_series';
    if (isSeries && series === null) {
      series = value;
      return { type: 'column_ref', table: null, column: 'generate_series' };
    }
    return subqueryOf(value) === null
      ? Object.fromEntries(Object.entries(value).map(([part, inner]) => [part, replaced(inner)]))
      : value;
  };
  const columns = replaced(ast['columns']);
  return series === null
    ? ast
    : { ...ast, columns, from: [{ type: 'expr', expr: series, as: 'generate_series' }] };
}

/** In brackets if a condition of ours follows. */
function whereText(where: Node, scope: Scope, printer: Printer): string {
  const text = printExpression(where, scope, printer);
  const isOr = where['type'] === 'binary_expr' && /^(OR|XOR)$/i.test(wordOf(where['operator']));
  return isOr && scope.sources.some(({ foreign }) => foreign?.chain !== undefined) ? `(${text})` : text;
}

/** A foreign table of one chain, read alone; in a join it becomes a subquery. */
function chainConditions(items: readonly FromItem[]): string[] {
  const [only, ...others] = items;
  const chain = only?.source?.foreign?.chain;
  return only === undefined || others.length > 0 || chain === undefined ? [] : [`chain = '${chain}'`];
}

function printItem(
  item: Node,
  scope: Scope,
  { printer, isInner }: { printer: Printer; isInner: boolean },
): string {
  const expression = nodeOf(item['expr'] ?? item);
  if (item['type'] === 'except') {
    const left = nodesOf(item['expr_list']).map((part) => nameText(columnOf(part['expr'])?.name ?? ''));
    return `${printExpression(expression, scope, printer)} EXCEPT (${left.join(', ')})`;
  }
  const text = printExpression(expression, scope, printer);
  const alias =
    typeof item['as'] === 'string' ? item['as'] : ownName(expression, text, { scope, printer, isInner });
  return alias === null || alias === text ? text : `${text} AS ${nameText(alias)}`;
}

/** The name that the dialect gives to a column without one, where another part of the query may use it. */
function ownName(
  expression: Node,
  text: string,
  { printer, isInner }: { scope: Scope; printer: Printer; isInner: boolean },
): string | null {
  const column = columnOf(expression);
  if (column !== null && column.name !== '*' && !/[.]/.test(column.name)) {
    const isSame =
      text === column.name || text === nameText(column.name) || text.endsWith(`.${nameText(column.name)}`);
    return isSame ? null : column.name;
  }
  const isCall = ['function', 'aggr_func', 'window_func'].includes(wordOf(expression['type']));
  return isInner && printer.dialect === 'postgresql' && isCall ? functionName(expression) : null;
}

function groupText(group: unknown, scope: Scope, printer: Printer): string {
  const columns = Array.isArray(group)
    ? nodesOf(group)
    : nodesOf(isNode(group) ? group['columns'] : undefined);
  if (columns.length === 0) return '';
  const [first] = columns;
  if (first !== undefined && columnOf(first)?.name === MARKERS.groupByAll) return '\nGROUP BY ALL';
  const modifiers = nodesOf(isNode(group) ? group['modifiers'] : undefined).map((word) =>
    wordOf(word['value']).toUpperCase(),
  );
  const list = columns.map((column) => printExpression(column, scope, printer)).join(', ');
  return `\nGROUP BY ${list}${modifiers.map((word) => ` ${word}`).join('')}`;
}

function windowText(window: unknown, scope: Scope, printer: Printer): string {
  if (!isNode(window)) return '';
  const named = nodesOf(window['expr']).map(
    (item) =>
      `${nameText(wordOf(item['name']))} AS (${printSpecification(nodeOf(item['as_window_specification']), scope, printer)})`,
  );
  return `\nWINDOW ${named.join(', ')}`;
}

/** LIMIT and OFFSET in any order; Trino keeps its LIMIT after OFFSET apart. */
function limitText(limit: unknown, other: unknown): string {
  const [first, second] = limitValues(limit);
  const separator = isNode(limit) ? limit['seperator'] : ''; // the library's spelling
  const [apart] = limitValues(other);
  if (first === undefined) return apart === undefined ? '' : `\nLIMIT ${apart}`;
  if (separator === ',') return `\nLIMIT ${second ?? ''} OFFSET ${first}`;
  if (separator !== 'offset') return `\nLIMIT ${first}`;
  if (second !== undefined) return `\nLIMIT ${first} OFFSET ${second}`;
  return `${apart === undefined ? '' : `\nLIMIT ${apart}`}${apart === undefined ? '\n' : ' '}OFFSET ${first}`;
}

function limitValues(limit: unknown): string[] {
  return nodesOf(isNode(limit) ? limit['value'] : undefined)
    .map((value) => String(value['value']))
    .filter((value) => /^\d+$/.test(value));
}
