import { type TSchema, Type } from '@sinclair/typebox';
import { nearest } from '../../../core/command-text.ts';
import { usdNumber } from '../../../core/domain/amount.ts';
import { RESULT_KEPT_MS } from '../../../core/domain/job.ts';
import { SQL_SECONDS_PER_QU, SQL_TIER_IDS, type SqlTierId } from '../../../core/domain/plan.ts';
import { PUBLIC_TABLE_NAMES, type PublicTableName } from '../../../core/domain/public-tables.ts';
import { fail } from '../../../core/errors.ts';
import { PARAMETERS_MAX } from '../../../sandbox/judge/literals/parameters.ts';
import { NUMBER_FORMS, type NumberForm } from '../../../sandbox/sandbox.ts';
import { invalid, type Param, quoted } from '../params.ts';
import { SQL_QU_USD_MICROS, SQL_TIERS, sqlTierOf } from '../prices.ts';

/** The fields of a SQL request, once: how they are read and what they mean. */

export const SQL_FORMATS = ['json', 'json_compact', 'ndjson', 'csv', 'parquet', 'arrow'] as const;
export type SqlFormat = (typeof SQL_FORMATS)[number];

/** Rows in one answer, by format. */
export const JSON_ROWS_MAX = 10_000;
export const STREAMED_ROWS_MAX = 1_000_000;
/** Rows of an answer to a model that does not say: all of it goes into its context. */
export const TOOL_ROWS_DEFAULT = 200;
const MEBIBYTE = 1024 * 1024;
/** Bytes of one answer as they are written, by format: programs hold an answer of JSON in their memory. */
export const JSON_BYTES_MAX = 64 * MEBIBYTE;
export const STREAMED_BYTES_MAX = 1024 * MEBIBYTE;

/** The media type of each format, what it holds, and how many rows and bytes one answer has at most. */
export const SQL_MEDIA: Readonly<
  Record<
    SqlFormat,
    {
      readonly mediaType: string;
      readonly holds: string;
      readonly rowsMax: number;
      readonly bytesMax: number;
      /** Of a text: a few rows. */
      readonly example?: string;
    }
  >
> = {
  json: {
    mediaType: 'application/json; charset=utf-8',
    holds: 'One object; rows are objects by column name.',
    rowsMax: JSON_ROWS_MAX,
    bytesMax: JSON_BYTES_MAX,
  },
  json_compact: {
    mediaType: 'application/json; charset=utf-8',
    holds: 'One object; rows are arrays in the order of `columns`.',
    rowsMax: JSON_ROWS_MAX,
    bytesMax: JSON_BYTES_MAX,
  },
  ndjson: {
    mediaType: 'application/x-ndjson; charset=utf-8',
    holds: 'An object by column name on each line.',
    rowsMax: STREAMED_ROWS_MAX,
    bytesMax: STREAMED_BYTES_MAX,
    example:
      '{"payee":"0x4020615294c913f045dc10f0a5cdebd86c280001","usd":"1284.03"}\n{"payee":"0x8d4f05a0f2c1b3e49a7766554433221100ffeedd","usd":"311.5"}\n',
  },
  csv: {
    mediaType: 'text/csv; charset=utf-8; header=present',
    holds: 'Comma-separated values, the first line names the columns.',
    rowsMax: STREAMED_ROWS_MAX,
    bytesMax: STREAMED_BYTES_MAX,
    example:
      '"payee","usd"\n"0x4020615294c913f045dc10f0a5cdebd86c280001",1284.03\n"0x8d4f05a0f2c1b3e49a7766554433221100ffeedd",311.5\n',
  },
  parquet: {
    mediaType: 'application/vnd.apache.parquet',
    holds: 'An Apache Parquet file.',
    rowsMax: STREAMED_ROWS_MAX,
    bytesMax: STREAMED_BYTES_MAX,
  },
  arrow: {
    mediaType: 'application/vnd.apache.arrow.stream',
    holds: 'An Apache Arrow stream.',
    rowsMax: STREAMED_ROWS_MAX,
    bytesMax: STREAMED_BYTES_MAX,
  },
};

