import { Readable } from 'node:stream';
import type { SqlTierId } from '../../../core/domain/plan.ts';
import { fail } from '../../../core/errors.ts';
import { repeatedName } from '../../../sandbox/results/column-names.ts';
import { jsonAnswer, jsonLines } from '../../../sandbox/results/json-answer.ts';
import { readAhead } from '../../../sandbox/results/read-ahead.ts';
import {
  allRows,
  beforeTotals,
  csvLineEnds,
  plainLineEnds,
  wholeRows,
} from '../../../sandbox/results/whole-rows.ts';
import type { NumberForm, ResultFormat, SandboxQuery, SandboxResult } from '../../../sandbox/sandbox.ts';
import type { Charge, Outcome, StreamedAnswer } from '../answer.ts';
import type { Meta } from '../meta.ts';
import { bounded } from './bounded-body.ts';
import { SQL_MEDIA, type SqlFormat } from './params.ts';
import { type SqlWarning, shownWarnings } from './shapes.ts';

/**
 * A result of the sandbox as an answer, in the format that was asked for. How many rows it has is known before the first of them: the
 * engine has written the result whole by then.
 */

/** What the answer says besides its rows. */
export interface SqlAnswerFacts {
  readonly format: SqlFormat;
  readonly numbers: NumberForm;
  readonly maxRows: number;
  /** Of CSV: how NULL is written. */
  readonly csvNull?: string;
  readonly tier: SqlTierId;
  /** The text that ran. */
  readonly sql: string;
  readonly warnings: readonly SqlWarning[];
  readonly meta: Meta;
  /** Further fields of a JSON answer. */
  readonly more?: Readonly<Record<string, unknown>>;
  /** The id of the kept result that it is made from. */
  readonly resultId?: string;
}

/**
 * The request to the engine. Where rows can be cut or may not be, it asks for one more than the caller may have, which shows whether
 * there are more.
 */
export function engineRequest({
  format,
  maxRows,
  numbers,
  csvNull,
  mustBeWhole = false,
}: Pick<SqlAnswerFacts, 'format' | 'maxRows' | 'numbers' | 'csvNull'> & {
  readonly mustBeWhole?: boolean;
}): Pick<SandboxQuery, 'maxRows' | 'numbers' | 'csvNull' | 'mustBeWhole'> & {
  readonly format: ResultFormat;
  readonly numbers: NumberForm;
} {
  const asked = { maxRows: maxRows + 1, numbers, mustBeWhole };
  switch (format) {
    case 'json':
    case 'json_compact':
      return { ...asked, format: 'rows' };
    case 'ndjson':
      // Which values are numbers is known from the types, which its lines do not have.
      return { ...asked, format: numbers === 'native' ? 'rows' : 'ndjson' };
    case 'csv':
      return { ...asked, format, ...(csvNull === undefined ? {} : { csvNull }) };
    case 'parquet':
    case 'arrow':
      return { ...asked, format, maxRows: mustBeWhole ? maxRows + 1 : maxRows };
  }
}

/** An answer whose charge is not known yet. `first` is the beginning of what the engine gave, for checks before anything is charged. */
interface PendingAnswer {
  /** The first line of the result; '' where it has no lines. */
  readonly firstLine: string;
  complete(charge: Charge): StreamedAnswer;
}

/** Reads the beginning of the result: a small one is known whole before its first byte leaves. */
export async function openAnswer(result: SandboxResult, facts: SqlAnswerFacts): Promise<PendingAnswer> {
  const { format } = facts;
  if (format === 'json' || format === 'json_compact') {
    return { firstLine: '', complete: (charge) => inJson(result, facts, charge) };
  }
  if (format === 'parquet' || format === 'arrow') {
    return { firstLine: '', complete: (charge) => inColumns(result, facts, charge) };
  }
  return inLines(result, facts);
}

