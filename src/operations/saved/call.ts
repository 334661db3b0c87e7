import { organizationName } from '../../../core/domain/caller.ts';
import { AUTHOR_PRICE_MAX_QU } from '../../../core/domain/saved-query.ts';
import { ERRORS, Failure, fail } from '../../../core/errors.ts';
import type { Accepted } from '../../../sandbox/judge/inspect.ts';
import { Refused } from '../../../sandbox/judge/refusal.ts';
import { type KeptResult, queryKeyOf } from '../../results/results.ts';
import type { Answer, AuthorShare, Outcome } from '../answer.ts';
import { type CallTerms, defineOperation } from '../define.ts';
import type { Caller } from '../deps.ts';
import { invalid } from '../params.ts';
import {
  PRICES,
  type Price,
  SQL_QU_USD_MICROS,
  SQL_TIERS,
  sqlBudget,
  sqlPrice,
  sqlTierOf,
} from '../prices.ts';
import { unknownParameter } from '../read-input.ts';
import { metaNow } from '../sql/as-of.ts';
import { boundsOf, unitsFor } from '../sql/bounds.ts';
import { certainFailure, judged, rejected } from '../sql/failures.ts';
import { keptSqlOf, unitsForKept } from '../sql/kept.ts';
import { pageRowsMax } from '../sql/page.ts';
import { numbersOf, SQL_ANSWER_MEDIA, STREAMED_ROWS_MAX } from '../sql/params.ts';
import { warningsOf } from '../sql/shapes.ts';
import { SAVED_ANSWER_HEADERS } from './answers.ts';
import { CALL_PARAMS, type CallInput } from './call-params.ts';
import { callQu, type SavedParameter, type SavedQuery, soldPrice, WARM_QU } from './definition.ts';
import { visibleQuery } from './describe.ts';
import type { SavedDeps } from './saved-queries.ts';
import { QUERY_ANSWER_EXAMPLE, QueryAnswerShape } from './shapes.ts';
import { readValue } from './values.ts';

/** A saved query as an endpoint. */

const USD_PER_QU = Number(SQL_QU_USD_MICROS) / 1e6;
/** The longest run that a call waits for, and the highest price of an author. */
const SOLD_QU_MAX = Math.max(...SQL_TIERS.map(({ maxQu }) => maxQu)) + AUTHOR_PRICE_MAX_QU;

/** As lists of prices show it: what a call of a query costs that is free of an author's price and has a budget of one unit. */
const LISTED_PRICE: Price = {
  ...PRICES.metered,
  x402UsdMicros: SQL_QU_USD_MICROS,
  range: {
    unit: 'Query Unit that the query may cost, with those of its author',
    qu: { min: WARM_QU, max: SOLD_QU_MAX },
    x402UsdMicros: {
      min: SQL_QU_USD_MICROS,
      max: BigInt(SOLD_QU_MAX) * SQL_QU_USD_MICROS,
      perUnit: SQL_QU_USD_MICROS,
    },
  },
  meaning: `From ${WARM_QU} QU, by use, and the author's price; over x402 ${USD_PER_QU} USD for each unit that it may cost. \`GET /v0/q/{owner}/{slug}/about\` says what a query costs. Your own queries cost their run, and nothing when a kept result answers.`,
};