/** The same for the declaration of an operation: by media type. */
export const SQL_ANSWER_MEDIA = Object.fromEntries(
  Object.values(SQL_MEDIA).map(({ mediaType, holds, example }) => [
    mediaType.split(';', 1)[0] ?? mediaType,
    { holds, ...(example === undefined ? {} : { example }) },
  ]),
);

export const SQL_TEXT_MAX_BYTES = 64 * 1024;
/** Of one request. */
export const SQL_PARAMETERS_MAX = PARAMETERS_MAX;
/** Of the value of one parameter, as text: as much as a body holds (src/http/request-input.ts). */
export const SQL_PARAMETER_MAX_CHARS = 512 * 1024;
const PARAMETER_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** The sandbox checks its length and whether it is empty: `invalid_query`. */
function textParam(description: string): Param<string | undefined> {
  return {
    in: 'body',
    description,
    required: false,
    schema: Type.String({ maxLength: SQL_TEXT_MAX_BYTES }),
    read: (raw, name) => {
      if (raw === undefined) return undefined;
      if (typeof raw === 'string') return raw;
      throw invalid(name, `${name} must be a text, not ${quoted(raw)}.`);
    },
  };
}

export const sqlParam: Param<string | undefined> = {
  ...textParam(
    'One SELECT in the dialect of ClickHouse, over the public tables: at most 64 KiB. A trailing FORMAT is ignored with a warning, and so are SETTINGS that change no answer; those that lower a limit on time or rows hold, others are refused.',
  ),
  toolText: 'One SELECT in the ClickHouse dialect, without FORMAT and SETTINGS.',
  example:
    'SELECT payee, sum(amount_usd) AS usd FROM settlements WHERE block_time > now() - INTERVAL 1 DAY GROUP BY payee ORDER BY usd DESC LIMIT 10',
};

export const queryParam = { ...textParam('The same as `sql`. Send one of the two.'), toolText: '' };

export const sqlTierParam: Param<SqlTierId> = {
  in: 'body',
  description:
    'How long the query may run, and so what it may cost. `/v0/account` says which tiers a caller may buy.',
  toolText: `The time limit, and so the price: ${SQL_TIERS.map(({ tier, timeoutSeconds }) => `${tier} ${timeoutSeconds} s`).join(', ')}. Default standard.`,
  required: false,
  schema: choiceSchema(SQL_TIER_IDS, 'standard'),
  read: (raw, name) => readChoice(raw, name, SQL_TIER_IDS, 'standard'),
};

const LARGEST_BUDGET = Math.max(...SQL_TIERS.map(({ jobQu }) => jobQu));

/** `checkBudget` compares it with the tier, because each field is read by itself. */
export const maxQuParam: Param<number | undefined> = {
  in: 'body',
  description: `The most that the query may cost, in Query Units: it is held, and it ends the run after ${SQL_SECONDS_PER_QU} s a unit. Over x402 it sets the price, ${usdNumber(SQL_QU_USD_MICROS)} USD a unit. Default: the maximum of the tier, which is larger for a job.`,
  toolText: `The most it may cost, in QU of ${SQL_SECONDS_PER_QU} s; held first. Default: the maximum of the tier.`,
  required: false,
  schema: Type.Integer({ minimum: 1, maximum: LARGEST_BUDGET }),
  example: 1,
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    if (typeof raw === 'number' && Number.isInteger(raw) && raw >= 1 && raw <= LARGEST_BUDGET) return raw;
    throw badBudget(name, raw);
  },
};

/** Refuses more than the tier has. */
export function checkBudget(tier: SqlTierId, maxQu: number | undefined, isJob = false): void {
  const { maxQu: callQu, jobQu } = sqlTierOf(tier);
  if (maxQu !== undefined && maxQu > (isJob ? jobQu : callQu)) throw badBudget('max_qu', maxQu, isJob);
}

function badBudget(name: string, raw: unknown, isJob = false): Error {
  const ranges = SQL_TIERS.map(
    ({ tier, maxQu, jobQu }) => `from 1 to ${isJob ? jobQu : maxQu} in the tier ${tier}`,
  );
  return invalid(name, `${name} must be a whole number ${ranges.join(', ')}, not ${quoted(raw)}.`);
}

