import type { Choice, Draw } from './draw.ts';
import type { Hostile } from './hostile.ts';
import type { Column, Kind, Vocabulary } from './vocabulary.ts';

/** What names may be used where an expression stands. */
export interface Scope {
  readonly columns: readonly Column[];
  readonly ctes: readonly Source[];
  /** Names of lambdas of one argument. */
  readonly lambdas: readonly string[];
  /** How much deeper expressions and queries may still nest. */
  readonly depth: number;
}

export interface Source {
  readonly name: string;
  readonly columns: readonly Column[];
}

export interface Tools {
  readonly draw: Draw;
  readonly vocabulary: Vocabulary;
  readonly hostile: Hostile;
  /** A name that nothing of the case has yet. */
  readonly fresh: (prefix: string) => string;
  /** A query of one column of the kind, in parentheses. */
  readonly subquery: (kind: Kind, scope: Scope) => string;
  /** Declares a parameter and gives its placeholder. */
  readonly parameter: (type: string, value: string) => string;
}

export type Expressions = (kind: Kind, scope: Scope) => string;

export const KINDS = ['text', 'number', 'time', 'flag', 'list'] as const satisfies readonly Kind[];

const TEXTS = [
  `'0x00000000000000000000000000000000000000a1'`,
  `'eip155:8453'`,
  `'USDC'`,
  `''`,
  `'a''b'`,
  String.raw`'line\nbreak, alias: settlements'`,
  String.raw`'back\\slash \'quoted\' \x41'`,
  `'-- no comment /* none */ ; #'`,
  `'é→漢'`,
  '$$here ; doc$$',
  `$x$it's$x$`,
  `'file(\\'/etc/passwd\\')'`,
  `'{p:String}'`,
];
const NUMBERS = [
  '0',
  '1',
  '42',
  '-7',
  '3.25',
  '1e3',
  '0xff',
  '1_000',
  'NULL',
  'inf',
  '115792089237316195423570985008687907853269984665640564039457584007913129639935',
];
const TIMES = [
  `toDateTime('2026-11-20 12:00:00', 'UTC')`,
  'now()',
  'today()',
  'now',
  `toDate('2026-11-20')`,
  `now() - INTERVAL 7 DAY`,
  `DATE '2026-11-01'`,
];
const LISTS = ['[1, 2, 3]', 'range(4)', '[]', `splitByChar(',', '1,2')`, 'array(1, 2)'];

/** Expressions of a kind that mostly type-check: the deeper the engine gets, the more it says about what they use. */
export function expressionsOf(tools: Tools): Expressions {
  const { draw, hostile } = tools;
  const express: Expressions = (kind, scope) => {
    if (hostile.isNasty('bareWord')) return hostile.bareWord();
    if (hostile.isNasty('functionName')) return hostile.call(leaf(kind, scope));
    if (scope.depth <= 0 || draw.chance(0.3)) return leaf(kind, scope);
    const inner = { ...scope, depth: scope.depth - 1 };
    const e = (of: Kind) => express(of, inner);
    return draw.oneOf([...COMPOUNDS[kind](e, tools, inner), ...anywhere(kind, e, tools, inner)]);
  };
  const leaf: Expressions = (kind, scope) => {
    const columns = scope.columns.filter((column) => column.kind === kind);
    if (columns.length > 0 && draw.chance(0.7)) return columnName(draw, draw.pick(columns).name);
    return literal(kind, tools);
  };
  return express;
}

/** The spellings of one name. */
function columnName(draw: Draw, name: string): string {
  if (!/^\w+$/.test(name) || draw.chance(0.85)) return name;
  return draw.chance(0.5) ? `\`${name}\`` : `"${name}"`;
}

/** Texts are not refused for what they spell, so some of them always spell something. */
const TELLING_TEXTS = 0.06;

function literal(kind: Kind, { draw, hostile, parameter }: Tools): string {
  switch (kind) {
    case 'text':
      if (draw.chance(0.05)) return parameter('String', `it's \\ "x"`);
      return draw.chance(TELLING_TEXTS) ? hostile.text() : draw.pick(TEXTS);
    case 'number':
      return draw.chance(0.05) ? parameter('UInt32', '7') : draw.pick(NUMBERS);
    case 'time':
      return draw.pick(TIMES);
    case 'flag':
      return draw.pick(['true', 'false', '1', '0']);
    case 'list':
      return draw.pick(LISTS);
  }
}

type Compound = (e: (kind: Kind) => string, tools: Tools, scope: Scope) => Choice[];

