import type { EngineError } from '../../clickhouse/engine/engine.ts';
import { nearest } from '../../core/command-text.ts';
import { withOwnNames } from '../../core/domain/own-table.ts';
import { textBetween } from '../../core/text.ts';
import type { TextEdit } from '../../core/text-edits.ts';
import { columnsHint, columnsOf, withLastPart } from '../judge/columns.ts';
import { cleanWords } from '../judge/engine-words.ts';
import type { Accepted } from '../judge/inspect.ts';
import { QUERY_FAILURES, QueryFailed, type QueryFailure, type RunFigures } from '../sandbox.ts';

/** Turns an engine error during the run of an accepted query into an error for its author. */

/** Failure reasons by the engine's codes. Names as in ClickHouse's ErrorCodes.cpp. */
const CODES: Readonly<Record<Exclude<QueryFailure, 'other' | 'disk' | 'cancelled'>, readonly number[]>> = {
  timeout: [159, 160], // TIMEOUT_EXCEEDED, TOO_SLOW
  memory: [241], // MEMORY_LIMIT_EXCEEDED
  rows_read: [158, 307], // TOO_MANY_ROWS, TOO_MANY_BYTES
  result_size: [396], // TOO_MANY_ROWS_OR_BYTES
  too_complex: [162, 167, 168, 306, 191, 595], // TOO_DEEP_*, TOO_BIG_AST, SET_SIZE_LIMIT_EXCEEDED
  unknown_column: [47, 8, 10, 16, 51, 207], // UNKNOWN_IDENTIFIER, …, AMBIGUOUS_IDENTIFIER
  unknown_table: [60, 81],
  unknown_function: [46, 63],
  not_grouped: [215, 184], // NOT_AN_AGGREGATE, ILLEGAL_AGGREGATION
  // Types, and the number of arguments or columns.
  type_error: [43, 53, 386, 42, 44, 50, 59, 34, 35, 20, 258, 70, 133, 309, 456],
  // Unparsable texts, numbers, times and addresses; division by zero, overflow, bounds.
  value_error: [
    6, 12, 26, 27, 36, 38, 41, 69, 72, 117, 125, 128, 130, 131, 153, 190, 321, 349, 376, 407, 427, 457, 475,
    675, 676, 691,
  ],
  duplicate_columns: [15, 179, 352], // DUPLICATE_COLUMN, MULTIPLE_EXPRESSIONS_FOR_ALIAS, AMBIGUOUS_COLUMN_NAME
  unsupported: [1, 48, 141, 164, 181, 182, 344, 403, 446, 447, 497], // NOT_IMPLEMENTED, ILLEGAL_FINAL, ACCESS_DENIED, …
};
const REASON_OF_CODE: ReadonlyMap<number, QueryFailure> = new Map(
  Object.entries(CODES).flatMap(([reason, codes]) =>
    codes.map((code) => [code, reason as QueryFailure] as const),
  ), // its own keys
);

/** Reasons with our own wording: the engine's names settings, or rights that no caller can have. */
const OWN_WORDS: ReadonlySet<QueryFailure> = new Set([
  'timeout',
  'memory',
  'disk',
  'rows_read',
  'result_size',
]);
/** Shorter names are similar to too many others. */
const SUGGESTED_FROM_CHARS = 3;
const ACCESS_CODES: ReadonlySet<number> = new Set([164, 497]);

const HINTS: Readonly<Partial<Record<QueryFailure, string>>> = {
  timeout:
    'Narrow block_time, ask merchant_days or payer_days for long ranges, or send a larger `max_qu` or `tier`.',
  memory: 'Narrow block_time, group by fewer columns, or use uniq instead of uniqExact.',
  disk: 'Narrow block_time, group, sort or join fewer columns, or send a larger `tier`.',
  rows_read: 'Narrow block_time, or ask merchant_days or payer_days.',
  result_size: 'Add a LIMIT, select fewer columns, or choose a streamed `format`.',
  too_complex: 'Split the question, or end a recursion earlier.',
  unknown_table: 'GET /v0/sql/schema lists the tables.',
  unknown_function: 'Functions have ClickHouse’s names; names of lambdas must be declared in WITH.',
  not_grouped: 'Name the column in GROUP BY, or put it into any(), min() or another aggregate.',
  type_error:
    'Convert one side, for example with toString(x), toUInt256(x) or toDateTime(x), and count the arguments.',
  value_error:
    'Filter such values out first, or use a form that does not fail: …OrNull, …OrZero, nullIf(x, 0).',
  duplicate_columns: 'Give each column a name of its own with AS.',
};