function inJson(result: SandboxResult, facts: SqlAnswerFacts, charge: Charge): StreamedAnswer {
  const { format, numbers, maxRows, sql, warnings, meta } = facts;
  const text = jsonAnswer(result.body, {
    rows: format === 'json' ? 'objects' : 'arrays',
    numbers,
    rowsMax: maxRows,
    zeroColumns: warnings.flatMap(({ zeroColumns = [] }) => zeroColumns),
    tail: (rowCount, hasZero) => ({
      row_count: rowCount,
      truncated: isCut(result, facts),
      duration_ms: Math.round(result.engineMs),
      statistics: {
        rows_read: result.rowsRead,
        bytes_read: result.bytesRead,
        memory_bytes: result.memoryBytes,
      },
      usage: usageOf(facts.tier, charge),
      meta,
      sql,
      ...warningsField(shownWarnings(warnings, hasZero)),
      ...facts.more,
    }),
  });
  return streamed(format, {}, endingWith(result, text));
}

function warningsField(warnings: readonly SqlWarning[]): { readonly warnings?: readonly SqlWarning[] } {
  return warnings.length > 0 ? { warnings } : {};
}

function usageOf(tier: SqlTierId, { heldQu, chargedQu, balance }: Charge) {
  return { query_tier: tier, units_held: heldQu, units_charged: chargedQu, balance };
}

/** Bytes that the engine wrote whole: they cannot be cut, so it was asked for the caller's own number of rows. */
function inColumns(result: SandboxResult, facts: SqlAnswerFacts, charge: Charge): StreamedAnswer {
  return streamed(facts.format, allHeaders(result, facts, charge), endingWith(result, result.body));
}

async function inLines(result: SandboxResult, facts: SqlAnswerFacts): Promise<PendingAnswer> {
  // The first row comes whole.
  const ahead = await readAhead(rowsOf(result, facts), 1);
  return {
    firstLine: firstLineOf(ahead.begun),
    complete: (charge) =>
      streamed(facts.format, allHeaders(result, facts, charge), endingWith(result, ahead.all())),
  };
}

function rowsOf(result: SandboxResult, facts: SqlAnswerFacts) {
  const { format, numbers, maxRows: rowsMax, warnings } = facts;
  if (format === 'ndjson' && numbers === 'native') return jsonLines(result.body, { rowsMax });
  const hasTotals = format === 'csv' && warnings.some(({ code }) => code === 'totals_left_out');
  const body = hasTotals ? beforeTotals(result.body) : result.body;
  if (!isCut(result, facts)) return allRows(body);
  // In CSV a value can contain line ends, so finding the end of a line takes a look at every byte.
  return format === 'csv'
    ? wholeRows(body, csvLineEnds(), { headLines: 1, rowsMax })
    : wholeRows(body, plainLineEnds(), { headLines: 0, rowsMax });
}

/** Whether there are more rows than the answer has. */
function isCut({ resultRows, hasMore }: SandboxResult, { maxRows }: SqlAnswerFacts): boolean {
  return hasMore || resultRows > maxRows;
}

function firstLineOf(begun: readonly Buffer[]): string {
  const [first] = begun;
  const end = first?.indexOf(0x0a) ?? -1;
  return first === undefined || end === -1 ? '' : first.toString('utf8', 0, end);
}

function streamed(
  format: SqlFormat,
  headers: Readonly<Record<string, string>>,
  body: Readable,
): StreamedAnswer {
  return { mediaType: SQL_MEDIA[format].mediaType, headers, body: bounded(body, SQL_MEDIA[format].bytesMax) };
}

/** Ends the engine's stream when the caller disconnects or reads only a part. */
function endingWith(result: SandboxResult, parts: AsyncIterable<string | Buffer>): Readable {
  const body = Readable.from(parts, { objectMode: false });
  body.once('close', () => result.body.destroy());
  return body;
}

/** Headers of the facts that a JSON answer has in its body. Declared once: CORS exposes them, OpenAPI documents them. */
export const SQL_FACT_HEADERS = {
  'x-row-count': 'Rows in the answer.',
  'x-truncated': '`true` when there are more rows than the answer has: the request said that it may be cut.',
  'x-duration-ms': 'Engine time, milliseconds.',
  'x-rows-read': 'Rows that the engine read.',
  'x-bytes-read': 'Bytes that the engine read, uncompressed.',
  'x-memory-bytes': 'Memory that the query took at most.',
  'x-query-tier': 'The tier that ran it.',
  'x-units-held': 'Query Units held for the call.',
  'x-units-charged': 'Query Units charged.',
  'x-units-balance': 'Query Units that the organization has left; absent on the x402 lane.',
  'x-as-of': 'When the answer was assembled.',
  'x-snapshot': '`meta.snapshot` of a JSON answer; absent where there is none.',
  'x-freshness': 'JSON: `meta.freshness` of a JSON answer.',
  'x-warnings': 'JSON: `warnings` of a JSON answer; absent without any.',
  'x-result-id': 'The kept result that the answer is made from; absent where none is.',
  'x-sql': 'The text that ran, percent-encoded; absent when that is longer than 4 KiB.',
} as const;