export const sqlFormatParam: Param<SqlFormat> = {
  in: 'body',
  description: `How the answer is written; without it the Accept header chooses. JSON answers have at most ${JSON_ROWS_MAX} rows, the others ${STREAMED_ROWS_MAX}; a result with more fails, unless \`max_rows\` says that it may be cut.`,
  toolText: 'Rows as objects (json, the default) or as arrays in the order of columns (json_compact).',
  required: false,
  schema: choiceSchema(SQL_FORMATS, 'json'),
  read: (raw, name) => readChoice(raw, name, SQL_FORMATS, 'json'),
};

/** The default depends on the format: columnar files are read by programs, JSON by anything. */
export const sqlNumbersParam: Param<NumberForm | undefined> = {
  in: 'body',
  description:
    'How numbers are written that a reader may round or show as bytes: integers of 64 bits and more and decimals in JSON and NDJSON, integers of 128 and 256 bits and decimals of more than 38 digits in Parquet and Arrow. `text`: every digit, as a text; the default in JSON. `native`: in JSON a number where a double holds it (integers up to 2^53, decimals of 15 digits) and a text otherwise; in Parquet and Arrow, where it is the default, a decimal of 38 digits, and a value that does not fit fails the query. CSV has every digit without quotes.',
  toolText: 'native: numbers instead of texts, where exact.',
  required: false,
  schema: Type.Union(NUMBER_FORMS.map((form) => Type.Literal(form))),
  read: (raw, name) => (raw === undefined ? undefined : readChoice(raw, name, NUMBER_FORMS, 'text')),
};

export function numbersOf(format: SqlFormat, asked: NumberForm | undefined): NumberForm {
  return asked ?? (format === 'parquet' || format === 'arrow' ? 'native' : 'text');
}

export const maxRowsParam: Param<number | undefined> = {
  in: 'body',
  description:
    'Rows that the answer has at most, 1 or more; `truncated` says whether there are more. Without it, or above what the format allows, the answer has every row of the result, or the query fails with `result_size`.',
  required: false,
  schema: Type.Integer({ minimum: 1, maximum: STREAMED_ROWS_MAX }),
  example: 1_000,
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    if (typeof raw !== 'number' || !Number.isInteger(raw))
      throw invalid(name, `${name} must be an integer, not ${quoted(raw)}.`);
    if (raw < 1) throw invalid(name, `${name} must be at least 1, not ${raw}.`);
    return raw;
  },
};

/** As long as what the ClickHouse interface takes for it, because it is written in every row. */
const CSV_NULL_MAX_CHARS = 16;
/** Printable ASCII that neither ends a value nor begins a quoted one. */
const CSV_NULL = /^[ -!#-&(-+\--~]*$/;

export const csvNullParam: Param<string | undefined> = {
  in: 'body',
  description: `How CSV writes NULL: nothing by default, which readers take for NULL, beside \`""\` for an empty text. At most ${CSV_NULL_MAX_CHARS} characters of ASCII, without quotes, commas and line breaks.`,
  toolText: '',
  required: false,
  schema: Type.String({ maxLength: CSV_NULL_MAX_CHARS }),
  example: 'NULL',
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    if (typeof raw === 'string' && raw.length <= CSV_NULL_MAX_CHARS && CSV_NULL.test(raw)) return raw;
    throw invalid(
      name,
      `${name} must be a text of at most ${CSV_NULL_MAX_CHARS} characters of ASCII without quotes, commas and line breaks, not ${quoted(raw)}.`,
    );
  },
};

export const explainOnlyParam: Param<boolean> = {
  in: 'body',
  description:
    'Checks the query and estimates what it would read and cost, without running it. Free, and needs no key.',
  toolText: 'Judge the query and estimate its cost without running it. Free, no key.',
  required: false,
  schema: Type.Boolean({ default: false }),
  read: (raw, name) => {
    if (raw === undefined || raw === false) return false;
    if (raw === true) return true;
    throw invalid(name, `${name} must be true or false, not ${quoted(raw)}.`);
  },
};

