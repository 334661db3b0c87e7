import { PUBLIC_TABLES } from '../../core/domain/public-tables.ts';
import { applied, type Call, type OrderMark, type Printer, type Rules } from './call.ts';
import { CHAIN_IDS } from './foreign-names.ts';
import {
  argumentsOf,
  columnOf,
  functionName,
  isNode,
  type Node,
  nodeOf,
  nodesOf,
  numberOf,
  onlyKnown,
  subqueryOf,
  textOf,
  Untranslatable,
  wordOf,
} from './nodes.ts';
import { printOver } from './print-window.ts';
import { AGGREGATES, filtered } from './rules/aggregates.ts';
import { constantText, hashText, TEXTS } from './rules/texts.ts';
import { dayConstant, intervalOfNode, partOf, partOfDifference, TIMES, timeConstant } from './rules/times.ts';
import { castTarget, castText } from './rules/types.ts';
import { VALUES } from './rules/values.ts';
import { findColumn, nameText, type Scope } from './scope.ts';
import { MARKED_PREFIX, MARKERS } from './spelling.ts';

/** Prints an expression of a dialect's tree as ClickHouse. */

const RULES: Rules = { ...VALUES, ...TEXTS, ...TIMES, ...AGGREGATES };

/** How strongly operators bind; of the same strength the left one is first. */
const STRENGTH: Readonly<Record<string, number>> = {
  OR: 1,
  XOR: 1,
  AND: 2,
  NOT: 3,
  '+': 6,
  '-': 6,
  '*': 7,
  '/': 7,
  '%': 7,
};
const COMPARISON = 4;
const WHOLE = 9;

/** Operators that ClickHouse writes otherwise. */
const OPERATORS: Readonly<Record<string, string>> = { '<>': '!=', '&&': 'AND', '==': '=' };

export function printExpression(node: Node, scope: Scope, printer: Printer): string {
  const kind = wordOf(node['type']);
  const printNode = PRINTERS[kind];
  const query = subqueryOf(node);
  if (query !== null && (printNode === undefined || kind === 'select'))
    return `(${printer.select(query, scope)})`;
  if (printNode === undefined) throw new Untranslatable(kind === '' ? 'a part of the query' : kind);
  onlyKnown(node, EXPRESSION_PARTS);
  const text = printNode(node, scope, printer);
  const place = kind === 'column_ref' ? undefined : nodesOf(node['array_index'])[0];
  return place === undefined ? text : `${text}[${indexText(nodeOf(place['index']), scope, printer)}]`;
}

/** Parts of an expression that are printed. Any other part would be lost, which would change the question. */
const EXPRESSION_PARTS: ReadonlySet<string> = new Set(
  'type,name,args,over,parentheses,array_index,separator,value,column,table,schema,db,symbol,target,keyword,expr,operator,left,right,unit,expr_list,brackets,array_path,filter,subFields,definition,as'.split(
    ',',
  ),
);

/** In brackets after an array: `OFFSET(0)` of BigQuery is the first element, as is `1` everywhere else. */
function indexText(index: Node, scope: Scope, printer: Printer): string {
  const print = (node: Node): string => printExpression(node, scope, printer);
  const name = index['type'] === 'function' ? functionName(index) : '';
  const [place] = argumentsOf(index);
  if (place === undefined || !/^(safe_)?(offset|ordinal)$/.test(name)) return print(index);
  const count = numberOf(place);
  if (name.endsWith('ordinal')) return print(place);
  return count === null ? `${print(place)} + 1` : String(count + 1);
}

/** In brackets where the operator around it binds as strongly. */
function operand(node: Node, strength: number, scope: Scope, printer: Printer): string {
  const text = printExpression(node, scope, printer);
  return strengthOf(node, text) < strength ? `(${text})` : text;
}

function strengthOf(node: Node, text: string): number {
  if (node['type'] === 'unary_expr') return node['operator'] === 'NOT' ? 3 : 8;
  if (node['type'] === 'binary_expr')
    return /^(concat|intDiv|match|has|NOT )/.test(text)
      ? COMPARISON
      : (STRENGTH[operatorOf(node)] ?? COMPARISON);
  // A rule may have made an operator of a call.
  return node['type'] === 'function' && /[-+/] /.test(text.replace(/\([^()]*\)/g, '')) ? 5 : WHOLE;
}

