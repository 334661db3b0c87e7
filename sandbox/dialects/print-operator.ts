import type { Printer } from './call.ts';
import { CHAIN_IDS } from './foreign-names.ts';
import {
  argumentsOf,
  columnOf,
  functionName,
  type Node,
  nodeOf,
  nodesOf,
  subqueryOf,
  textOf,
  Untranslatable,
  wordOf,
} from './nodes.ts';
import { constantText } from './rules/texts.ts';
import type { Scope } from './scope.ts';
import { findColumn } from './scope.ts';

/** Operators, with the brackets that they need, and comparisons with names that we write otherwise. */
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
export const WHOLE = 9;

/** Operators that ClickHouse writes otherwise. */
const OPERATORS: Readonly<Record<string, string>> = { '<>': '!=', '&&': 'AND', '==': '=' };

/** In brackets where the operator around it binds as strongly. */
export function operand(node: Node, strength: number, scope: Scope, printer: Printer): string {
  const text = printer.expression(node, scope);
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

export function printUnary(node: Node, scope: Scope, printer: Printer): string {
  const operator = wordOf(node['operator']).toUpperCase();
  const inner = nodeOf(node['expr']);
  const query = subqueryOf(inner);
  if (/EXISTS$/.test(operator) && query !== null) return `${operator} (${printer.select(query, scope)})`;
  if (operator === 'NOT' || operator === '!') return `NOT ${operand(inner, COMPARISON, scope, printer)}`;
  return `${operator}${operand(inner, WHOLE, scope, printer)}`;
}

export function printBinary(node: Node, scope: Scope, printer: Printer): string {
  const operator = operatorOf(node);
  const [left, right] = [nodeOf(node['left']), nodeOf(node['right'])];
  const print = (inner: Node): string => printer.expression(inner, scope);
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
export function knownName(column: Node, constant: Node, scope: Scope): string | null {
  const name = columnOf(column);
  const text = textOf(constant);
  if (name === null || text === null) return null;
  const { ours } = findColumn(name, scope);
  const word = text.toLowerCase();
  if (ours === 'chain') return Object.hasOwn(CHAIN_IDS, word) ? constantText(CHAIN_IDS[word] ?? text) : null;
  return ours === 'facilitator' && word !== text ? constantText(word.replaceAll(' ', '-')) : null;
}
