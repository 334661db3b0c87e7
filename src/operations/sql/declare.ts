import { Readable } from 'node:stream';
import { withOwnNames } from '../../../core/domain/own-table.ts';
import { fail } from '../../../core/errors.ts';
import type { Accepted } from '../../../sandbox/judge/inspect.ts';
import type { RoomOwner } from '../../results/room.ts';
import type { Outcome, StreamedAnswer } from '../answer.ts';
import { defineOperation } from '../define.ts';
import type { CallContext } from '../deps.ts';
import type { Meta } from '../meta.ts';
import type { InputOf } from '../params.ts';
import { jobBudget, PRICES, SQL_PRICE, type SqlBudget, sqlBudget, sqlPrice, sqlTierOf } from '../prices.ts';
import { tablesOf } from '../tables/own-tables.ts';
import { engineRequest, outcomeOf, SQL_FACT_HEADERS, type SqlAnswerFacts } from './answer.ts';
import { checkAsOf, metaNow, sqlAsOfParam } from './as-of.ts';
import { boundsOf, unitsFor } from './bounds.ts';
import { explainAnswer } from './estimate.ts';
import { type Buyer, certainFailure, judged, rejected } from './failures.ts';
import { jobHoldMs, rowsOfJob, SqlJobShape, submitJob, waitedOutcome } from './job-answer.ts';
import { keptOutcome, keptSqlOf, type SqlDeps, unitsForKept } from './kept.ts';
import {
  checkBudget,
  csvNullParam,
  explainOnlyParam,
  JSON_ROWS_MAX,
  maxAgeParam,
  maxQuParam,
  maxRowsParam,
  numbersOf,
  queryParam,
  SQL_ANSWER_MEDIA,
  SQL_MEDIA,
  sqlFormatParam,
  sqlNumbersParam,
  sqlParam,
  sqlParametersParam,
  sqlTierParam,
  TOOL_ROWS_DEFAULT,
  waitSecondsParam,
} from './params.ts';
import {
  SQL_ANSWER_EXAMPLES,
  SQL_EXAMPLE,
  SQL_REQUEST_EXAMPLES,
  SqlEstimateShape,
  SqlResultShape,
  textWarnings,
  warningsOf,
} from './shapes.ts';

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
  csv_null: csvNullParam,
  max_rows: {
    ...maxRowsParam,
    toolText: `Rows in the answer, 1 to ${JSON_ROWS_MAX}. Default ${TOOL_ROWS_DEFAULT}.`,
    toolDefault: TOOL_ROWS_DEFAULT,
  },
  max_age: maxAgeParam,
  wait_seconds: waitSecondsParam,
  explain_only: explainOnlyParam,
};

type SqlInput = InputOf<typeof SQL_PARAMS>;

interface ReviewedQuery {
  readonly input: SqlInput;
  readonly accepted: Accepted;
}

export const runSql = defineOperation({
  id: 'runSql',
  wire: {
    method: 'POST',
    path: '/sql',
    params: SQL_PARAMS,
    output: SqlResultShape,
    alsoAnswers: [SqlEstimateShape, SqlJobShape],
    media: SQL_ANSWER_MEDIA,
    answerHeaders: SQL_FACT_HEADERS,
    fails: [
      'invalid_query',
      'query_failed',
      'snapshot_gone',
      'upgrade_required',
      'unsupported_media_type',
      'payload_too_large',
    ],
  },
  words: {
    summary: 'Run a SQL query over the public tables',
    description:
      'The whole SELECT language of ClickHouse over the tables that `GET /v0/sql/schema` lists, and nothing else. The query is checked before it runs: `invalid_query` says what is wrong and where, and costs nothing. `max_qu` is the most it may cost, and bounds its time: these units are held, and the units for the engine time used are charged. An answer has every row, or says that `max_rows` cut it. Closing the connection stops the query.',
    tool: 'Run one ClickHouse SELECT over the public tables, for any count, sum, ranking or time series. get_sql_schema has the columns. A query that is refused costs nothing and says what to write instead. `truncated`: rows are missing, so aggregate or filter.',
    example: SQL_EXAMPLE,
    moreExamples: SQL_ANSWER_EXAMPLES,
    requestExamples: SQL_REQUEST_EXAMPLES,
  },
  money: { price: SQL_PRICE, load: 'query', repeatable: true },
  check: (input) => {
    textOf(input);
    checkBudget(input.tier, input.max_qu, isJob(input));
    return input;
  },
  find: async (input, deps: SqlDeps, caller) => ({ ...input, ownTables: tablesOf(caller, deps) }),
  terms: (input) =>
    input.explain_only
      ? { price: PRICES.free, byUse: false, tier: null }
      : {
          price: sqlPrice(sqlTierOf(input.tier), budgetOf(input)),
          byUse: true,
          tier: input.tier,
          ...(isJob(input) ? { jobHoldMs: jobHoldMs(input.tier) } : {}),
        },
  effects: (input) => (isJob(input) ? ['reads', 'spends', 'keeps'] : ['reads', 'spends']),
  asked: (input) =>
    input.explain_only || isJob(input)
      ? null
      : { text: textOf(input), tier: input.tier, budgetQu: budgetOf(input).maxQu },
  review: async (input, deps, callerName): Promise<ReviewedQuery> => {
    const { ownTables } = input;
    const text = {
      ...{ text: textOf(input), parameters: input.params, caller: callerName },
      ...(ownTables === undefined ? {} : { ownTables }),
    };
    const accepted = await judged(text, deps.sql);
    await checkAsOf(input.as_of, accepted, deps);
    return { input, accepted };
  },
  preflight,
  run: async (reviewed, deps: SqlDeps, context): Promise<Outcome> => {
    const { caller, callerName } = context;
    const { input } = reviewed;
    if (isJob(input) && !input.explain_only) return asJob(input, deps, context);
    const asked = {
      callerName,
      hasKey: caller.standing !== 'anonymous',
      organization: caller.organization,
      owner: ownerOf(context),
      meta: await metaNow(deps, input.as_of),
    };
    return input.explain_only ? explain(reviewed, deps, asked) : query(reviewed, deps, asked);
  },
});