export const callSavedQuery = defineOperation({
  id: 'callSavedQuery',
  wire: {
    path: '/q/{owner}/{slug}',
    takesOthers: true,
    params: CALL_PARAMS,
    output: QueryAnswerShape,
    media: SQL_ANSWER_MEDIA,
    answerHeaders: SAVED_ANSWER_HEADERS,
    fails: ['invalid_parameter', 'query_not_found', 'invalid_query', 'query_failed', 'upgrade_required'],
    caching: 'revalidate',
  },
  words: {
    summary: 'Call a saved query',
    description:
      'Runs it with the values of its parameters, which are sent by their names, or answers from a result that is not older than its `freshness_seconds`. Values are bound by their types and never become a part of the text; one that does not fit is 400 with its name. An answer has a tag: where nothing was charged, `If-None-Match` is answered 304. Over x402 the price is fixed, also where the result must be made first; its author gets the author’s part in units.',
    tool: 'Run a saved query, or answer from its kept result.',
    example: QUERY_ANSWER_EXAMPLE,
  },
  money: { price: LISTED_PRICE, load: 'query' },
  check: (input, _facts, others) => ({ input, others }),
  find: async ({ input, others }, deps: SavedDeps, caller, bought): Promise<FoundCall> => {
    // A call that was paid for is served also where its author has changed or removed it since.
    const { query, isOwn } =
      bought === null
        ? await visibleQuery(input, deps, caller)
        : { query: JSON.parse(bought) as SavedQuery, isOwn: false }; // written by `item`
    const values = valuesOf(query.content.parameters, input.arguments, others);
    const call: SavedCall = { query, isOwn, values, form: formOf(input) };
    const warm = await warmResult(call, deps);
    if (warm === null) return { call, warm };
    const isFree = isOwn && (await keptSqlOf(deps).results.mayRead(warm, query.organizationId));
    return { call, warm: { kept: warm, isFree } };
  },
  item: ({ call }) => JSON.stringify(call.query),
  terms: termsOf,
  review: async ({ call, warm }, deps: SavedDeps) =>
    warm === null ? { call, accepted: await acceptedOf(call, deps) } : { call, kept: warm.kept },
  preflight: async (reviewed, deps: SavedDeps) => {
    if ('kept' in reviewed) return;
    const { call, accepted } = reviewed;
    const { query, values } = call;
    const failure = await certainFailure(
      { accepted, parameters: values, caller: authorName(query) },
      deps.sql,
    );
    if (failure !== null) await refused(failure, call, deps);
  },
  run: async (reviewed, deps: SavedDeps, { surface, caller }): Promise<Outcome> => {
    const { call } = reviewed;
    const from =
      'kept' in reviewed
        ? { kept: reviewed.kept, baseQu: await warmQu(call, reviewed.kept, deps, caller) }
        : await obtained(call, reviewed.accepted, deps, caller);
    return answerOf(call, from, deps, surface);
  },
});

interface SavedCall {
  readonly query: SavedQuery;
  readonly isOwn: boolean;
  readonly values: Readonly<Record<string, string>>;
  readonly form: Pick<CallInput, 'format' | 'numbers' | 'csv_null' | 'limit' | 'offset'>;
}

interface FoundCall {
  readonly call: SavedCall;
  /** Null where the query has to run. */
  readonly warm: Warm | null;
}

function formOf({ format, numbers, csv_null, limit, offset }: CallInput): SavedCall['form'] {
  return { format, numbers, csv_null, limit, offset };
}

/** The value of each parameter, as the engine reads it. Throws `invalid_parameter` with the name. */
function valuesOf(
  parameters: readonly SavedParameter[],
  inObject: Readonly<Record<string, unknown>>,
  others: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const known = parameters.map(({ name }) => name);
  for (const name of [...Object.keys(inObject), ...Object.keys(others)])
    if (!known.includes(name)) throw unknownParameter(name, [...known, ...Object.keys(CALL_PARAMS).slice(2)]);
  return Object.fromEntries(
    parameters.map((parameter) => [parameter.name, sentValue(parameter, inObject, others)]),
  );
}

function sentValue(
  { name, type, standard }: SavedParameter,
  inObject: Readonly<Record<string, unknown>>,
  others: Readonly<Record<string, unknown>>,
): string {
  const [hasField, hasOther] = [Object.hasOwn(inObject, name), Object.hasOwn(others, name)];
  if (hasField && hasOther) throw invalid(name, `${name} is given more than once.`);
  if (!hasField && !hasOther) {
    if (standard !== null) return standard;
    throw invalid(name, `${name} is missing: this query has no default for it.`);
  }
  return readValue(hasField ? inObject[name] : others[name], name, type);
}

