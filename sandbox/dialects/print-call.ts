import { PUBLIC_TABLES } from '../../core/domain/public-tables.ts';
import { applied, type Call, type OrderMark, type Printer, type Rules } from './call.ts';
import {
  argumentsOf,
  columnOf,
  functionName,
  isNode,
  known,
  type Node,
  subqueryOf,
  Untranslatable,
} from './nodes.ts';
import { operand, WHOLE } from './print-operator.ts';
import { printOver } from './print-window.ts';
import { AGGREGATES, filtered } from './rules/aggregates.ts';
import { TEXTS } from './rules/texts.ts';
import { TIMES } from './rules/times.ts';
import { castText } from './rules/types.ts';
import { VALUES } from './rules/values.ts';
import type { Scope } from './scope.ts';
import { nameText } from './scope.ts';
import { MARKED_PREFIX, MARKERS } from './spelling.ts';

/** Calls: by a rule, as an aggregate with a condition, or by their own name. */
/** Prints an expression of a dialect's tree as ClickHouse. */

const RULES: Rules = { ...VALUES, ...TEXTS, ...TIMES, ...AGGREGATES };

export function printCall(node: Node, scope: Scope, printer: Printer): string {
  const written = functionName(node);
  if (written === 'exists')
    return `EXISTS (${printer.select(queryOf(subqueryOf(argumentsOf(node)[0])), scope)})`;
  const [subject, target] = argumentsOf(node);
  if (written === 'convert' && subject !== undefined && target?.['type'] === 'datatype') {
    const print = (inner: Node): string => printer.expression(inner, scope);
    return known(castText({ value: subject, target, isTry: false, print }), 'CONVERT to this type');
  }
  // Inside an aggregate a name is a column, wherever the aggregate stands.
  const inner: Scope =
    node['type'] === 'aggr_func' || isMarked(written) ? { ...scope, clause: 'columns' } : scope;
  const call = callOf(node, inner, printer);
  const ofTable =
    isStarOfTable(call) && call.filter === null ? known(countOfTable(call, scope), 'count(t.*)') : null;
  const text = ofTable ?? ruled(call) ?? filtered(call) ?? plainCall(node, call);
  const over = isNode(node['over']) ? printOver(node['over'], scope, printer) : '';
  return `${text}${over}`;
}

function queryOf(query: Node | null): Node {
  if (query === null) throw new Untranslatable('EXISTS of this');
  return query;
}

function isMarked(name: string): boolean {
  return name.startsWith(MARKED_PREFIX);
}

/** With FILTER only the rules that know it. */
const KNOWS_FILTER =
  /^(string_agg|listagg|group_concat|array_agg|percentile_cont|percentile_disc|approx_percentile|any_value)$/;

function ruled(call: Call): string | null {
  const rule = Object.hasOwn(RULES, call.name) ? RULES[call.name] : undefined;
  if (rule === undefined || (call.filter !== null && !KNOWS_FILTER.test(call.name))) return null;
  return applied(rule, call);
}

function callOf(node: Node, scope: Scope, printer: Printer): Call {
  const written = functionName(node);
  const all = argumentsOf(node);
  const args = isNode(node['args']) ? node['args'] : {};
  const marks = all.filter((argument) => markOf(argument) !== null);
  const marked = (mark: string): Node | null =>
    argumentsOf(marks.find((argument) => markOf(argument) === mark) ?? {})[0] ?? null;
  const own = isNode(node['filter']) && isNode(node['filter']['where']) ? node['filter']['where'] : null;
  return {
    name: isMarked(written) && !(written in RULES) ? written.slice(MARKED_PREFIX.length) : written,
    dialect: printer.dialect,
    args: all.filter((argument) => !marks.includes(argument) && argument['type'] !== 'star'),
    distinct: args['distinct'] === 'DISTINCT' || marks.some((mark) => markOf(mark) === MARKERS.distinct),
    order: marks.flatMap(orderOf),
    limit: marked(MARKERS.limit),
    filter: own ?? marked(MARKERS.filter),
    print: (inner) => printer.expression(inner, scope),
    operand: (inner) => operand(inner, WHOLE, scope, printer),
  };
}

const MARKS: ReadonlySet<string> = new Set([
  MARKERS.distinct,
  MARKERS.order,
  MARKERS.descending,
  MARKERS.limit,
  MARKERS.filter,
]);

function markOf(argument: Node): string | null {
  if (argument['type'] !== 'function') return null;
  const name = functionName(argument);
  return MARKS.has(name) ? name : null;
}

function orderOf(mark: Node): OrderMark[] {
  const name = markOf(mark);
  if (name !== MARKERS.order && name !== MARKERS.descending) return [];
  const [by] = argumentsOf(mark);
  return by === undefined ? [] : [{ by, descending: name === MARKERS.descending }];
}

/** A function without a rule is called by its name; the judge knows whether it exists. */
function plainCall(node: Node, call: Call): string {
  if (call.order.length > 0 || call.limit !== null || call.filter !== null)
    throw new Untranslatable(call.name);
  const star = argumentsOf(node).some(({ type }) => type === 'star');
  const args = star ? '' : call.args.map(call.print).join(', ');
  return `${call.name}(${call.distinct ? 'DISTINCT ' : ''}${args})`;
}

/** `count(t.*)`. */
function isStarOfTable({ name, args }: Call): boolean {
  return name === 'count' && args.length === 1 && args[0] !== undefined && columnOf(args[0])?.name === '*';
}

/** Rows of that table only: in an outer join, those that it added are NULL. */
function countOfTable(call: Call, scope: Scope): string | null {
  const name = columnOf(call.args[0])?.table ?? '';
  const table = scope.sources.find((source) => source.name === name)?.table ?? null;
  const column = table === null ? undefined : PUBLIC_TABLES[table].columns[0]?.name;
  return column === undefined ? null : `count(${nameText(name)}.${column})`;
}