function operatorOf(node: Node): string {
  const operator = wordOf(node['operator']).toUpperCase();
  return OPERATORS[operator] ?? operator;
}

type PrintNode = (node: Node, scope: Scope, printer: Printer) => string;

const PRINTERS: Readonly<Record<string, PrintNode>> = {
  column_ref: printColumn,
  number: (node) => String(node['value']),
  bigint: (node) => String(node['value']),
  bool: (node) => (node['value'] === true ? 'true' : 'false'),
  boolean: (node) => (node['value'] === true ? 'true' : 'false'),
  null: () => 'NULL',
  star: () => '*',
  single_quote_string: printText,
  string: printText,
  regex_string: printText,
  date: (node) => dayConstant(wordOf(node['value'])),
  timestamp: (node) => timeConstant(wordOf(node['value'])),
  datetime: (node) => timeConstant(wordOf(node['value'])),
  interval: (node, scope, printer) =>
    known(
      intervalOfNode(node, (inner) => printExpression(inner, scope, printer)),
      'an interval',
    ),
  unary_expr: printUnary,
  binary_expr: printBinary,
  case: printCase,
  cast: printCast,
  function: printCall,
  aggr_func: printCall,
  window_func: printCall,
  extract: printExtract,
  array: printArray,
  expr_list: (node, scope, printer) =>
    `(${nodesOf(node['value'])
      .map((item) => printExpression(item, scope, printer))
      .join(', ')})`,
  unnest: (node, scope, printer) => `arrayJoin(${printExpression(nodeOf(node['expr']), scope, printer)})`,
};

function known(text: string | null, what: string): string {
  if (text === null) throw new Untranslatable(what);
  return text;
}

function printText(node: Node): string {
  const value = textOf(node) ?? '';
  return constantText(hashText(value) ?? value);
}

function printColumn(node: Node, scope: Scope, printer: Printer): string {
  const { column } = node;
  const inner = isNode(column) && isNode(column['expr']) ? column['expr'] : null;
  const offset = isNode(column) ? nodesOf(column['offset'])[0] : undefined;
  if (inner !== null && ['function', 'array', 'cast'].includes(wordOf(inner['type'])))
    return indexed(inner, offset, scope, printer);
  const name = columnOf(node);
  if (name === null) throw new Untranslatable('a column');
  if (Array.isArray(node['subFields']) && node['subFields'].length > 0) throw new Untranslatable('a field');
  if (name.name === '*') return name.table === '' ? '*' : `${nameText(name.table)}.*`;
  const place = nodesOf(node['array_index'])[0];
  const key = place === undefined ? null : textOf(place['index']);
  const found = findColumn(key === null ? name : { ...name, name: `${name.name}.${key}` }, scope);
  if (place === undefined && offset === undefined) return found.text;
  if (key !== null) return found.text;
  return place === undefined
    ? indexed({ type: 'text_of', text: found.text }, offset, scope, printer)
    : `${found.text}[${indexText(nodeOf(place['index']), scope, printer)}]`;
}

/** `APPROX_QUANTILES(x, 100)[OFFSET(50)]`, `SPLIT(x, '/')[SAFE_OFFSET(2)]`: offsets count from zero, ordinals from one. */
function indexed(value: Node, offset: Node | undefined, scope: Scope, printer: Printer): string {
  const print = (node: Node): string =>
    node['type'] === 'text_of' ? wordOf(node['text']) : printExpression(node, scope, printer);
  if (offset === undefined) return print(value);
  const place = nodeOf(offset['value']);
  const count = numberOf(place);
  if (value['type'] === 'function' && functionName(value) === 'approx_quantiles') {
    const [column, buckets] = argumentsOf(value);
    const all = buckets === undefined ? null : numberOf(buckets);
    if (column !== undefined && all !== null && all > 0 && count !== null)
      return `quantile(${count / all})(${print(column)})`;
  }
  const isOffset = /OFFSET$/i.test(wordOf(offset['name']));
  const index =
    count === null ? `${print(place)}${isOffset ? ' + 1' : ''}` : String(isOffset ? count + 1 : count);
  return `${print(value)}[${index}]`;
}

function printUnary(node: Node, scope: Scope, printer: Printer): string {
  const operator = wordOf(node['operator']).toUpperCase();
  const inner = nodeOf(node['expr']);
  const query = subqueryOf(inner);
  if (/EXISTS$/.test(operator) && query !== null) return `${operator} (${printer.select(query, scope)})`;
  if (operator === 'NOT' || operator === '!') return `NOT ${operand(inner, COMPARISON, scope, printer)}`;
  return `${operator}${operand(inner, WHOLE, scope, printer)}`;
}

