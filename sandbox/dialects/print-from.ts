import { PUBLIC_TABLE_NAMES, type PublicTableName } from '../../core/domain/public-tables.ts';
import type { Printer } from './call.ts';
import { foreignTable } from './foreign-names.ts';
import {
  argumentsOf,
  functionName,
  isNode,
  type Node,
  nodeOf,
  nodesOf,
  subqueryOf,
  textOf,
  Untranslatable,
  wordOf,
} from './nodes.ts';
import { printExpression } from './print-expression.ts';
import { intervalOfText, unitOf } from './rules/times.ts';
import { nameText, type Scope, type Source } from './scope.ts';

/** FROM: tables by our names, series of days and numbers as subqueries, arrays as ARRAY JOIN. */

export interface FromItem {
  readonly node: Node;
  /** The table or subquery; null for an array. */
  readonly source: Source | null;
  readonly join: string;
  readonly series: Series | null;
  /** An array whose elements become rows. */
  readonly unnested: { readonly table: string; readonly column: string; readonly array: Node } | null;
}

interface Series {
  readonly from: Node;
  readonly to: Node;
  readonly step: Node | null;
  readonly table: string;
  readonly column: string;
}

export function fromItems(
  nodes: readonly Node[],
  { mustBeNamed }: { readonly mustBeNamed: boolean },
): FromItem[] {
  let isCross = false;
  return nodes.map((written, at) => {
    const { node, crossNext } = withoutJoinAlias(written);
    const join = isCross ? 'CROSS JOIN' : joinOf(node, at);
    isCross = crossNext;
    return { ...itemOf(node, at, mustBeNamed), node, join };
  });
}

/** Trino's grammar reads `t CROSS JOIN u` as a table called CROSS. */
function withoutJoinAlias(node: Node): { readonly node: Node; readonly crossNext: boolean } {
  const alias = wordOf(node['as']);
  if (/^cross$/i.test(alias)) return { node: { ...node, as: null }, crossNext: true };
  if (/^(natural|asof|final|left|right|full|inner|tablesample|lateral|fetch|qualify|window)$/i.test(alias))
    throw new Untranslatable(alias);
  return { node, crossNext: false };
}

function joinOf(node: Node, at: number): string {
  if (at === 0) return '';
  const join = wordOf(node['join']).toUpperCase();
  if (join === '') return ',';
  if (!/^(INNER |CROSS |(LEFT|RIGHT|FULL)( OUTER)? )?JOIN$/.test(join)) throw new Untranslatable(join);
  return join === 'INNER JOIN' ? 'JOIN' : join;
}

function itemOf(
  node: Node,
  at: number,
  mustBeNamed: boolean,
): Pick<FromItem, 'source' | 'series' | 'unnested'> {
  const call = tableCall(node);
  if (call !== null) return calledItem(call, node);
  const query = subqueryOf(node) ?? subqueryOf(node['expr']);
  const alias = wordOf(node['as']);
  if (query !== null) {
    if (wordOf(node['prefix']) !== '') throw new Untranslatable('LATERAL');
    const name = alias === '' && mustBeNamed ? `t${at + 1}` : alias;
    return { source: { name: plainAlias(name), foreign: null, table: null }, series: null, unnested: null };
  }
  const path = pathOf(node);
  if (path.length === 0) throw new Untranslatable('this part of FROM');
  const foreign = foreignTable(path);
  const last = path.at(-1) ?? '';
  const ours = foreign?.ours ?? publicTable(last);
  return {
    source: { name: alias === '' ? (ours ?? last) : alias, foreign, table: ours },
    series: null,
    unnested: null,
  };
}

/** An alias without a list of columns. */
function plainAlias(alias: string): string {
  if (alias.includes('(')) throw new Untranslatable('a list of columns after an alias');
  return alias;
}

function publicTable(name: string): PublicTableName | null {
  const lower = name.toLowerCase();
  return PUBLIC_TABLE_NAMES.find((table) => table === lower) ?? null;
}

/** The parts of a table's name, which BigQuery may quote as one. */
function pathOf(node: Node): string[] {
  return [node['db'], node['catalog'], node['schema'], node['table']]
    .map(wordOf)
    .flatMap((part) => part.split('.'))
    .filter((part) => part !== '');
}

function tableCall(node: Node): Node | null {
  if (node['type'] === 'unnest') return node;
  const expression = node['expr'];
  return isNode(expression) && expression['type'] === 'function' ? expression : null;
}

const SERIES = /^(generate_series|sequence|generate_array|generate_date_array|generate_timestamp_array)$/;

/** What UNNEST makes rows of; null for another function. */
function unnestedOf(call: Node): Node | null {
  if (call['type'] === 'unnest') return nodeOf(call['expr']);
  return functionName(call) === 'unnest' ? nodeOf(argumentsOf(call)[0]) : null;
}

function calledItem(call: Node, node: Node): Pick<FromItem, 'source' | 'series' | 'unnested'> {
  const unnested = unnestedOf(call);
  const inner = unnested ?? call;
  const { table, column } = aliasParts(wordOf(node['as']), inner);
  if (node['with_offset'] !== undefined && node['with_offset'] !== null)
    throw new Untranslatable('WITH OFFSET');
  if (inner['type'] === 'function' && SERIES.test(functionName(inner))) {
    const [from, to, step] = argumentsOf(inner);
    if (from === undefined || to === undefined) throw new Untranslatable('this series');
    return {
      source: { name: table, foreign: null, table: null },
      series: { from, to, step: step ?? null, table, column },
      unnested: null,
    };
  }
  if (unnested === null) throw new Untranslatable(`the table function ${functionName(call)}`);
  return { source: null, series: null, unnested: { table, column, array: inner } };
}