/** A kept result that is new enough. Not found before the text was judged in this process. */
async function warmResult({ query, values }: SavedCall, deps: SavedDeps): Promise<KeptResult | null> {
  const { sql, maxRows, freshnessSeconds } = query.content;
  const kept = keptSqlOf(deps);
  const text = kept.answers.printed.get(sql);
  if (text === undefined || freshnessSeconds === 0) return null;
  const queryKey = queryKeyOf(text, values);
  return kept.results.recent({ queryKey, maxRows, maxAgeMs: freshnessSeconds * 1_000 });
}

/** A kept result that answers a call. */
interface Warm {
  readonly kept: KeptResult;
  /** Its author calls it and has paid for the result, or was answered with it. */
  readonly isFree: boolean;
}

function termsOf({ call: { query, isOwn }, warm }: FoundCall): CallTerms {
  const { content, settings, owner, slug } = query;
  const tier = warm === null ? content.tier : null;
  if (!isOwn) {
    const title = content.title === '' ? '' : `: ${content.title}`;
    const share = shareOf(query, callQu(content));
    return {
      ...(share === null ? {} : { share }),
      price: soldPrice(content, settings),
      byUse: true,
      tier,
      describes: `Saved query ${owner}/${slug}${title}`,
    };
  }
  if (warm?.isFree === true) return { price: PRICES.free, byUse: false, tier: null };
  const sqlTier = sqlTierOf(content.tier);
  const maxQu = warm === null ? callQu(content) : WARM_QU;
  return { price: sqlPrice(sqlTier, sqlBudget(sqlTier, maxQu)), byUse: true, tier };
}

/**
 * The cost of an answer from a kept result, without the author's price. Its author pays like a caller of `POST /v0/sql`: once for a result
 * that another organization paid for, under whatever name the same text was called.
 */
async function warmQu(
  { isOwn }: SavedCall,
  kept: KeptResult,
  deps: SavedDeps,
  { organization }: Caller,
): Promise<number> {
  if (!isOwn) return WARM_QU;
  return unitsForKept({ kept, isOwn: false }, 0, organization?.id ?? null, keptSqlOf(deps));
}

/** Runs count for the author, whose text it is: a caller is not fined for a text that cannot be stopped. */
function authorName({ organizationId }: SavedQuery): string {
  return organizationName(organizationId);
}

async function acceptedOf(call: SavedCall, deps: SavedDeps): Promise<Accepted> {
  const { query, values } = call;
  const { sql } = query.content;
  try {
    const accepted = await judged({ text: sql, parameters: values, caller: authorName(query) }, deps.sql);
    keptSqlOf(deps).answers.printed.set(sql, accepted.text);
    return accepted;
  } catch (error) {
    throw told(error, call);
  }
}

interface Obtained {
  readonly kept: KeptResult;
  /** What the run costs, without the author's price. */
  readonly baseQu: number;
}

async function obtained(
  call: SavedCall,
  accepted: Accepted,
  deps: SavedDeps,
  caller: Caller,
): Promise<Obtained> {
  const { query, values, isOwn } = call;
  const { tier, freshnessSeconds, maxRows } = query.content;
  const budget = sqlBudget(sqlTierOf(tier), callQu(query.content));
  const bounds = boundsOf(accepted.settings ?? [], {
    budget,
    // What its author left out is the most that a result may have.
    maxRows: maxRows < STREAMED_ROWS_MAX ? maxRows : undefined,
    rowsMax: maxRows,
  });
  const meta = await metaNow(deps);
  const warnings = await warningsOf(accepted, deps, meta);
  const keptSql = keptSqlOf(deps);
  const { kept, isOwn: isOwnRun } = await keptSql
    .obtain({
      accepted,
      parameters: values,
      tier,
      maxSeconds: bounds.seconds,
      maxRows: bounds.maxRows,
      mustBeWhole: bounds.mustBeWhole,
      maxAgeSeconds: freshnessSeconds,
      // The author does not read what others sent: the room is apart from that of its organization.
      owner:
        isOwn && caller.organization !== null
          ? { kind: 'organization', id: caller.organization.id, plan: caller.organization.plan }
          : { kind: 'author', id: query.organizationId },
      callerName: authorName(query),
      meta,
      warnings,
    })
    .catch((error: unknown) => refused(error, call, deps));
  if (!isOwnRun) return { kept, baseQu: await warmQu(call, kept, deps, caller) };
  // What others paid for under its own address, the author reads for nothing.
  if (!isOwn) await keptSql.results.allow(kept, query.organizationId);
  return { kept, baseQu: unitsFor(kept, budget) };
}