interface Explanation {
  readonly reason: QueryFailure;
  readonly detail: string;
  readonly ownDetail?: string;
  readonly hint?: string;
  readonly near?: string;
  readonly meant?: string;
  readonly suggestedSql?: string;
  readonly edits?: TextEdit[];
}

/** What an explanation knows of the query. */
type Explained = Pick<Accepted, 'text' | 'tables' | 'own' | 'warnings' | 'functions'>;

/** `QueryFailed` if the query is at fault; the error itself if the engine is. */
export function explainFailure(
  error: EngineError,
  accepted: Explained,
  figures: RunFigures | null,
): QueryFailed | EngineError {
  if (error.engineCode === null || ['overloaded', 'unreachable', 'aborted'].includes(error.problem))
    return error;
  const said = error.cause instanceof Error ? error.cause.message : '';
  // The engine's total memory was exhausted: a retry may succeed.
  if (error.problem === 'memory' && !/query memory limit|for query/i.test(said)) return error;
  return new QueryFailed({ ...explain(error.engineCode, said, accepted), figures, cause: error });
}

/** The engine has no code of its own for too large files. */
function reasonOf(code: number, said: string): QueryFailure {
  if (/limit for temporary files/i.test(said)) return 'disk';
  return REASON_OF_CODE.get(code) ?? 'other';
}

/** What needs memory, by the engine's name of the step that it was in, and how to need less. */
const OPERATORS: readonly (readonly [step: RegExp, operator: string, hint: string])[] = [
  [
    /Join/,
    'the join',
    'Join on an equal column (a=b), which goes on disk where it must; filter and group each side first, and put the smaller one on the right.',
  ],
  [
    /Distinct/,
    'DISTINCT',
    'Write SELECT … GROUP BY the same columns, which goes on disk where it must, or use fewer or shorter columns.',
  ],
  [/Window/, 'a window function', 'Add a PARTITION BY with smaller partitions, or narrow block_time.'],
  [/Sort/, 'ORDER BY', 'Sort fewer and shorter columns, and look the others up after a LIMIT.'],
  [
    /CreatingSet/,
    'IN (SELECT …)',
    'Write it as a JOIN with a grouped subquery, which goes on disk where it must.',
  ],
];
/** Aggregates that keep every value. */
const KEEPS_VALUES =
  /^(uniqexact|count_?distinct|group(array|uniqarray|concat)|quantiles?exact|median_?exact|topk)/i;

function operatorOf(
  said: string,
  functions: readonly string[],
): Pick<Explanation, 'detail' | 'hint'> | undefined {
  const step = /While executing (\w+)/.exec(said)?.[1];
  if (step === undefined) return undefined;
  const [, operator, hint] = OPERATORS.find(([pattern]) => pattern.test(step)) ?? [];
  if (operator !== undefined && hint !== undefined) return neededBy(operator, hint);
  if (!/Aggregat/.test(step)) return undefined;
  const keeping = functions.find((name) => KEEPS_VALUES.test(name));
  if (keeping === undefined)
    return neededBy(
      'GROUP BY',
      'Group by fewer or shorter columns (ids instead of addresses), or narrow block_time.',
    );
  return neededBy(
    keeping,
    /^(uniq|count)/i.test(keeping)
      ? `${keeping} keeps every value: use uniq, or count the rows of a subquery that groups by it.`
      : `${keeping} keeps every value: use quantile, topK with a small number, or a GROUP BY of the values.`,
  );
}

function neededBy(operator: string, hint: string): Pick<Explanation, 'detail' | 'hint'> {
  return { detail: `${QUERY_FAILURES.memory.slice(0, -1)}: ${operator} took it.`, hint };
}