/**
 * Failures that only planning a query shows: unknown names and types, more rows than may be read. It proves nothing when planning
 * itself takes too long or too much memory.
 */
async function preflight(
  { input, accepted }: ReviewedQuery,
  { sql }: SqlDeps,
  callerName: string,
): Promise<void> {
  const failure = await certainFailure({ accepted, parameters: input.params, caller: callerName }, sql);
  // Before a payment is settled: callers that pay over x402 have no key.
  if (failure !== null) return rejected(failure, buyerOf(input, false), { sql, callerName });
}

interface Asked {
  readonly callerName: string;
  /** Without a key, a caller gets no engine messages about a query that did not run, and fewer estimates. */
  readonly hasKey: boolean;
  readonly organization: CallContext['caller']['organization'];
  /** Whose room a kept result takes. */
  readonly owner: RoomOwner;
  readonly meta: Meta;
}

function ownerOf({ caller: { organization }, payment, callerName }: CallContext): RoomOwner {
  if (organization === null) return { kind: 'payer', id: payment?.payer ?? callerName };
  return { kind: 'organization', id: organization.id, plan: organization.plan };
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

async function explain(
  { input, accepted }: ReviewedQuery,
  deps: SqlDeps,
  { callerName, hasKey, meta }: Asked,
): Promise<Outcome> {
  const tier = sqlTierOf(input.tier);
  const budget = budgetOf(input);
  const rowsMax = input.max_rows ?? JSON_ROWS_MAX;
  const warnings = await textWarnings(accepted, deps);
  const estimate =
    hasKey || accepted.safeToPlan
      ? await deps.sql
          .estimate({ accepted, parameters: input.params, caller: callerName })
          .catch((error: unknown) => rejected(error, buyerOf(input, hasKey), { sql: deps.sql, callerName }))
      : null;
  const body = JSON.stringify(explainAnswer({ accepted, estimate, tier, budget, rowsMax, meta, warnings }));
  return { usedQu: null, answer: () => ({ stream: jsonText(body) }), discard: () => undefined };
}

function jsonText(body: string): StreamedAnswer {
  return {
    mediaType: SQL_MEDIA.json.mediaType,
    headers: {},
    body: Readable.from([body], { objectMode: false }),
  };
}

async function query(
  { input, accepted }: ReviewedQuery,
  deps: SqlDeps,
  { callerName, hasKey, organization, owner, meta }: Asked,
): Promise<Outcome> {
  const { format, params, tier } = input;
  const asOf = input.as_of === undefined ? {} : { asOf: input.as_of };
  const warnings = await warningsOf(accepted, deps, meta);
  const budget = budgetOf(input);
  const numbers = numbersOf(format, input.numbers);
  const { rowsMax } = SQL_MEDIA[format];
  const { maxRows, mustBeWhole, seconds } = boundsOf(accepted.settings ?? [], {
    budget,
    maxRows: input.max_rows,
    rowsMax,
  });
  const form = { format, numbers, maxRows, ...nullForm(input) };
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
        mustBeWhole,
        maxAgeSeconds: input.max_age,
        owner,
        callerName,
        meta,
        warnings,
        ...asOf,
      })
      .catch(onRejected);
    const ownQu = unitsFor(obtained.kept, budget);
    const usedQu = await unitsForKept(obtained, ownQu, organization?.id ?? null, kept);
    const ofText = await textWarnings(accepted, deps);
    return keptOutcome(obtained.kept, { ...form, tier }, { deps, usedQu, ofText });
  }
  const result = await deps.sql
    .run({
      accepted,
      parameters: params,
      tier,
      maxSeconds: seconds,
      ...engineRequest({ ...form, mustBeWhole }),
      caller: callerName,
      ...asOf,
    })
    .catch(onRejected);
  const facts: SqlAnswerFacts = { ...form, tier, sql: withOwnNames(accepted.text), warnings, meta };
  return outcomeOf(result, facts, unitsFor(result, budget));
}

/** Runs as a job, and is answered with its result where that is there in time. */
async function asJob(input: SqlInput, deps: SqlDeps, context: CallContext): Promise<Outcome> {
  const { format, tier, wait_seconds: waitSeconds = 0 } = input;
  const rows = rowsOfJob(input.max_rows, SQL_MEDIA[format].rowsMax);
  const { jobs } = keptSqlOf(deps);
  const submitted = await submitJob(
    { ...input, ...rows, text: textOf(input), budget: budgetOf(input) },
    deps,
    context,
  );
  const job = await jobs.untilEnded(submitted.job, waitSeconds * 1_000);
  return waitedOutcome({ job, isNew: submitted.isNew }, deps, context.caller, (kept) =>
    keptOutcome(
      kept,
      {
        ...{ format, numbers: numbersOf(format, input.numbers), maxRows: rows.maxRows, tier },
        ...nullForm(input),
      },
      { deps, usedQu: 0 },
    ),
  );
}

function nullForm({ csv_null: csvNull }: Pick<SqlInput, 'csv_null'>): { readonly csvNull?: string } {
  return csvNull === undefined ? {} : { csvNull };
}

function buyerOf(input: SqlInput, hasKey: boolean): Buyer {
  return { budget: budgetOf(input), hasKey, text: textOf(input), parameters: input.params };
}
