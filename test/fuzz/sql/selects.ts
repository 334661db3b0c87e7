import type { Choice, Draw } from './draw.ts';
import {
  type Expressions,
  expressionsOf,
  KINDS,
  type Scope,
  type Source,
  type Tools,
} from './expressions.ts';
import { hostilePieces, type Mood } from './hostile.ts';
import type { Column, Kind, Vocabulary } from './vocabulary.ts';

/** A text to judge, with the values of its placeholders. */
export interface FuzzCase {
  readonly text: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const DEPTH = 3;
/** Few, whatever the mood: a declaration there needs no other piece to be an attack. */
const NASTY_STRUCTURES = 0.1;

/** One SELECT of the whole dialect. */
export function generateSelect(draw: Draw, vocabulary: Vocabulary, mood: Mood): FuzzCase {
  const parameters: Record<string, string> = {};
  const declare = (type: string, value: string): string => {
    const name = `p${Object.keys(parameters).length}`;
    parameters[name] = value;
    return `{${name}:${type}}`;
  };
  const hostile = hostilePieces(draw, vocabulary, mood);
  let names = 0;
  const tools: Tools = {
    draw,
    vocabulary,
    hostile,
    fresh: (prefix) => `${prefix}${++names}`,
    subquery: (kind, scope) => `(${selects.ofOne(kind, scope)})`,
    parameter(type, value) {
      if (!hostile.isNasty('other')) return declare(type, value);
      const forbidden = hostile.parameter();
      return declare(forbidden.type, forbidden.value);
    },
  };
  const selects = selectsOf(tools, expressionsOf(tools));
  return withUsedParameters({
    text: selects.top({ columns: [], ctes: [], lambdas: [], depth: DEPTH }),
    parameters,
  });
}

/** Without the values of placeholders that are not, or no longer, in the text. */
export function withUsedParameters({ text, parameters }: FuzzCase): FuzzCase {
  const used = Object.entries(parameters).filter(([name]) => text.includes(`{${name}:`));
  return { text, parameters: Object.fromEntries(used) };
}

interface Selects {
  /** A query of any columns, with all its clauses. */
  top(scope: Scope): string;
  /** A query of one column. */
  ofOne(kind: Kind, scope: Scope): string;
}

/** A table expression and what it offers. */
interface From {
  readonly sql: string;
  readonly columns: readonly Column[];
}

function selectsOf(tools: Tools, express: Expressions): Selects {
  const { draw, hostile } = tools;
  const ofOne: Selects['ofOne'] = (kind, outer) => {
    const scope = deeper(outer);
    if (draw.chance(0.2)) return `SELECT ${express(kind, { ...scope, columns: [] })}`;
    const from = fromClause(scope);
    const inner = { ...scope, columns: from.columns };
    const value = draw.chance(0.3) ? `any(${express(kind, inner)})` : express(kind, inner);
    return `SELECT ${value} FROM ${from.sql}${draw.maybe(0.4, () => ` WHERE ${express('flag', inner)}`)} LIMIT 1${clause()}`;
  };
  const clause = () => (hostile.isNasty('other') ? hostile.clause() : '');
  const alias = (): string => (hostile.isNasty('declared') ? hostile.declaredName() : tools.fresh('s'));

  const fromClause = (scope: Scope): From => {
    const first = single(scope);
    if (scope.depth <= 0 || draw.chance(0.65)) return withArrayJoin(draw, first);
    const left = named(first);
    const right = named(single(scope));
    const kind = draw.pick([
      'INNER JOIN',
      'LEFT JOIN',
      'FULL OUTER JOIN',
      'ANY LEFT JOIN',
      'SEMI JOIN',
      'ANTI JOIN',
      'ALL RIGHT JOIN',
      'CROSS JOIN',
      'GLOBAL LEFT JOIN',
      ',',
    ]);
    return {
      sql: `${left.sql} ${kind} ${right.sql}${joinOn(kind, left, right)}`,
      columns: [...left.columns, ...right.columns],
    };
  };
  const joinOn = (kind: string, left: From, right: From): string => {
    if (kind === ',' || kind === 'CROSS JOIN') return '';
    const of = (side: From): string => side.columns.find(({ kind: has }) => has === 'text')?.name ?? '1';
    return ` ON ${of(left)} = ${of(right)}${draw.maybe(0.2, () => ` AND ${express('flag', { columns: [], ctes: [], lambdas: [], depth: 0 })}`)}`;
  };
  const single = (scope: Scope): From => {
    if (hostile.isNasty('table'))
      return { sql: hostile.tableExpression(), columns: draw.pick(tools.vocabulary.publicTables).columns };
    return sourceOf(draw, tools, scope, top);
  };
  const named = (from: From): From => {
    const name = alias();
    const columns = from.columns.map((column) => ({ ...column, name: `${name}.${column.name}` }));
    return { sql: `${from.sql} AS ${name}`, columns };
  };

  const top: Selects['top'] = (outer) => {
    const prelude = withClause({ ...tools, express, ofOne }, deeper(outer));
    const body = oneSelect({ tools, express, fromClause, alias }, prelude.scope);
    const more = draw.maybe(
      0.12,
      () =>
        ` ${draw.pick(['UNION ALL', 'UNION DISTINCT', 'INTERSECT', 'EXCEPT'])} ${draw.chance(0.5) ? body : `(${body})`}`,
    );
    return `${prelude.sql}${body}${more}${clause()}`;
  };
  return { top, ofOne };
}

function deeper(scope: Scope): Scope {
  return { ...scope, depth: scope.depth - 1 };
}

function withArrayJoin(draw: Draw, from: From): From {
  const list = from.columns.find(({ kind }) => kind === 'list')?.name ?? '[1, 2]';
  const sql = draw.maybe(0.08, () => ` ${draw.pick(['ARRAY JOIN', 'LEFT ARRAY JOIN'])} ${list} AS item`);
  return {
    sql: from.sql + sql,
    columns: sql === '' ? from.columns : [...from.columns, { name: 'item', kind: 'number' }],
  };
}

function sourceOf(draw: Draw, { vocabulary, hostile }: Tools, scope: Scope, top: Selects['top']): From {
  const cte = scope.ctes.length > 0 && draw.chance(0.4) ? draw.pick(scope.ctes) : undefined;
  if (cte !== undefined) return { sql: cte.name, columns: cte.columns };
  if (draw.chance(0.2)) return madeRows({ draw, hostile }, scope, top);
  const table = draw.pick(vocabulary.publicTables);
  const columns = table.columns;
  const sql = draw.oneOf([
    [8, () => table.name],
    [1, () => `${table.name} FINAL`],
    [1, () => `\`${table.name}\``],
    [1, () => `(SELECT * FROM ${table.name} LIMIT 5)`],
    [
      scope.depth > 0 ? 1 : 0,
      () => `(SELECT ${columns.map(({ name }) => name).join(', ')} FROM (SELECT * FROM ${table.name}))`,
    ],
  ]);
  return { sql, columns };
}

/** Rows that come from no table. */
function madeRows(
  { draw, hostile }: Pick<Tools, 'draw' | 'hostile'>,
  scope: Scope,
  top: Selects['top'],
): From {
  if (scope.depth > 0 && draw.chance(0.4)) return { sql: `(${top(scope)})`, columns: [] };
  const [sql, name] = draw.pick([
    ['numbers(5)', 'number'],
    ['generate_series(1, 9, 2)', 'generate_series'],
    [
      `values(${draw.chance(NASTY_STRUCTURES) ? hostile.structure() : `'number UInt8, payer String'`}, (1, 'x'), (2, 'y'))`,
      'number',
    ],
  ] as const);
  return { sql, columns: [{ name, kind: 'number' }] };
}

interface PreludeTools extends Tools {
  readonly express: Expressions;
  readonly ofOne: Selects['ofOne'];
}

/** WITH: queries, expressions, lambdas, recursion; each may be named like something real. */
function withClause(tools: PreludeTools, scope: Scope): { readonly sql: string; readonly scope: Scope } {
  const { draw, hostile, fresh, express, ofOne } = tools;
  if (scope.depth < 0 || draw.chance(0.6)) return { sql: '', scope };
  const name = (plain: string): string =>
    hostile.isNasty('declared') ? hostile.declaredName() : fresh(plain);
  const ctes: Source[] = [];
  const lambdas: string[] = [];
  const query = (): string => {
    const kind = draw.pick(KINDS);
    ctes.push({ name: name('c'), columns: [{ name: 'n', kind }] });
    return `${ctes.at(-1)?.name} AS (SELECT (${ofOne(kind, { ...scope, ctes: ctes.slice(0, -1) })}) AS n)`;
  };
  const lambda = (): string => {
    lambdas.push(hostile.isNasty('functionName') ? hostile.functionName() : name('f'));
    const body = hostile.isNasty('functionName')
      ? hostile.call('x')
      : draw.pick(['x', 'toString(x)', 'concat(toString(x), lower(toString(x)))']);
    return `x -> ${body} AS ${lambdas.at(-1)}`;
  };
  const recursive = draw.chance(0.15);
  const first = recursive ? 'r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 4), ' : '';
  if (recursive) ctes.push({ name: 'r', columns: [{ name: 'n', kind: 'number' }] });
  const items = draw.several([1, 3], () =>
    draw.oneOf([
      [3, query],
      [2, lambda],
      [2, () => `${express('number', scope)} AS ${name('w')}`],
    ]),
  );
  return {
    sql: `WITH ${recursive ? 'RECURSIVE ' : ''}${first}${items} `,
    scope: { ...scope, ctes: [...scope.ctes, ...ctes], lambdas: [...scope.lambdas, ...lambdas] },
  };
}

interface SelectTools {
  readonly tools: Tools;
  readonly express: Expressions;
  readonly fromClause: (scope: Scope) => From;
  readonly alias: () => string;
}

function oneSelect({ tools, express, fromClause, alias }: SelectTools, outer: Scope): string {
  const { draw } = tools;
  const from = draw.chance(0.1) ? { sql: '', columns: [] } : fromClause(outer);
  const scope = { ...outer, columns: from.columns };
  const key = express(draw.pick(['text', 'time'] as const), { ...scope, depth: 0 });
  const grouped = draw.chance(0.35);
  const item = (): string =>
    selectItem(tools, express, scope, grouped, () => draw.maybe(0.3, () => ` AS ${alias()}`));
  const list = grouped ? `${key} AS k, ${draw.several([1, 3], item)}` : draw.several([1, 3], item);
  const flag = () => express('flag', scope);
  const clauses = [
    draw.maybe(0.02, () => ` PREWHERE ${flag()}`),
    draw.maybe(0.4, () => ` WHERE ${flag()}`),
    grouped
      ? ` GROUP BY ${draw.pick(['k', 'ALL', 'k WITH ROLLUP', 'k WITH TOTALS', 'GROUPING SETS ((k), ())', 'CUBE(k)'])}`
      : '',
    grouped ? draw.maybe(0.3, () => ` HAVING count() > ${draw.below(3)}`) : '',
    draw.maybe(
      0.1,
      () => ` WINDOW w AS (PARTITION BY ${express('text', scope)} ORDER BY ${express('time', scope)})`,
    ),
    grouped
      ? ''
      : draw.maybe(0.1, () => ` QUALIFY row_number() OVER (ORDER BY ${express('number', scope)}) < 3`),
    ending(tools, grouped ? 'k' : express('text', scope)),
  ].join('');
  const distinct = draw.maybe(0.1, () => draw.pick(['DISTINCT ', 'DISTINCT ON (1) ', 'TOP 3 ']));
  if (from.sql === '') return `SELECT ${distinct}${list}${clauses}`;
  if (draw.chance(0.05)) return `FROM ${from.sql} SELECT ${distinct}${list}${clauses}`;
  return `SELECT ${distinct}${list} FROM ${from.sql}${clauses}`;
}

function ending(tools: Tools, by: string): string {
  const { draw } = tools;
  const ordered = draw.chance(0.3);
  const limits = [' LIMIT 5', ' LIMIT 2, 3', ' LIMIT 4 OFFSET 1', ' LIMIT 1 BY 1 LIMIT 3'];
  const orderedLimits = [' OFFSET 1 ROW FETCH FIRST 2 ROWS ONLY', ' LIMIT 3 WITH TIES'];
  const limit = draw.maybe(0.4, () => draw.pick(ordered ? [...limits, ...orderedLimits] : limits));
  return `${ordered ? orderBy(tools, by) : ''}${limit}`;
}

function orderBy({ draw, hostile }: Tools, by: string): string {
  return ` ORDER BY ${by}${draw.oneOf([
    [4, () => draw.pick(['', ' DESC', ' DESC NULLS LAST'])],
    [1, () => ` COLLATE ${hostile.isNasty('other') ? hostile.rawLiteral() : `'en'`}`],
  ])}`;
}

function selectItem(
  tools: Tools,
  express: Expressions,
  scope: Scope,
  grouped: boolean,
  named: () => string,
): string {
  const { draw } = tools;
  const of = (kind: Kind): string => express(kind, scope);
  const aggregates: Choice[] = [
    [2, () => draw.pick(['count()', 'count(DISTINCT 1)', 'count(*)'])],
    [
      2,
      () =>
        `${draw.pick(['sum', 'avg', 'max', 'min', 'uniq', 'quantile(0.9)', 'topK(3)', 'groupArray', 'sumOrNull'])}(${of('number')})`,
    ],
    [1, () => `argMax(${of('text')}, ${of('time')})`],
    [1, () => `${draw.pick(['sumIf', 'avgIf', 'anyIf'])}(${of('number')}, ${of('flag')})`],
    [1, () => `finalizeAggregation(sumState(${of('number')}))`],
    [1, () => `uniq(${of('text')}) FILTER (WHERE ${of('flag')})`],
    [0.5, () => `(SELECT uniqMerge(u) FROM (SELECT uniqState(payer) AS u FROM settlements))`],
  ];
  if (grouped) return draw.oneOf(aggregates) + named();
  return draw.oneOf([
    [6, () => of(draw.pick(KINDS)) + named()],
    [2, () => matcher(tools, of)],
    [2, () => windowed(draw, of) + named()],
  ]);
}

function windowed(draw: Draw, of: (kind: Kind) => string): string {
  const call = draw.pick([
    'row_number()',
    'rank()',
    `sum(${of('number')})`,
    `lagInFrame(${of('text')}, 1)`,
    'count()',
  ]);
  const frame = draw.maybe(0.3, () => ' ROWS BETWEEN 2 PRECEDING AND CURRENT ROW');
  return `${call} OVER (PARTITION BY ${of('text')} ORDER BY ${of('time')}${frame})`;
}

/** `*`, COLUMNS and their transformers: names in patterns, names of functions without a call. */
function matcher({ draw, hostile, vocabulary }: Tools, of: (kind: Kind) => string): string {
  const literal = (plain: string): string => (hostile.isNasty('other') ? hostile.rawLiteral() : plain);
  const applied = (): string => {
    if (hostile.isNasty('functionName'))
      return draw.oneOf([
        [2, hostile.functionName],
        [1, () => `x -> ${hostile.call('x')}`],
        [1, () => `arrayReduce('${hostile.functionName()}')`],
      ]);
    return draw.oneOf([
      [2, () => 'toString'],
      [1, () => "x -> concat(toString(x), '!')"],
      [1, () => draw.pick(vocabulary.allowed)],
      [1, () => 'max'],
    ]);
  };
  const base = draw.oneOf([
    [3, () => '*'],
    [1, () => `COLUMNS(${literal(`'^pay|_usd$'`)})`],
    [1, () => `COLUMNS(${hostile.isNasty('bareWord') ? hostile.bareWord() : 'chain'}, chain)`],
    [1, () => `* ${draw.pick(['LIKE', 'ILIKE'])} ${literal(`'pay%'`)}`],
  ]);
  const transformer = (): string =>
    draw.oneOf([
      [2, () => ` APPLY(${applied()})`],
      [1, () => ` EXCEPT (chain)`],
      [1, () => ` EXCEPT ${literal(`'^a'`)}`],
      [1, () => ` REPLACE (${of('text')} AS chain)`],
    ]);
  return `${base}${draw.several([0, 1], transformer, '')}${draw.maybe(0.2, () => ` APPLY(${applied()})`)}`;
}