/** Proxies refuse headers of more than 8 KiB together. */
const SQL_HEADER_MAX_CHARS = 4_096;

function allHeaders(result: SandboxResult, facts: SqlAnswerFacts, charge: Charge): Record<string, string> {
  const sql = encodeURIComponent(facts.sql);
  return {
    'x-row-count': String(Math.min(result.resultRows, facts.maxRows)),
    'x-truncated': String(isCut(result, facts)),
    'x-duration-ms': String(Math.round(result.engineMs)),
    'x-rows-read': String(result.rowsRead),
    'x-bytes-read': String(result.bytesRead),
    'x-memory-bytes': String(result.memoryBytes),
    'x-query-tier': facts.tier,
    'x-units-held': String(charge.heldQu),
    'x-units-charged': String(charge.chargedQu),
    ...(charge.balance === null ? {} : { 'x-units-balance': String(charge.balance) }),
    'x-as-of': facts.meta.as_of,
    ...(facts.meta.snapshot === null ? {} : { 'x-snapshot': facts.meta.snapshot }),
    'x-freshness': JSON.stringify(facts.meta.freshness),
    ...warningsHeader(facts.warnings),
    ...(facts.resultId === undefined ? {} : { 'x-result-id': facts.resultId }),
    ...(sql.length > SQL_HEADER_MAX_CHARS ? {} : { 'x-sql': sql }),
  };
}

/** Without a suggestion that no header can hold: `edits` say the same. */
export function warningsHeader(warnings: readonly SqlWarning[]): { readonly 'x-warnings'?: string } {
  if (warnings.length === 0) return {};
  const shown = shownWarnings(warnings).map(({ suggested_sql: suggested = '', ...warning }) =>
    suggested === '' || suggested.length > SQL_HEADER_MAX_CHARS
      ? warning
      : { ...warning, suggested_sql: suggested },
  );
  return { 'x-warnings': headerJson(shown) };
}

/** A header holds ASCII alone. */
function headerJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The outcome of a run, whose beginning was read. Throws `query_failed` where the format cannot hold the columns. */
export async function outcomeOf(
  result: SandboxResult,
  facts: SqlAnswerFacts,
  usedQu: number | null,
): Promise<Outcome> {
  try {
    const pending = await openAnswer(result, facts);
    if (facts.format === 'ndjson') refuseLostColumns(pending.firstLine, usedQu ?? 0);
    return {
      usedQu,
      rows: Math.min(result.resultRows, facts.maxRows),
      answer: (charge: Charge) => ({ stream: pending.complete(charge) }),
      discard: () => void result.body.destroy(),
    };
  } catch (error) {
    result.body.destroy();
    throw error;
  }
}

/** An object on a line keeps the last of two values of one name. */
function refuseLostColumns(line: string, usedQu: number): void {
  if (line === '') return;
  const twice = repeatedName(topLevelNames(line));
  if (twice === undefined) return;
  throw fail('query_failed', {
    detail: `Two columns of the result are named ${twice.slice(0, 100)}, and an object holds a name once.`,
    query: { reason: 'duplicate_columns', hint: 'Name them apart with AS, or ask for json_compact or csv.' },
    usedQu,
  });
}

function topLevelNames(line: string): string[] {
  const names: string[] = [];
  let depth = 0;
  for (const { 0: token, index } of line.matchAll(/"(?:[^"\\]|\\.)*"?|[{}[\]]/g)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (depth === 1 && line[index + token.length] === ':') names.push(JSON.parse(token) as string);
  }
  return names;
}
