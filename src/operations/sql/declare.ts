import { Readable } from 'node:stream';
import { EngineError } from '../../../clickhouse/engine/engine.ts';
import { quForMilliseconds } from '../../../core/domain/plan.ts';
import { type Failure, fail } from '../../../core/errors.ts';
import type { Accepted } from '../../../sandbox/judge/inspect.ts';
import { type Refusal, Refused, wordPosition } from '../../../sandbox/judge/refusal.ts';
import { askedLimits } from '../../../sandbox/policy/settings.ts';
import {
  BUSY_REASONS,
  QueryAbandoned,
  QueryFailed,
  type QueryFailure,
  SandboxBusy,
  type SandboxResult,
} from '../../../sandbox/sandbox.ts';
import type { Charge, Outcome, StreamedAnswer } from '../answer.ts';
import { asUnavailable } from '../ask.ts';
import { defineUsageOperation, type OperationDeps } from '../define.ts';
import { type Meta, metaAnswer } from '../meta.ts';
import type { InputOf } from '../params.ts';
import { PRICES, SQL_PRICE, type SqlBudget, sqlBudget, sqlPrice, sqlTierOf } from '../prices.ts';
import { engineRequest, openAnswer, SQL_FACT_HEADERS, type SqlAnswerFacts } from './answer.ts';
import { explainAnswer } from './estimate.ts';
import {
  checkBudget,
  explainOnlyParam,
  maxQuParam,
  maxRowsParam,
  numbersOf,
  queryParam,
  SQL_MEDIA,
  sqlFormatParam,
  sqlNumbersParam,
  sqlParam,
  sqlParametersParam,
  sqlTierParam,
} from './params.ts';
import {
  SQL_ANSWER_EXAMPLES,
  SQL_EXAMPLE,
  SQL_REQUEST_EXAMPLES,
  SqlEstimateShape,
  SqlResultShape,
  sqlWarning,
  textWarnings,
} from './shapes.ts';
import { withSuggestion } from './suggestion.ts';

/** Analysts' SQL over the public tables. */

const SQL_PARAMS = {
  sql: sqlParam,
  query: queryParam,
  tier: sqlTierParam,
  max_qu: maxQuParam,
  params: sqlParametersParam,
  format: sqlFormatParam,
  numbers: sqlNumbersParam,
  max_rows: maxRowsParam,
  explain_only: explainOnlyParam,
};

type SqlInput = InputOf<typeof SQL_PARAMS>;

interface ReviewedQuery {
  readonly input: SqlInput;
  readonly accepted: Accepted;
}

/** The name that 503 answers give to what runs queries. */
const RESOURCE = 'sql';

export const runSql = defineUsageOperation({
  id: 'runSql',
  method: 'POST',
  path: '/sql',
  summary: 'Run a SQL query over the public tables',
  description:
    'The whole SELECT language of ClickHouse over the tables that `GET /v0/sql/schema` lists, and nothing else. The query is judged before it runs: `invalid_query` says what and where, and costs nothing. `max_qu` is what it may cost and bounds its time: these units are held, and those for the engine time used are charged. `truncated` says when a cap cut the answer. Closing the connection stops the query.',
  toolText:
    'Run one ClickHouse SELECT over the public tables, for any count, sum, ranking or time series. get_sql_schema has the columns. A query that is refused costs nothing and says what to write instead. `truncated`: rows are missing, so aggregate or filter.',
  price: SQL_PRICE,
  load: 'query',
  params: SQL_PARAMS,
  output: SqlResultShape,
  alsoAnswers: [SqlEstimateShape],
  media: Object.fromEntries(
    Object.values(SQL_MEDIA).map(({ mediaType, holds, example }) => [
      mediaType.split(';', 1)[0] ?? mediaType,
      { holds, ...(example === undefined ? {} : { example }) },
    ]),
  ),
  answerHeaders: SQL_FACT_HEADERS,
  repeatable: true,
  fails: ['invalid_query', 'query_failed', 'upgrade_required', 'unsupported_media_type', 'payload_too_large'],
  paging: 'none',
  caching: 'no-store',
  acceptsUnknownKey: false,
  example: SQL_EXAMPLE,
  moreExamples: SQL_ANSWER_EXAMPLES,
  requestExamples: SQL_REQUEST_EXAMPLES,
  check: (input) => {
    textOf(input);
    checkBudget(input.tier, input.max_qu);
    return input;
  },
  terms: (input) =>
    input.explain_only
      ? { price: PRICES.free, byUse: false, tier: null }
      : { price: sqlPrice(sqlTierOf(input.tier), budgetOf(input)), byUse: true, tier: input.tier },
  asked: (input) =>
    input.explain_only ? null : { text: textOf(input), tier: input.tier, budgetQu: budgetOf(input).maxQu },
  review: async (input, { sql }, callerName): Promise<ReviewedQuery> => {
    const text = { text: textOf(input), parameters: input.params, caller: callerName };
    const verdict = await sql.inspect(text).catch(asNotJudged);
    if ('refused' in verdict) {
      const { refused } = verdict;
      throw await withSuggestion(invalidQuery(refused), { ...text, refusedFor: refused.code }, sql);
    }
    return { input, accepted: verdict.accepted };
  },
  preflight,
  run: async (reviewed, deps, { caller, callerName }): Promise<Outcome> => {
    const asked = { callerName, hasKey: caller.standing !== 'anonymous', meta: await metaNow(deps) };
    return reviewed.input.explain_only ? explain(reviewed, deps, asked) : query(reviewed, deps, asked);
  },
});

