import { Readable } from 'node:stream';
import { EngineError } from '../../../clickhouse/engine/engine.ts';
import { quForMilliseconds } from '../../../core/domain/plan.ts';
import type { Snapshot } from '../../../core/domain/snapshot.ts';
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
  type SandboxText,
} from '../../../sandbox/sandbox.ts';
import type { Charge, Outcome, StreamedAnswer } from '../answer.ts';
import { stateFor } from '../as-of.ts';
import { asUnavailable, writtenAgain } from '../ask.ts';
import { type CallContext, defineUsageOperation, type OperationDeps } from '../define.ts';
import { type Meta, metaAnswer } from '../meta.ts';
import { type InputOf, invalid } from '../params.ts';
import { jobBudget, PRICES, SQL_PRICE, type SqlBudget, sqlBudget, sqlPrice, sqlTierOf } from '../prices.ts';
import { engineRequest, openAnswer, SQL_FACT_HEADERS, type SqlAnswerFacts } from './answer.ts';
import { checkAsOfText, SQL_LEFT_OUT, sqlAsOfParam } from './as-of.ts';
import { explainAnswer } from './estimate.ts';
import { jobHoldMs, SqlJobShape, submitJob, waitedOutcome } from './job-answer.ts';
import { keptOutcome, keptSqlOf, unitsForKept } from './kept.ts';
import {
  checkBudget,
  explainOnlyParam,
  maxAgeParam,
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
  waitSecondsParam,
} from './params.ts';
import {
  SQL_ANSWER_EXAMPLES,
  SQL_EXAMPLE,
  SQL_REQUEST_EXAMPLES,
  SqlEstimateShape,
  SqlResultShape,
  type SqlWarning,
  sqlWarning,
  textWarnings,
} from './shapes.ts';
import { withSuggestion } from './suggestion.ts';

/** Analysts' SQL over the public tables. */

const SQL_PARAMS = {
  sql: sqlParam,
  query: queryParam,
  as_of: sqlAsOfParam,
  tier: sqlTierParam,
  max_qu: maxQuParam,
  params: sqlParametersParam,
  format: sqlFormatParam,
  numbers: sqlNumbersParam,
  max_rows: maxRowsParam,
  max_age: maxAgeParam,
  wait_seconds: waitSecondsParam,
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
  alsoAnswers: [SqlEstimateShape, SqlJobShape],
  media: Object.fromEntries(
    Object.values(SQL_MEDIA).map(({ mediaType, holds, example }) => [
      mediaType.split(';', 1)[0] ?? mediaType,
      { holds, ...(example === undefined ? {} : { example }) },
    ]),
  ),
  answerHeaders: SQL_FACT_HEADERS,
  repeatable: true,
  fails: [
    'invalid_query',
    'query_failed',
    'snapshot_gone',
    'upgrade_required',
    'unsupported_media_type',
    'payload_too_large',
  ],
  paging: 'none',
  caching: 'no-store',
  acceptsUnknownKey: false,
  example: SQL_EXAMPLE,
  moreExamples: SQL_ANSWER_EXAMPLES,
  requestExamples: SQL_REQUEST_EXAMPLES,
  check: (input) => {
    textOf(input);
    if (input.as_of !== undefined && isJob(input))
      throw invalid('as_of', 'as_of does not go with wait_seconds: jobs read the newest data.');
    checkBudget(input.tier, input.max_qu, isJob(input));
    return input;
  },
  terms: (input) =>
    input.explain_only
      ? { price: PRICES.free, byUse: false, tier: null }
      : {
          price: sqlPrice(sqlTierOf(input.tier), budgetOf(input)),
          byUse: true,
          tier: input.tier,
          ...(isJob(input) ? { jobHoldMs: jobHoldMs(input.tier) } : {}),
        },
  asked: (input) =>
    input.explain_only || isJob(input)
      ? null
      : { text: textOf(input), tier: input.tier, budgetQu: budgetOf(input).maxQu },
  review: async (input, { sql, index }, callerName): Promise<ReviewedQuery> => {
    const accepted = await judged({ text: textOf(input), parameters: input.params, caller: callerName }, sql);
    if (input.as_of !== undefined) {
      checkAsOfText(accepted);
      await index.snapshots.answerable(input.as_of);
    }
    return { input, accepted };
  },
  preflight,
  run: async (reviewed, deps, context): Promise<Outcome> => {
    const { caller, callerName } = context;
    const { input } = reviewed;
    if (isJob(input) && !input.explain_only) return asJob(input, deps, context);
    const asked = {
      callerName,
      hasKey: caller.standing !== 'anonymous',
      organization: caller.organization,
      meta: await metaNow(deps, input.as_of),
    };
    return input.explain_only ? explain(reviewed, deps, asked) : query(reviewed, deps, asked);
  },
});