function explain(code: number, said: string, accepted: Explained): Explanation {
  const reason = reasonOf(code, said);
  const operator = reason === 'memory' ? operatorOf(said, accepted.functions) : undefined;
  if (operator !== undefined) return { reason, ...operator };
  const words = OWN_WORDS.has(reason) || ACCESS_CODES.has(code) ? undefined : cleanWords(withOwnNames(said));
  const detail = words ?? QUERY_FAILURES[reason];
  if (reason === 'unknown_column') return { reason, ...unknownColumn(said, detail, accepted) };
  const ofAlias = ALIAS_FAILURES.has(reason) ? hiddenColumn(accepted) : undefined;
  if (ofAlias !== undefined) return { reason, detail, ...ofAlias };
  const hint = orForm(said) ?? timeForm(said) ?? HINTS[reason];
  return { reason, detail, ...(hint === undefined ? {} : { hint }) };
}

/** What an alias in a column's place makes of a query that is right in standard SQL. */
const ALIAS_FAILURES: ReadonlySet<QueryFailure> = new Set(['not_grouped', 'type_error']);

/** `SELECT max(amount) AS amount … WHERE amount > 5`: the aggregate stands in WHERE. */
function hiddenColumn({ warnings }: Explained): Omit<Explanation, 'reason' | 'detail'> | undefined {
  const warning = warnings.find(({ code }) => code === 'alias_hides_column');
  if (warning?.message === undefined) return undefined;
  const { message, near, suggested_sql: suggestedSql, edits } = warning;
  return {
    hint: message,
    ...(near === undefined ? {} : { near }),
    ...(suggestedSql === undefined ? {} : { suggestedSql }),
    ...(edits === undefined ? {} : { edits }),
  };
}

function unknownColumn(
  said: string,
  detail: string,
  { text, tables, own = [] }: Pick<Accepted, 'text' | 'tables' | 'own'>,
): Omit<Explanation, 'reason'> {
  const name = /[Ii]dentifier [`']([^`']+)[`']/.exec(said)?.[1];
  // Never repeat a name that the caller did not write.
  if (name === undefined || !text.includes(name)) return { detail, hint: columnsHint(tables) };
  const last = name.split('.').at(-1) ?? name;
  const columns = [
    ...tables.flatMap((table) => columnsOf(table)),
    ...own.flatMap((table) => table.columns.map((column) => column.name)),
  ];
  const meant =
    last.length < SUGGESTED_FROM_CHARS ? undefined : nearest(last, [...columns, ...suggested(said)]);
  const words = `There is no column ${name} where it is named.`;
  const fact = { detail: words, ownDetail: words, near: name };
  if (meant === undefined || meant === last) return { ...fact, hint: columnsHint(tables) };
  return { ...fact, hint: `Did you mean ${meant}?`, meant: withLastPart(name, meant) };
}

/** The engine's suggestion: it knows aliases and columns of subqueries. */
function suggested(said: string): string[] {
  const list = textBetween(said, 'Maybe you meant: [', ']') ?? '';
  return [...list.matchAll(/'([\w.]+)'/g)].map(([, name = '']) => name.split('.').at(-1) ?? '');
}

/** Variants of `toUInt8('x')` that do not fail, which the engine's message names. */
function orForm(said: string): string | undefined {
  const [, zero, orNull] = /there are (to\w+OrZero) and (to\w+OrNull) functions/.exec(said) ?? [];
  return zero === undefined ? undefined : `Use ${zero} or ${orNull}, which do not fail.`;
}

/** A time that is compared with a value of another type, or one that is not a whole day. */
function timeForm(said: string): string | undefined {
  const type = /Cannot convert string '\d{4}-[^']*' to type (Date|DateTime)\b/.exec(said)?.[1];
  if (type === undefined) return undefined;
  return type === 'Date'
    ? "A day is written '2026-11-20'. Compare block_time with a time, or its day with a day."
    : "Write toDateTime('2026-11-20T12:00:00Z'), or '2026-11-20 12:00:00', which is UTC.";
}