/**
 * Failures that only planning a query shows: unknown names and types, more rows than may be read. It proves nothing when planning
 * itself takes too long or too much memory.
 */
async function preflight(
  { input, accepted }: ReviewedQuery,
  { sql }: OperationDeps,
  callerName: string,
): Promise<void> {
  const plan = { accepted, parameters: input.params, caller: callerName };
  const failure = await sql.estimate(plan).then(
    () => null,
    (error: unknown) => error,
  );
  const isSure =
    failure instanceof Refused || (failure instanceof QueryFailed && !PLANNING_LIMITS.has(failure.reason));
  // Before a payment is settled: callers that pay over x402 have no key.
  if (isSure) return rejected(failure, buyerOf(input, false), { sql, callerName });
}

interface Asked {
  readonly callerName: string;
  /** Without a key, a caller gets no engine messages about a query that did not run, and fewer estimates. */
  readonly hasKey: boolean;
  readonly meta: Meta;
}

function budgetOf({ tier, max_qu: maxQu }: Pick<SqlInput, 'tier' | 'max_qu'>): SqlBudget {
  return sqlBudget(sqlTierOf(tier), maxQu);
}

/** The one text that was sent, under either of its names. */
function textOf({ sql, query: alias }: SqlInput): string {
  const text = sql ?? alias;
  if (text === undefined)
    throw fail('invalid_parameter', { parameter: 'sql', detail: 'The body has no sql: the query to run.' });
  if (sql !== undefined && alias !== undefined)
    throw fail('invalid_parameter', {
      parameter: 'query',
      detail: 'query is another name of sql: send one of the two.',
    });
  return text;
}

export function invalidQuery(refusal: Refusal): Failure {
  const { detail, position, near, hint, meant } = refusal;
  return fail('invalid_query', {
    detail,
    // Surfaces with codes of their own look here for the rule.
    cause: new Refused(refusal),
    query: {
      ...(position === undefined ? {} : { position }),
      ...(near === undefined ? {} : { near }),
      ...(hint === undefined ? {} : { hint }),
      ...(meant === undefined ? {} : { meant }),
    },
  });
}

/** As of before the query: what it reads can only be newer. */
async function metaNow({
  index: { freshness },
  deployment: { chains },
  clock,
}: OperationDeps): Promise<Meta> {
  const statuses = await freshness.statuses();
  return metaAnswer({ chain: undefined, chains, statuses, nowMs: clock.nowMs(), finality: 'any' });
}

async function explain(
  { input, accepted }: ReviewedQuery,
  deps: OperationDeps,
  { callerName, hasKey, meta }: Asked,
): Promise<Outcome> {
  const tier = sqlTierOf(input.tier);
  const budget = budgetOf(input);
  const warnings = await textWarnings(accepted, deps);
  const estimate =
    hasKey || accepted.safeToPlan
      ? await deps.sql
          .estimate({ accepted, parameters: input.params, caller: callerName })
          .catch((error: unknown) => rejected(error, buyerOf(input, hasKey), { sql: deps.sql, callerName }))
      : null;
  const body = JSON.stringify(explainAnswer({ accepted, estimate, tier, budget, meta, warnings }));
  return { usedQu: null, answer: () => ({ stream: jsonText(body) }), discard: () => undefined };
}

function jsonText(body: string): StreamedAnswer {
  return {
    mediaType: SQL_MEDIA.json.mediaType,
    headers: {},
    body: Readable.from([body], { objectMode: false }),
    trailers: null,
  };
}