/** Above the longest life of a result. */
export const MAX_AGE_MAX_SECONDS = RESULT_KEPT_MS / 1_000;

export const maxAgeParam: Param<number | undefined> = {
  in: 'body',
  description: `Accepts a kept result of the same query (text, \`params\`, rows) that is at most so many seconds old, up to ${MAX_AGE_MAX_SECONDS}; 0 shares a run that is under way. It costs nothing to an organization that paid for that result and 1 QU to others. Without one the query runs, and its result is kept.`,
  toolText: 'Accepts a kept result of the same query at most so many seconds old: 0 or 1 QU.',
  required: false,
  schema: Type.Integer({ minimum: 0, maximum: MAX_AGE_MAX_SECONDS }),
  read: (raw, name) => readSeconds(raw, name, MAX_AGE_MAX_SECONDS),
};

/** Below the time after which proxies close a connection that says nothing. */
export const WAIT_MAX_SECONDS = 55;

export const waitSecondsParam: Param<number | undefined> = {
  in: 'body',
  description: `Runs the query as a job, with the time limit of a job, and waits so many seconds for it, 0 to ${WAIT_MAX_SECONDS}: a query that takes longer is answered 202 with the job, which goes on. Takes the key of an organization.`,
  toolText: 'Runs as a job, with more time, and waits so many seconds; then answers with the job.',
  required: false,
  schema: Type.Integer({ minimum: 0, maximum: WAIT_MAX_SECONDS }),
  read: (raw, name) => readSeconds(raw, name, WAIT_MAX_SECONDS),
};

function readSeconds(raw: unknown, name: string, max: number): number | undefined {
  if (raw === undefined) return undefined;
  if (typeof raw === 'number' && Number.isInteger(raw) && raw >= 0 && raw <= max) return raw;
  throw invalid(name, `${name} must be a whole number of seconds from 0 to ${max}, not ${quoted(raw)}.`);
}

/** Values of `{name:Type}` placeholders as the texts that the engine reads. */
export const sqlParametersParam: Param<Readonly<Record<string, string>>> = {
  in: 'body',
  description: `Values of the placeholders \`{name:Type}\` of the query, by name: texts, numbers, booleans, null, or lists of these. Numbers beyond 2^53 are sent as texts. At most ${SQL_PARAMETERS_MAX}.`,
  toolText: 'Values of {name:Type} placeholders, by name. Put values from elsewhere here, not into the text.',
  required: false,
  schema: Type.Record(Type.String(), Type.Unknown()),
  read: (raw, name) => {
    if (raw === undefined) return {};
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
      throw invalid(name, `${name} must be an object of values by placeholder name, not ${quoted(raw)}.`);
    const entries = Object.entries(raw);
    if (entries.length > SQL_PARAMETERS_MAX)
      throw invalid(name, `${name} has ${entries.length} values; at most ${SQL_PARAMETERS_MAX} are taken.`);
    return Object.fromEntries(
      entries.map(([key, value]) => [placeholder(key, name), valueText(value, key, name)]),
    );
  },
};

function placeholder(key: string, name: string): string {
  if (PARAMETER_NAME.test(key)) return key;
  throw invalid(name, `${name} names ${quoted(key)}, which no placeholder can: use letters, digits and _.`);
}

function valueText(value: unknown, key: string, name: string): string {
  const text = Array.isArray(value) ? listText(value, key, name) : scalarText(value, key, name);
  if (text.length <= SQL_PARAMETER_MAX_CHARS) return text;
  throw invalid(name, `The value of ${key} is longer than ${SQL_PARAMETER_MAX_CHARS} characters.`);
}

/** What the engine reads as NULL in place of a value. */
const NULL_TEXT = '\\N';

function scalarText(value: unknown, key: string, name: string): string {
  if (value === null) return NULL_TEXT;
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number' && isExact(value)) return String(value);
  throw invalid(
    name,
    typeof value === 'number'
      ? `The value of ${key} is a number beyond 2^53, which JSON does not keep exactly: send it as a text.`
      : `The value of ${key} must be a text, a number, true, false, null, or a list of these.`,
  );
}