async function answerOf(
  { query, isOwn, form }: SavedCall,
  { kept, baseQu }: Obtained,
  deps: SavedDeps,
  surface: 'http' | 'mcp' | 'clickhouse',
): Promise<Outcome> {
  const { format, offset } = form;
  const maxRows = Math.min(pageRowsMax(format, form.limit), Math.max(0, kept.rows - offset));
  const ready = await keptSqlOf(deps).answers.read(kept, query, {
    format,
    numbers: numbersOf(format, form.numbers),
    ...(form.csv_null === undefined ? {} : { csvNull: form.csv_null }),
    maxRows,
    offset,
  });
  const share = isOwn ? null : shareOf(query, baseQu);
  return {
    usedQu: baseQu + (share?.units ?? 0),
    rows: ready.rows,
    ...(share === null ? {} : { share }),
    answer: (charge) => (surface === 'http' ? ready.answer(charge) : asStream(ready.answer(charge))),
    discard: ready.discard,
  };
}

/** The author's share of a call of others, without the units of the run; null for a query without a price. */
function shareOf(
  { organizationId, owner, slug, settings: { priceQu } }: SavedQuery,
  runUnits: number,
): AuthorShare | null {
  if (priceQu === 0) return null;
  const note = `sold: ${owner}/${slug}`;
  return { organizationId, units: priceQu, runUnits, note, earnedBy: 'callSavedQuery' };
}

/** For surfaces that read an answer as an object. */
function asStream(answer: Answer): Answer {
  if (!('file' in answer)) return answer;
  const { mediaType, stream, headers = {} } = answer.file;
  return { stream: { mediaType, headers, body: stream() } };
}

async function refused(error: unknown, call: SavedCall, deps: SavedDeps): Promise<never> {
  const { query, values, isOwn } = call;
  const { tier, sql } = query.content;
  const budget = sqlBudget(sqlTierOf(tier), callQu(query.content));
  const buyer = { budget, hasKey: isOwn, text: sql, parameters: values };
  return rejected(error, buyer, { sql: deps.sql, callerName: authorName(query) }).catch(
    (failure: unknown) => {
      throw told(failure, call);
    },
  );
}

/**
 * The failure as this caller may see it: a value that does not fit names its parameter; to others than the author nothing tells
 * the text.
 */
function told(error: unknown, { query, isOwn }: SavedCall): unknown {
  if (!(error instanceof Failure)) return error;
  const { cause, usedQu, query: trouble } = error.context;
  const name =
    cause instanceof Refused && cause.refusal.code === 'parameter' ? cause.refusal.near : undefined;
  const parameter = query.content.parameters.find((one) => one.name === name);
  if (parameter !== undefined)
    return fail('invalid_parameter', {
      parameter: parameter.name,
      detail: `The value of ${parameter.name} cannot be read as ${parameter.type}.`,
    });
  if (isOwn || ERRORS[error.code].status !== 400) return error;
  const reason = trouble?.reason;
  return fail(error.code, {
    detail:
      error.code === 'invalid_query'
        ? 'The query is not run here any more: its author has to save it anew.'
        : `The query failed${reason === undefined ? '' : ` (${reason})`}. Its author can see why.`,
    ...(reason === undefined ? {} : { query: { reason } }),
    ...(usedQu === undefined ? {} : { usedQu }),
  });
}
