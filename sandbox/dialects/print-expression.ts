import type { Printer } from './call.ts';
import {
  argumentsOf,
  columnOf,
  functionName,
  isNode,
  known,
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
import { printCall } from './print-call.ts';
import { knownName, printBinary, printUnary } from './print-operator.ts';
import { constantText, hashText } from './rules/texts.ts';
import { dayConstant, intervalOfNode, partOf, partOfDifference, timeConstant } from './rules/times.ts';
import { castTarget, castText } from './rules/types.ts';
import type { Scope } from './scope.ts';
import { findColumn, nameText } from './scope.ts';
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
