import { nearest } from '../../core/command-text.ts';
import { OWN_DATABASE } from '../../core/domain/own-table.ts';
import { PUBLIC_TABLE_NAMES } from '../../core/domain/public-tables.ts';
import { type SqlPolicy, TABLE_FUNCTIONS } from '../policy/policy.ts';
import type { Refusal, RefusalCode } from './refusal.ts';

/** Default hints by refusal code: every refusal says what to write instead, even if its rule has no hint of its own. */

const SCHEMA = 'GET /v0/sql/schema lists the tables, and the columns of one `table`.';
const BEGIN = 'Begin with SELECT or WITH.';

const HINTS: Readonly<Record<RefusalCode, string>> = {
  empty: BEGIN,
  too_long: 'Join a subquery instead of a list, or send the values in `params`.',
  nul_byte: 'Leave the NUL byte out.',
  syntax: 'The dialect is that of ClickHouse.',
  not_select: BEGIN,
  forbidden_clause: 'Send one SELECT without it.',
  settings: 'Time and memory come with `tier`, rows with `max_rows`, the form of the answer with `format`.',
  identifier: 'Name columns with letters, digits and _.',
  parameter: 'Every {name:Type} of the query needs its value in `params`, and no other may be there.',
  unknown_table: SCHEMA,
  unknown_column: SCHEMA,
  table_function: `Available: ${TABLE_FUNCTIONS.join(', ')}.`,
  function:
    'Functions that compute values from values are allowed: GET /v0/sql/schema?functions=… finds one by a word.',
  virtual_column: SCHEMA,
  type: 'Use the types that the columns have, and those that functions give.',
  too_complex: 'Split the question, or name a CTE fewer times.',
  unexplained: 'Write it in a simpler form: a subquery in FROM, plain aliases, one clause at a time.',
};

/** Common functions of other dialects, and their names here. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['nvl', 'ifNull'],
  ['isnull', 'ifNull'],
  ['getdate', 'now'],
  ['sysdate', 'now'],
  ['to_char', 'formatDateTime'],
  ['to_timestamp', 'parseDateTimeBestEffort'],
  ['to_date', 'toDate'],
  ['to_number', 'toFloat64'],
  ['strpos', 'position'],
  ['charindex', 'position'],
  ['regexp_like', 'match'],
  ['regexp_count', 'countMatches'],
  ['approx_count_distinct', 'uniq'],
  ['approx_distinct', 'uniq'],
  ['percentile_cont', 'quantile(0.5)'],
  ['percentile_disc', 'quantileExact(0.5)'],
  ['approx_percentile', 'quantile(0.5)'],
  ['listagg', 'groupConcat'],
  ['split_part', 'splitByString(…)[n]'],
  ['date_part', 'toYear, toMonth, toHour'],
  ['datepart', 'toYear, toMonth, toHour'],
  ['try_cast', 'accurateCastOrNull'],
  ['safe_divide', 'divideOrNull'],
  ['safe_cast', 'accurateCastOrNull'],
  ['array_length', 'length'],
  ['cardinality', 'length'],
  ['array_contains', 'has'],
  ['json_extract', 'JSON_VALUE'],
  ['json_extract_scalar', 'JSON_VALUE'],
  ['to_hex', 'hex'],
  ['from_hex', 'unhex'],
  ['bool_or', 'max'],
  ['bool_and', 'min'],
]);

/** Shorter names are similar to too many others. */
const SUGGESTED_FROM_CHARS = 3;
/** Forms with a combinator, which the list of functions does not contain. */
const COMMON_FORMS = [
  'count',
  'sum',
  'avg',
  'min',
  'max',
  'any',
  'uniq',
  'uniqExact',
  'argMax',
  'quantile',
].map((name) => `${name}If`);

/** The error is in the quotes. */
const AS_WRITTEN: ReadonlySet<RefusalCode> = new Set(['identifier', 'unknown_column']);

export function advised(refusal: Refusal, policy: SqlPolicy): Refusal {
  const near = AS_WRITTEN.has(refusal.code) ? refusal.near : refusal.near?.replace(/^[`"]|[`"]$/g, '');
  const better = near === undefined ? undefined : betterHint(refusal, near, policy);
  return {
    ...refusal,
    ...(near === undefined ? {} : { near }),
    hint: better?.hint ?? refusal.hint ?? HINTS[refusal.code],
    ...(better?.meant === undefined ? {} : { meant: better.meant }),
  };
}

/** A hint, and its replacement word if it proposes a single one. */
interface Better {
  readonly hint: string | undefined;
  readonly meant?: string;
}

function didYouMean(meant: string): Better {
  return { hint: `Did you mean ${meant}?`, meant };
}

function betterHint({ code, hint }: Refusal, near: string, policy: SqlPolicy): Better | undefined {
  if (code === 'unknown_table') return tableHint(near, policy);
  if (code === 'not_select') return { hint: statementHint(near.toUpperCase()) };
  if (code === 'table_function') return { hint: tableFunctionHint(near, hint) };
  if (code === 'function' && hint === undefined) return functionHint(near, policy);
  return undefined;
}

function tableHint(name: string, { tables, own }: SqlPolicy): Better {
  const last = name.split('.').at(-1) ?? name;
  if (name.startsWith(`${OWN_DATABASE}.`)) return ownTableHint([...(own?.values() ?? [])]);
  if (/^system\.(numbers|zeros)/i.test(name)) return { hint: 'Write numbers(n), with as many as you need.' };
  if (/^(system|information_schema)\./i.test(name)) return { hint: SCHEMA };
  if (tables.has(last))
    return { hint: `Write ${last}: public tables are named without a database.`, meant: last };
  const meant = nearest(last, PUBLIC_TABLE_NAMES);
  return meant === undefined
    ? { hint: `The public tables are ${PUBLIC_TABLE_NAMES.join(', ')}.` }
    : didYouMean(meant);
}

function ownTableHint(own: readonly { readonly name: string }[]): Better {
  if (own.length === 0)
    return {
      hint: `${OWN_DATABASE}.… are tables of the caller's organization (PUT /v0/tables/{name}), read by its own queries and jobs, and not by saved queries.`,
    };
  return { hint: `Your tables are ${own.map(({ name }) => `${OWN_DATABASE}.${name}`).join(', ')}.` };
}

function functionHint(name: string, { functions }: SqlPolicy): Better | undefined {
  const here = ELSEWHERE.get(name.toLowerCase());
  if (here !== undefined) return { hint: `Here it is ${here}.` };
  if (name.length < SUGGESTED_FROM_CHARS) return undefined;
  const meant = nearest(name, [...COMMON_FORMS, ...functions.names]);
  return meant === undefined ? undefined : didYouMean(meant);
}

function tableFunctionHint(name: string, hint: string | undefined): string | undefined {
  if (/^(numbers|zeros)/i.test(name)) return 'Write numbers(n).';
  if (/^values$/i.test(name)) return hint;
  return HINTS.table_function;
}

function statementHint(word: string): string {
  if (word === 'EXPLAIN') return 'Send the SELECT itself with `explain_only`.';
  if (/^(SHOW|DESCRIBE|DESC|EXISTS)$/.test(word)) return SCHEMA;
  if (word === 'SET') return HINTS.settings;
  const meant = nearest(word, ['SELECT', 'WITH', 'FROM']);
  return meant === undefined ? BEGIN : `Did you mean ${meant}?`;
}