function printBinary(node: Node, scope: Scope, printer: Printer): string {
  const operator = operatorOf(node);
  const [left, right] = [nodeOf(node['left']), nodeOf(node['right'])];
  const print = (inner: Node): string => printExpression(inner, scope, printer);
  const special = SPECIAL[operator]?.({ left, right, print, printer, scope });
  if (special !== undefined && special !== null) return special;
  const strength = STRENGTH[operator] ?? COMPARISON;
  const isComparison = strength === COMPARISON;
  const first = operand(left, isComparison ? strength + 1 : strength, scope, printer);
  if (/BETWEEN$/.test(operator)) {
    const [from, to] = nodesOf(right['value']);
    return `${first} ${operator} ${operand(nodeOf(from), 5, scope, printer)} AND ${operand(nodeOf(to), 5, scope, printer)}`;
  }
  if (!KNOWN_OPERATORS.has(operator)) throw new Untranslatable(`the operator ${operator}`);
  const rightStrength = ASSOCIATIVE.has(operator) ? strength : strength + 1;
  const value = knownName(left, right, scope) ?? operand(right, rightStrength, scope, printer);
  return `${knownName(right, left, scope) ?? first} ${operator} ${value}`;
}

const KNOWN_OPERATORS: ReadonlySet<string> = new Set(
  'OR,AND,+,-,*,/,%,=,!=,<,>,<=,>=,IS,IS NOT,LIKE,NOT LIKE,ILIKE,NOT ILIKE,IN,NOT IN'.split(','),
);

/** `a AND (b AND c)` needs no brackets. */
const ASSOCIATIVE: ReadonlySet<string> = new Set(['AND', 'OR']);

interface Sides {
  readonly left: Node;
  readonly right: Node;
  print(node: Node): string;
  readonly printer: Printer;
  readonly scope: Scope;
}

const regex =
  (flags: string, isNot = false) =>
  ({ left, right, print }: Sides): string => {
    const text = textOf(right);
    const pattern = text === null ? print(right) : constantText(flags + text);
    return `${isNot ? 'NOT ' : ''}match(${print(left)}, ${pattern})`;
  };

const like =
  (operator: string) =>
  ({ left, right, print, printer }: Sides): string | null =>
    // MySQL compares texts without regard to case.
    printer.dialect === 'mysql' ? `${print(left)} ${operator} ${print(right)}` : null;

const SPECIAL: Readonly<Record<string, (sides: Sides) => string | null>> = {
  '||': ({ left, right, print }) => `concat(${[...flat(left), ...flat(right)].map(print).join(', ')})`,
  DIV: ({ left, right, print }) => `intDiv(${print(left)}, ${print(right)})`,
  MOD: ({ left, right, print }) => `modulo(${print(left)}, ${print(right)})`,
  XOR: ({ left, right, print }) => `xor(${print(left)}, ${print(right)})`,
  '~': regex(''),
  '~*': regex('(?i)'),
  '!~': regex('', true),
  '!~*': regex('(?i)', true),
  REGEXP: regex('(?i)'),
  RLIKE: regex('(?i)'),
  'NOT REGEXP': regex('(?i)', true),
  LIKE: like('ILIKE'),
  'NOT LIKE': like('NOT ILIKE'),
  '*': multipliedInterval,
  '=': anyOf,
  IN: (sides) => inList('IN', sides),
  'NOT IN': (sides) => inList('NOT IN', sides),
};

function flat(node: Node): Node[] {
  return node['type'] === 'binary_expr' && node['operator'] === '||'
    ? [...flat(nodeOf(node['left'])), ...flat(nodeOf(node['right']))]
    : [node];
}

/** `7 * interval '1 day'`. */
function multipliedInterval({ left, right, print }: Sides): string | null {
  const [count, span] = left['type'] === 'interval' ? [right, left] : [left, right];
  if (span['type'] !== 'interval') return null;
  const [, one, unit] = /^INTERVAL (\d+) (\w+)$/.exec(print(span)) ?? [];
  if (unit === undefined) return null;
  const name = `${unit.charAt(0)}${unit.slice(1).toLowerCase()}`;
  return `toInterval${name}(${print(count)}${one === '1' ? '' : ` * ${one ?? ''}`})`;
}