const COMPOUNDS: Record<Kind, Compound> = {
  text: (e) => [
    [1, () => `lower(${e('text')})`],
    [1, () => `concat(${e('text')}, ${e('text')})`],
    [1, () => `${e('text')} || ${e('text')}`],
    [1, () => `substring(${e('text')}, 1, ${e('number')})`],
    [1, () => `toString(${e('number')})`],
    [1, () => `CAST(${e('number')} AS String)`],
    [1, () => `${e('time')}::String`],
    [1, () => `formatDateTime(${e('time')}, '%Y-%m')`],
    [1, () => `replaceRegexpAll(${e('text')}, '[0-9]+', '')`],
    [1, () => `arrayStringConcat(${e('list')}, ',')`],
    [1, () => `(${e('text')}, ${e('number')}).1`],
    [1, () => `transform(${e('text')}, ['a', 'b'], ['c', 'd'], '')`],
    [1, () => `CASE WHEN ${e('flag')} THEN ${e('text')} ELSE ${e('text')} END`],
    [1, () => `extract(${e('text')}, '^0x(.*)$')`],
  ],
  number: (e) => [
    [2, () => `${e('number')} + ${e('number')}`],
    [1, () => `(${e('number')} - ${e('number')}) * 2`],
    [1, () => `intDiv(${e('number')}, 3)`],
    [1, () => `-${e('number')}`],
    [1, () => `length(${e('list')})`],
    [1, () => `toFloat64(${e('number')})`],
    [1, () => `arraySum(${e('list')})`],
    [1, () => `arrayReduce('max', ${e('list')})`],
    [1, () => `dateDiff('day', ${e('time')}, ${e('time')})`],
    [1, () => `toHour(${e('time')})`],
    [1, () => `EXTRACT(YEAR FROM ${e('time')})`],
    [1, () => `(1, ${e('number')}).2`],
    [1, () => `coalesce(${e('number')}, 0)`],
    [1, () => `position(${e('text')}, 'a')`],
    [1, () => `toUInt256OrZero(${e('text')})`],
  ],
  time: (e) => [
    [1, () => `toStartOfHour(${e('time')})`],
    [1, () => `${e('time')} - INTERVAL 1 DAY`],
    [1, () => `toDate(${e('time')})`],
    [1, () => `dateTrunc('month', ${e('time')})`],
    [1, () => `addDays(${e('time')}, 3)`],
  ],
  flag: (e, tools, scope) => [
    [2, () => `${e('number')} ${tools.draw.pick(['>', '<=', '=', '!=', '<=>'])} ${e('number')}`],
    [1, () => `${e('text')} = ${e('text')}`],
    [1, () => `(${e('flag')} AND ${e('flag')})`],
    [1, () => `(${e('flag')} OR NOT ${e('flag')})`],
    [1, () => `${e('text')} ${tools.draw.pick(['LIKE', 'ILIKE', 'NOT LIKE', 'REGEXP'])} '%a%'`],
    [1, () => `${e('number')} BETWEEN ${e('number')} AND ${e('number')}`],
    [1, () => `${e('text')} IS NOT NULL`],
    [1, () => `has(${e('list')}, 1)`],
    [1, () => `EXISTS ${tools.subquery('number', scope)}`],
    [
      1,
      () =>
        `${e('number')} ${tools.draw.pick(['>', '='])} ${tools.draw.pick(['ALL', 'ANY'])} ${tools.subquery('number', scope)}`,
    ],
    [4, () => membership(e, tools, scope)],
  ],
  list: (e, { draw, hostile, vocabulary }, scope) => [
    [1, () => `[${draw.several([1, 3], () => e('number'))}]`],
    [2, () => `arrayMap(x -> x + ${e('number')}, ${e('list')})`],
    [1, () => `arrayFilter((x, i) -> x > i, ${e('list')}, arrayEnumerate(${e('list')}))`],
    [1, () => `arraySort(lambda(tuple(x), -x), ${e('list')})`],
    [
      1,
      () =>
        `arrayMap(${hostile.isNasty('functionName') ? hostile.functionName() : draw.pick([...scope.lambdas, 'x -> toString(x)', 'negate'])}, ${e('list')})`,
    ],
    [1, () => `arrayConcat(${e('list')}, ${e('list')})`],
    [1, () => `splitByChar(',', ${e('text')})`],
    [1, () => `${draw.pick(vocabulary.allowed)}(${e('list')})`],
  ],
};

/** The right side of IN takes a tuple, a query, a table, a function: each hides a name. */
function membership(e: (kind: Kind) => string, tools: Tools, scope: Scope): string {
  const { draw, hostile, vocabulary } = tools;
  const operator = draw.pick(['IN', 'NOT IN', 'GLOBAL IN', 'GLOBAL NOT IN']);
  const right = draw.oneOf([
    [3, () => `(${draw.several([1, 3], () => e('text'))})`],
    [2, () => tools.subquery('text', scope)],
    [1, () => `[${e('text')}]`],
    [1, () => `tuple(${e('text')}, ${e('text')})`],
    [
      1,
      () =>
        draw.pick([
          ...scope.ctes.map(({ name }) => name),
          ...vocabulary.publicTables.map(({ name }) => name),
        ]),
    ],
    [hostile.isNasty('table') ? 12 : 0, hostile.tableExpression],
    [hostile.isNasty('functionName') ? 6 : 0, () => hostile.call(e('text'))],
  ]);
  const left = e('text');
  return draw.chance(0.1)
    ? `${draw.pick(['in', 'globalIn', 'notIn'])}(${left}, ${right})`
    : `${left} ${operator} ${right}`;
}

/** What gives a value of any kind: conditions, scalar subqueries, lambdas of the query, functions drawn from the whole list. */
function anywhere(kind: Kind, e: (kind: Kind) => string, tools: Tools, scope: Scope): Choice[] {
  const { draw, hostile, fresh, vocabulary } = tools;
  const any = () => e(draw.pick(KINDS));
  return [
    [1, () => `if(${e('flag')}, ${e(kind)}, ${e(kind)})`],
    [1, () => `(${e('flag')} ? ${e(kind)} : ${e(kind)})`],
    [1, () => `(${e(kind)} AS ${hostile.isNasty('declared') ? hostile.declaredName() : fresh('v')})`],
    [1, () => tools.subquery(kind, scope)],
    [1, () => `${draw.pick(vocabulary.allowed)}(${draw.several([0, 3], any)})`],
    [0.5, () => `${draw.pick(vocabulary.allowed)}(${draw.maybe(0.5, () => `${any()}, `)}${hostile.text()})`],
    [
      0.5,
      () =>
        `${draw.pick(vocabulary.allowedAggregates)}${draw.maybe(0.4, () => draw.pick(vocabulary.combinators))}(${draw.several([1, 2], any)})`,
    ],
    [scope.lambdas.length > 0 ? 2 : 0, () => `${draw.pick(scope.lambdas)}(${e(kind)})`],
  ];
}