/** The accepted text. Rejects with `invalid_query`, with a suggestion where the text is of another dialect. */
export async function judged(text: SandboxText, sql: OperationDeps['sql']): Promise<Accepted> {
  const verdict = await sql.inspect(text).catch(asNotJudged);
  if (!('refused' in verdict)) return verdict.accepted;
  const { refused } = verdict;
  throw await withSuggestion(invalidQuery(refused), { ...text, refusedFor: refused.code }, sql);
}

/**
 * Failures that only planning a query shows: unknown names and types, more rows than may be read. It proves nothing when planning
 * itself takes too long or too much memory.
 */
async function preflight(
  { input, accepted }: ReviewedQuery,
  { sql }: OperationDeps,
  callerName: string,
): Promise<void> {
  const failure = await certainFailure({ accepted, parameters: input.params, caller: callerName }, sql);
  // Before a payment is settled: callers that pay over x402 have no key.
  if (failure !== null) return rejected(failure, buyerOf(input, false), { sql, callerName });
}

/** What planning says that a run is sure to fail with; null where it is not sure. */
export async function certainFailure(
  plan: Parameters<OperationDeps['sql']['estimate']>[0],
  sql: OperationDeps['sql'],
): Promise<Refused | QueryFailed | null> {
  const failure: unknown = await sql.estimate(plan).then(
    () => null,
    (error: unknown) => error,
  );
  if (failure instanceof Refused) return failure;
  return failure instanceof QueryFailed && !PLANNING_LIMITS.has(failure.reason) ? failure : null;
}

interface Asked {
  readonly callerName: string;
  /** Without a key, a caller gets no engine messages about a query that did not run, and fewer estimates. */
  readonly hasKey: boolean;
  readonly organization: CallContext['caller']['organization'];
  readonly meta: Meta;
}

function budgetOf(input: SqlInput): SqlBudget {
  const tier = sqlTierOf(input.tier);
  return isJob(input) ? jobBudget(tier, input.max_qu) : sqlBudget(tier, input.max_qu);
}

function isJob(input: Pick<SqlInput, 'wait_seconds'>): boolean {
  return input.wait_seconds !== undefined;
}