function isExact(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

/** A list as a literal of the engine: texts are quoted inside of it. */
function listText(values: readonly unknown[], key: string, name: string): string {
  const items = values.map((value) => {
    if (typeof value === 'string') return `'${value.replace(/[\\']/g, '\\$&')}'`;
    if (Array.isArray(value)) return listText(value, key, name);
    return value === null ? 'NULL' : scalarText(value, key, name);
  });
  return `[${items.join(',')}]`;
}

function choiceSchema(choices: readonly string[], standard: string): TSchema {
  return Type.Union(
    choices.map((choice) => Type.Literal(choice)),
    { default: standard },
  );
}

function readChoice<Choice extends string>(
  raw: unknown,
  name: string,
  choices: readonly Choice[],
  standard: Choice,
): Choice {
  if (raw === undefined) return standard;
  const choice = choices.find((candidate) => candidate === raw);
  if (choice === undefined)
    throw invalid(name, `${name} must be one of ${choices.join(', ')}, not ${quoted(raw)}.`);
  return choice;
}

/** Parameters of the schema of SQL: the wanted part of it. */

/** All tables, or all functions. */
export const EVERYTHING = '*';

const FUNCTION_SEARCH_MAX_CHARS = 64;
/** A search with more matches needs a longer word. */
export const FUNCTIONS_SHOWN_MAX = 100;

export const schemaTableParam: Param<PublicTableName | typeof EVERYTHING | undefined> = {
  in: 'query',
  description: `This table with its columns and an example; \`${EVERYTHING}\` for all tables. Without it tables are listed by name, in one line each.`,
  toolText: 'Name of one table, for its columns.',
  required: false,
  schema: Type.String({ pattern: '^([a-z_]+|\\*)$' }),
  example: 'settlements',
  read: (raw, name) => {
    if (raw === undefined || raw === EVERYTHING) return raw;
    const table = PUBLIC_TABLE_NAMES.find((known) => known === raw);
    if (table !== undefined) return table;
    const meant = typeof raw === 'string' ? nearest(raw, PUBLIC_TABLE_NAMES) : undefined;
    const guess = meant === undefined ? '' : ` Did you mean ${meant}?`;
    throw fail('invalid_parameter', {
      parameter: name,
      detail: `There is no table ${quoted(raw)}.${guess} Tables: ${PUBLIC_TABLE_NAMES.join(', ')}; ${EVERYTHING} for all.`,
    });
  },
};

export const schemaFunctionsParam: Param<string | undefined> = {
  in: 'query',
  description: `Allowed functions in whose names a word begins so, in any case: \`date\` finds dateDiff, toDate and str_to_date. At most ${FUNCTIONS_SHOWN_MAX}; \`${EVERYTHING}\` for all of them. Without it no function is listed.`,
  toolText: 'A word, such as date: allowed functions with it in their names.',
  required: false,
  schema: Type.String({ minLength: 1, maxLength: FUNCTION_SEARCH_MAX_CHARS }),
  example: 'quantile',
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    if (typeof raw === 'string' && (raw === EVERYTHING || /^\w{1,64}$/.test(raw))) return raw;
    throw fail('invalid_parameter', {
      parameter: name,
      detail: `${name} must be the beginning of a function's name or of a word in it (letters, digits and _, at most ${FUNCTION_SEARCH_MAX_CHARS}), or ${EVERYTHING}, not ${quoted(raw)}.`,
    });
  },
};

/** Whether a word of the name begins with the text: `toDateTime` has the words to, Date and Time. */
export function hasWord(name: string, text: string): boolean {
  const lower = name.toLowerCase();
  const wanted = text.toLowerCase();
  if (lower.startsWith(wanted)) return true;
  for (const { index } of name.matchAll(WORD_BEGINNINGS)) if (lower.startsWith(wanted, index)) return true;
  return false;
}

/** After a `_`, at a capital after a small letter or digit, at the last of several capitals, at the first digit. */
const WORD_BEGINNINGS = /(?<=_)\w|(?<=[a-z0-9])[A-Z]|(?<=[A-Z])[A-Z](?=[a-z])|(?<=[A-Za-z])\d/g;