async function query(
  { input, accepted }: ReviewedQuery,
  deps: OperationDeps,
  { callerName, hasKey, meta }: Asked,
): Promise<Outcome> {
  const { format, params, tier } = input;
  const warnings = [
    ...(await textWarnings(accepted, deps)),
    ...(meta.warnings ?? []).map((code) => sqlWarning({ code })),
  ];
  const budget = budgetOf(input);
  const numbers = numbersOf(format, input.numbers);
  const { rowsMax } = SQL_MEDIA[format];
  const asked = askedLimits(accepted.settings ?? []);
  const maxRows = Math.min(
    ...[input.max_rows, rowsMax, asked.rows, asked.limit].filter((rows) => rows !== undefined),
  );
  const result = await deps.sql
    .run({
      accepted,
      parameters: params,
      tier,
      maxSeconds: Math.min(budget.seconds, asked.seconds ?? budget.seconds),
      ...engineRequest({ format, maxRows, numbers }),
      caller: callerName,
    })
    .catch((error: unknown) => rejected(error, buyerOf(input, hasKey), { sql: deps.sql, callerName }));
  const facts: SqlAnswerFacts = { format, numbers, maxRows, tier, sql: accepted.text, warnings, meta };
  return outcomeOf(result, facts, budget);
}

async function outcomeOf(result: SandboxResult, facts: SqlAnswerFacts, budget: SqlBudget): Promise<Outcome> {
  try {
    const pending = await openAnswer(result, facts);
    const usedQu = unitsFor(result.engineMs, budget);
    if (facts.format === 'ndjson') refuseLostColumns(pending.firstLine, usedQu);
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
  const names = topLevelNames(line);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
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
  for (const { 0: token, index } of line.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (depth === 1 && line[index + token.length] === ':') names.push(JSON.parse(token) as string);
  }
  return names;
}

export function unitsFor(engineMs: number, { maxQu }: SqlBudget): number {
  return Math.min(maxQu, quForMilliseconds(engineMs));
}

/** Planning is given less time than a run, and its memory is not that of the run. */
const PLANNING_LIMITS: ReadonlySet<QueryFailure> = new Set(['timeout', 'memory']);

interface Buyer {
  readonly budget: SqlBudget;
  readonly hasKey: boolean;
  /** As it was sent, for positions and suggestions. */
  readonly text: string;
  readonly parameters: SqlInput['params'];
}

function buyerOf(input: SqlInput, hasKey: boolean): Buyer {
  return { budget: budgetOf(input), hasKey, text: textOf(input), parameters: input.params };
}

/** Rejects with the failure, and with a suggestion where the text is of another dialect. */
async function rejected(
  error: unknown,
  buyer: Buyer,
  { sql, callerName }: { readonly sql: OperationDeps['sql']; readonly callerName: string },
): Promise<never> {
  try {
    return asFailureOf(error, buyer);
  } catch (failure) {
    throw await withSuggestion(failure, { ...buyer, caller: callerName }, sql);
  }
}

/** Faults of the text itself, found by planning before a row was read. */
const OF_THE_TEXT: ReadonlySet<QueryFailure> = new Set([
  'unknown_column',
  'unknown_table',
  'unknown_function',
  'not_grouped',
  'type_error',
  'duplicate_columns',
]);

/**
 * A query that fails before it read a row costs nothing; one that failed later costs its time, or an error at the end would make
 * any query free. One that ran out of time used the whole of its budget, whatever it had read.
 */
export function asFailureOf(error: unknown, buyer: Buyer): never {
  if (error instanceof Refused) throw invalidQuery(error.refusal);
  if (error instanceof QueryFailed) throw failureOfQuery(error, buyer);
  if (error instanceof QueryAbandoned)
    throw fail('request_timeout', {
      detail: 'The caller left before the answer was there; the query was stopped.',
      ...(error.engineMs === null ? {} : { usedQu: unitsFor(error.engineMs, buyer.budget) }),
      cause: error,
    });
  return asNotJudged(error);
}

function failureOfQuery(error: QueryFailed, { budget, hasKey, text }: Buyer): Failure {
  const { reason, hint, near, meant, figures } = error;
  const ran = figures !== null && (reason === 'timeout' || figures.rowsRead > 0);
  const position = near === undefined ? undefined : wordPosition(text, near);
  return fail(!ran && OF_THE_TEXT.has(reason) ? 'invalid_query' : 'query_failed', {
    detail: ran || hasKey ? error.detail : error.ownDetail,
    query: {
      reason,
      ...(position === undefined ? {} : { position }),
      ...(near === undefined ? {} : { near }),
      ...(hint === undefined ? {} : { hint }),
      ...(meant === undefined ? {} : { meant }),
    },
    ...(ran ? { usedQu: unitsFor(figures.engineMs, budget) } : {}),
    cause: error,
  });
}

export function asNotJudged(error: unknown): never {
  if (error instanceof SandboxBusy)
    throw fail('rate_limited', {
      detail: BUSY_REASONS[error.reason],
      retryAfterSeconds: error.retryAfterSeconds,
    });
  throw error instanceof EngineError ? asUnavailable(RESOURCE, error) : error;
}