/** The one text that was sent, under either of its names. */
export function textOf({ sql, query: alias }: Pick<SqlInput, 'sql' | 'query'>): string {
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
export async function metaNow(deps: OperationDeps, asked?: Snapshot): Promise<Meta> {
  const { index, deployment, clock } = deps;
  const { chains } = deployment;
  const statuses = await index.freshness.statuses();
  const { meta } = await stateFor(deps, asked, { chain: undefined, leftOut: SQL_LEFT_OUT });
  return metaAnswer({ chain: undefined, chains, statuses, nowMs: clock.nowMs(), finality: 'any', ...meta });
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
  { callerName, hasKey, organization, meta }: Asked,
): Promise<Outcome> {
  const { format, params, tier } = input;
  const asOf = input.as_of === undefined ? {} : { asOf: input.as_of };
  const warnings = await warningsOf(accepted, deps, meta);
  const budget = budgetOf(input);
  const numbers = numbersOf(format, input.numbers);
  const { rowsMax } = SQL_MEDIA[format];
  const { maxRows, seconds } = boundsOf(accepted, { budget, maxRows: input.max_rows, rowsMax });
  const onRejected = (error: unknown): Promise<never> =>
    rejected(error, buyerOf(input, hasKey), { sql: deps.sql, callerName });
  if (input.max_age !== undefined) {
    const kept = keptSqlOf(deps);
    const obtained = await kept
      .obtain({
        accepted,
        parameters: params,
        tier,
        maxSeconds: seconds,
        maxRows,
        maxAgeSeconds: input.max_age,
        payer: organization,
        callerName,
        meta,
        warnings,
        ...asOf,
      })
      .catch(onRejected);
    const ownQu = unitsFor(obtained.kept.engineMs, budget);
    const usedQu = await unitsForKept(obtained, ownQu, organization?.id ?? null, kept);
    return keptOutcome(obtained.kept, { format, numbers, maxRows, tier }, { deps, usedQu });
  }
  const result = await deps.sql
    .run({
      accepted,
      parameters: params,
      tier,
      maxSeconds: seconds,
      ...engineRequest({ format, maxRows, numbers }),
      caller: callerName,
      ...asOf,
    })
    .catch(onRejected);
  const facts: SqlAnswerFacts = { format, numbers, maxRows, tier, sql: accepted.text, warnings, meta };
  return outcomeOf(result, facts, unitsFor(result.engineMs, budget));
}

export async function warningsOf(accepted: Accepted, deps: OperationDeps, meta: Meta): Promise<SqlWarning[]> {
  return [
    ...(await textWarnings(accepted, deps)),
    ...(meta.warnings ?? []).map((code) => sqlWarning({ code })),
  ];
}

/** The lower ones of what the request, its format and the SETTINGS of its text ask for. */
export function boundsOf(
  accepted: Accepted,
  {
    budget,
    maxRows,
    rowsMax,
  }: { readonly budget: SqlBudget; readonly maxRows: number | undefined; readonly rowsMax: number },
): { readonly maxRows: number; readonly seconds: number } {
  const asked = askedLimits(accepted.settings ?? []);
  return {
    maxRows: Math.min(...[maxRows, rowsMax, asked.rows, asked.limit].filter((rows) => rows !== undefined)),
    seconds: Math.min(budget.seconds, asked.seconds ?? budget.seconds),
  };
}

/** Runs as a job, and is answered with its result where that is there in time. */
async function asJob(input: SqlInput, deps: OperationDeps, context: CallContext): Promise<Outcome> {
  const { format, tier, wait_seconds: waitSeconds = 0 } = input;
  const maxRows = Math.min(input.max_rows ?? SQL_MEDIA[format].rowsMax, SQL_MEDIA[format].rowsMax);
  const { jobs } = keptSqlOf(deps);
  const submitted = await submitJob(
    { ...input, text: textOf(input), maxRows, budget: budgetOf(input) },
    deps,
    context,
  );
  const job = await jobs.untilEnded(submitted.job, waitSeconds * 1_000);
  return waitedOutcome({ job, isNew: submitted.isNew }, deps, (kept) =>
    keptOutcome(
      kept,
      { format, numbers: numbersOf(format, input.numbers), maxRows, tier },
      { deps, usedQu: 0 },
    ),
  );
}

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

export interface Buyer {
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
export async function rejected(
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
  if (error instanceof QueryFailed) throw writtenAgainIn(error) ?? failureOfQuery(error, buyer);
  if (error instanceof QueryAbandoned)
    throw fail('request_timeout', {
      detail: 'The caller left before the answer was there; the query was stopped.',
      ...(error.engineMs === null ? {} : { usedQu: unitsFor(error.engineMs, buyer.budget) }),
      cause: error,
    });
  return asNotJudged(error);
}

function writtenAgainIn({ cause }: QueryFailed): Failure | undefined {
  return cause instanceof EngineError ? writtenAgain(cause) : undefined;
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
      cause: error,
    });
  throw error instanceof EngineError ? asUnavailable(RESOURCE, error) : error;
}