/** `AS t(d)`, or `AS d` of a single column, which then has the name of its table. */
function aliasParts(alias: string, call: Node): { readonly table: string; readonly column: string } {
  const [, table, column] = /^\s*"?(\w+)"?\s*\(\s*"?(\w+)"?\s*\)\s*$/.exec(alias) ?? [];
  if (table !== undefined && column !== undefined) return { table, column };
  if (alias.includes('(')) throw new Untranslatable('several columns of a series');
  const name = alias === '' ? functionName(call) || 'series' : alias;
  return { table: name, column: name };
}

export function printFrom(items: readonly FromItem[], scope: Scope, printer: Printer): string {
  const arrays = items.filter(({ unnested }) => unnested !== null);
  const tables = items.filter(({ unnested }) => unnested === null);
  const isAlone = items.length === 1;
  const joined = tables
    .map((item, at) => {
      const { node, join } = item;
      const text = sourceText(item, { scope, printer, isAlone });
      return `${leadOf(join, at)}${text}${onText(node, scope, printer)}`;
    })
    .join('');
  const expanded = arrays.map(({ unnested, join }) => {
    if (unnested === null) return '';
    const word = /^LEFT/.test(join) ? 'LEFT ARRAY JOIN' : 'ARRAY JOIN';
    return `\n${word} ${printExpression(unnested.array, scope, printer)} AS ${nameText(unnested.column)}`;
  });
  if (joined === '' && arrays.length > 0) return `(SELECT 1)${expanded.join('')}`;
  return `${joined}${expanded.join('')}`;
}

function leadOf(join: string, at: number): string {
  if (at === 0) return '';
  return join === ',' ? ', ' : `\n${join} `;
}

function onText(node: Node, scope: Scope, printer: Printer): string {
  const using = Array.isArray(node['using']) ? node['using'].map(wordOf) : [];
  if (using.length > 0) return ` USING (${using.map(nameText).join(', ')})`;
  if (!isNode(node['on'])) return '';
  // What a grammar makes of a comma after a join.
  if (node['on']['type'] === 'expr_list' && nodesOf(node['on']['value']).length !== 1)
    throw new Untranslatable('a comma after a join');
  return ` ON ${printExpression(node['on'], scope, printer)}`;
}

interface SourcePlace {
  readonly scope: Scope;
  readonly printer: Printer;
  readonly isAlone: boolean;
}

function sourceText(item: FromItem, { scope, printer, isAlone }: SourcePlace): string {
  const { node, source, series } = item;
  if (series !== null) return `(${seriesText(series, scope, printer)}) AS ${nameText(series.table)}`;
  const query = subqueryOf(node) ?? subqueryOf(node['expr']);
  const name = source?.name ?? '';
  if (query !== null) {
    const outer = scope.outer;
    return `(${printer.select(query, outer ?? scope)})${name === '' ? '' : ` AS ${nameText(name)}`}`;
  }
  const table = source?.table ?? pathOf(node).at(-1) ?? '';
  const alias = name === table ? '' : ` AS ${nameText(name)}`;
  const chain = source?.foreign?.chain;
  return chain === undefined || isAlone
    ? `${nameText(table)}${alias}`
    : `(SELECT * FROM ${nameText(table)} WHERE chain = '${chain}') AS ${nameText(name)}`;
}

/** Days, times or numbers from one to another: `numbers` counts the steps. */
function seriesText(series: Series, scope: Scope, printer: Printer): string {
  const [start = '', end = ''] = [series.from, series.to].map((node) =>
    printExpression(node, scope, printer),
  );
  const span = spanText(series.step, scope, printer);
  const [, count, unit] = /^INTERVAL (\d+) (\w+)$/.exec(span ?? '') ?? [];
  const isOfDays = span === null && /today|toDate|toStart|toMonday/.test(start);
  const { row, rows } =
    unit !== undefined || isOfDays
      ? timeSteps({ start, end, unit: unitOf(unit ?? 'day') ?? 'day', every: Number(count ?? 1) })
      : numberSteps(start, end, span ?? '1');
  return `SELECT ${start} + ${row} AS ${nameText(series.column)} FROM numbers(${rows})`;
}

/** A step may be an interval, or PostgreSQL's text of one. */
function spanText(step: Node | null, scope: Scope, printer: Printer): string | null {
  if (step === null) return null;
  const text = textOf(step);
  return (text === null ? null : intervalOfText(text)) ?? printExpression(step, scope, printer);
}

interface Steps {
  /** The interval that row `number` adds to the start. */
  readonly row: string;
  readonly rows: string;
}

function timeSteps({
  start,
  end,
  unit,
  every,
}: {
  readonly start: string;
  readonly end: string;
  readonly unit: string;
  readonly every: number;
}): Steps {
  const units = `dateDiff('${unit}', ${start}, ${end})`;
  const name = `toInterval${unit.charAt(0).toUpperCase()}${unit.slice(1)}`;
  return every === 1
    ? { row: `${name}(number)`, rows: `${units} + 1` }
    : { row: `${name}(number * ${every})`, rows: `intDiv(${units}, ${every}) + 1` };
}

function numberSteps(start: string, end: string, every: string): Steps {
  return every === '1'
    ? { row: 'number', rows: `${end} - ${start} + 1` }
    : { row: `number * ${every}`, rows: `intDiv(${end} - ${start}, ${every}) + 1` };
}