/** `x = ANY(ARRAY['a', 'b'])`. */
function anyOf({ left, right, print }: Sides): string | null {
  if (right['type'] !== 'function' || !['any', 'some'].includes(functionName(right))) return null;
  const [list] = argumentsOf(right);
  return list === undefined ? null : `has(${print(list)}, ${print(left)})`;
}

function inList(operator: string, { left, right, print, printer, scope }: Sides): string {
  const first = operand(left, COMPARISON + 1, scope, printer);
  if (right['type'] === 'unnest')
    return `${operator === 'IN' ? '' : 'NOT '}has(${print(nodeOf(right['expr']))}, ${first})`;
  const items = right['type'] === 'expr_list' ? nodesOf(right['value']) : [right];
  const [only] = items;
  const query = only === undefined ? null : subqueryOf(only);
  if (query !== null) return `${first} ${operator} (${printer.select(query, scope)})`;
  return `${first} ${operator} (${items.map((item) => knownName(left, item, scope) ?? print(item)).join(', ')})`;
}

/** A constant that is compared with a chain or a facilitator, by the name that we have for it. */
function knownName(column: Node, constant: Node, scope: Scope): string | null {
  const name = columnOf(column);
  const text = textOf(constant);
  if (name === null || text === null) return null;
  const { ours } = findColumn(name, scope);
  const word = text.toLowerCase();
  if (ours === 'chain') return Object.hasOwn(CHAIN_IDS, word) ? constantText(CHAIN_IDS[word] ?? text) : null;
  return ours === 'facilitator' && word !== text ? constantText(word.replaceAll(' ', '-')) : null;
}

function printCase(node: Node, scope: Scope, printer: Printer): string {
  const subject = isNode(node['expr']) ? node['expr'] : null;
  const print = (inner: unknown): string => printExpression(nodeOf(inner), scope, printer);
  const branches = nodesOf(node['args']).map((branch) => {
    if (branch['type'] === 'else') return `ELSE ${print(branch['result'])}`;
    const condition = nodeOf(branch['cond']);
    const when = (subject === null ? null : knownName(subject, condition, scope)) ?? print(condition);
    return `WHEN ${when} THEN ${print(branch['result'])}`;
  });
  return `CASE ${subject === null ? '' : `${print(subject)} `}${branches.join(' ')} END`;
}

function printCast(node: Node, scope: Scope, printer: Printer): string {
  const target = castTarget(node);
  const isTry = /^(try|safe)/i.test(wordOf(node['keyword']));
  const text =
    target === null
      ? null
      : castText({
          value: nodeOf(node['expr']),
          target,
          isTry,
          print: (inner) => printExpression(inner, scope, printer),
        });
  return known(text, 'a cast to this type');
}

function printExtract(node: Node, scope: Scope, printer: Printer): string {
  const args = nodeOf(node['args']);
  const field = wordOf(args['field']);
  const source = nodeOf(args['source']);
  const print = (inner: Node): string => printExpression(inner, scope, printer);
  const [left, right] = [source['left'], source['right']];
  const isDifference = source['type'] === 'binary_expr' && source['operator'] === '-';
  if (isDifference && isNode(left) && isNode(right) && right['type'] !== 'interval')
    return known(partOfDifference(field, print(left), print(right)), `extract(${field})`);
  return known(partOf(field, print(source), printer.dialect), `extract(${field})`);
}

function printArray(node: Node, scope: Scope, printer: Printer): string {
  const listed = isNode(node['expr_list']) ? nodesOf(node['expr_list']['value']) : [];
  const items = listed.length > 0 ? listed : nodesOf(node['array_path']).map((item) => nodeOf(item['expr']));
  return `[${items.map((item) => printExpression(item, scope, printer)).join(', ')}]`;
}

function printCall(node: Node, scope: Scope, printer: Printer): string {
  const written = functionName(node);
  if (written === 'exists')
    return `EXISTS (${printer.select(queryOf(subqueryOf(argumentsOf(node)[0])), scope)})`;
  const [subject, target] = argumentsOf(node);
  if (written === 'convert' && subject !== undefined && target?.['type'] === 'datatype') {
    const print = (inner: Node): string => printExpression(inner, scope, printer);
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
    print: (inner) => printExpression(inner, scope, printer),
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
