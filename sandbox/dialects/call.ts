import type { Dialect } from './dialects.ts';
import type { Node } from './nodes.ts';
import type { Scope } from './scope.ts';

/** What prints the parts of a query, for the files that print one kind of part. */
export interface Printer {
  readonly dialect: Dialect;
  expression(node: Node, scope: Scope): string;
  /** A whole statement, for subqueries. */
  select(ast: Node, outer: Scope): string;
}

/** A function call as the rules see it. */
export interface Call {
  /** In lower case, without the prefix of marked aggregates. */
  readonly name: string;
  readonly dialect: Dialect;
  /** Without the markers. */
  readonly args: readonly Node[];
  readonly distinct: boolean;
  readonly order: readonly OrderMark[];
  readonly limit: Node | null;
  /** The condition of FILTER. */
  readonly filter: Node | null;
  /** An argument as ClickHouse text; as an operand of a binary operator, in brackets where it needs them. */
  print(node: Node): string;
  operand(node: Node): string;
}

export interface OrderMark {
  readonly by: Node;
  readonly descending: boolean;
}

/** ClickHouse text for a call; null where the rule is for other arguments. A text is a template: `$1` is the first argument. */
export type Rule = string | RuleFunction;
export type RuleFunction = (call: Call) => string | null;
export type Rules = Readonly<Record<string, Rule>>;

/** The text by a rule; null where it does not fit. */
export function applied(rule: Rule, call: Call): string | null {
  if (typeof rule !== 'string') return rule(call);
  const wanted = Math.max(0, ...[...rule.matchAll(/\$(\d)/g)].map(([, digit]) => Number(digit)));
  if (call.args.length !== wanted) return null;
  return rule.replace(/(\$)?\$(\d)/g, (_, operand: string | undefined, digit: string) => {
    const node = call.args[Number(digit) - 1];
    if (node === undefined) return '';
    return operand === undefined ? call.print(node) : call.operand(node);
  });
}

/** The same arguments under ClickHouse's name. */
export function renamedTo(name: string): RuleFunction {
  return ({ args, print }) => `${name}(${args.map(print).join(', ')})`;
}

/** Tries the rules in turn. */
export function firstOf(...rules: readonly Rule[]): RuleFunction {
  return (call) => {
    for (const rule of rules) {
      const text = applied(rule, call);
      if (text !== null) return text;
    }
    return null;
  };
}
