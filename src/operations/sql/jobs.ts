import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from '@sinclair/typebox';
import { hasEnded, RESULT_KEPT_MS } from '../../../core/domain/job.ts';
import { fail } from '../../../core/errors.ts';
import type { SqlJob } from '../../jobs/jobs.ts';
import { organizationScope } from '../account/scope.ts';
import type { Outcome } from '../answer.ts';
import { defineOperation } from '../define.ts';
import type { Caller } from '../deps.ts';
import { tablesOf } from '../own-tables.ts';
import { invalid, type Param, quoted } from '../params.ts';
import { JOB_PRICE, jobBudget, PRICES, sqlPrice, sqlTierOf } from '../prices.ts';
import { checkAsOf, sqlAsOfParam } from './as-of.ts';
import { textOf } from './declare.ts';
import { judged } from './failures.ts';
import {
  jobAnswer,
  jobHoldMs,
  jobOutcome,
  rowsOfJob,
  SQL_JOB_EXAMPLE,
  SqlJobShape,
  submitJob,
} from './job-answer.ts';
import { keptSqlOf, type SqlDeps } from './kept.ts';
import { countParam } from './page.ts';
import {
  checkBudget,
  maxAgeParam,
  maxQuParam,
  maxRowsParam,
  queryParam,
  SQL_MEDIA,
  STREAMED_ROWS_MAX,
  sqlParam,
  sqlParametersParam,
  sqlTierParam,
} from './params.ts';

/** Jobs: queries that outlive their connection, and whose results are kept. */

const KEPT_DAYS = RESULT_KEPT_MS / 86_400_000;

export const createSqlJob = defineOperation({
  id: 'createSqlJob',
  wire: {
    method: 'POST',
    path: '/sql/jobs',
    params: {
      sql: { ...sqlParam, toolText: 'As of run_sql.' },
      query: queryParam,
      as_of: sqlAsOfParam,
      tier: { ...sqlTierParam, toolText: 'Time and price. Default standard.' },
      max_qu: { ...maxQuParam, toolText: 'The most it may cost.' },
      params: { ...sqlParametersParam, toolText: 'As of run_sql.' },
      max_rows: {
        ...maxRowsParam,
        description:
          'Rows that the result has at most. Without it a result of more than 1,000,000 rows fails.',
        toolText: 'Rows of the result at most.',
      },
      max_age: { ...maxAgeParam, toolText: '' },
    },
    output: SqlJobShape,
    fails: [
      'invalid_query',
      'snapshot_gone',
      'upgrade_required',
      'unsupported_media_type',
      'payload_too_large',
    ],
    status: 202,
  },
  words: {
    summary: 'Run a SQL query as a job',
    description: `Checks the query like \`POST /v0/sql\`, queues it and answers 202 at once. A job has more time than a call: 60, 300 or 900 seconds by tier. Its result is kept for ${KEPT_DAYS} days and can be read in any format, any number of times, without another charge. Its units are held when it is accepted, and the units it used are charged once when it succeeds; a job whose process dies is run once more, and only the run that succeeds is charged. Needs the key of an organization. With an \`Idempotency-Key\` the same request returns the same job.`,
    tool: 'Run a query as a job, with more time than run_sql; get_sql_job follows it.',
    example: { ...SQL_JOB_EXAMPLE, state: 'queued', started_at: null, progress: null },
  },
  money: { price: JOB_PRICE, load: 'query', repeatable: true },
  check: (input) => {
    textOf(input);
    checkBudget(input.tier, input.max_qu, true);
    return input;
  },
  find: async (input, deps: SqlDeps, caller) => ({ ...input, ownTables: tablesOf(caller, deps) }),
  terms: ({ tier, max_qu: maxQu }) => ({
    price: sqlPrice(sqlTierOf(tier), jobBudget(sqlTierOf(tier), maxQu)),
    byUse: true,
    tier,
    jobHoldMs: jobHoldMs(tier),
  }),
  review: async (input, deps, callerName) => {
    const text = textOf(input);
    const { params: parameters, ownTables } = input;
    const asked = { text, parameters, caller: callerName, ...(ownTables === undefined ? {} : { ownTables }) };
    const accepted = await judged(asked, deps.sql);
    await checkAsOf(input.as_of, accepted, deps);
    return { input, text };
  },
  run: async ({ input, text }, deps: SqlDeps, context): Promise<Outcome> => {
    const { job, isNew } = await submitJob(
      {
        ...input,
        text,
        ...rowsOfJob(input.max_rows, STREAMED_ROWS_MAX),
        budget: jobBudget(sqlTierOf(input.tier), input.max_qu),
      },
      deps,
      context,
    );
    return jobOutcome(await jobAnswer(job, deps, context.caller), isNew);
  },
});

const JOB_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const jobParam: Param<string> = {
  in: 'path',
  description: 'The id of the job.',
  toolText: 'Id of the job.',
  required: true,
  schema: Type.String({ format: 'uuid', pattern: JOB_ID.source }),
  example: SQL_JOB_EXAMPLE.job,
  read: (raw, name) => {
    if (typeof raw === 'string' && JOB_ID.test(raw)) return raw;
    throw invalid(name, `${name} must be the id of a job, not ${quoted(raw)}.`);
  },
};

const JOB_FORMATS = ['json', 'events'] as const;

const jobFormatParam: Param<(typeof JOB_FORMATS)[number]> = {
  in: 'query',
  description:
    '`events`: a stream of server-sent events, one (`job`) for each change until the job has ended. `Accept: text/event-stream` asks for the same.',
  toolText: '',
  required: false,
  schema: Type.Union(
    JOB_FORMATS.map((form) => Type.Literal(form)),
    { default: 'json' },
  ),
  read: (raw, name) => {
    const format = JOB_FORMATS.find((known) => known === (raw ?? 'json'));
    if (format !== undefined) return format;
    throw invalid(name, `${name} must be json or events, not ${quoted(raw)}.`);
  },
};

export const getSqlJob = defineOperation({
  id: 'getSqlJob',
  wire: {
    path: '/sql/jobs/{job}',
    params: { job: jobParam, format: jobFormatParam },
    output: SqlJobShape,
    media: {
      'text/event-stream': {
        holds: 'Events named `job`; the data of each is the job as JSON. The last one has ended.',
        example: `event: job\ndata: ${JSON.stringify({ job: SQL_JOB_EXAMPLE.job, state: 'running' })}\n\n`,
      },
    },
    fails: ['invalid_parameter', 'job_not_found', 'upstream_unavailable'],
  },
  words: {
    summary: 'The state of a job',
    description:
      'State, progress, charge and, once it has succeeded, where its result is. Free. With `format=events` every change is sent as it happens, until the job has ended.',
    tool: 'State, progress and charge of a job, and the id of its result (get_result) once it has succeeded.',
    example: SQL_JOB_EXAMPLE,
  },
  money: { price: PRICES.free, load: 'none' },
  run: async ({ job: id, format }, deps: SqlDeps, { caller }): Promise<Outcome> => {
    const job = await found(id, deps, caller);
    const body =
      format === 'json'
        ? Readable.from([JSON.stringify(await jobAnswer(job, deps, caller))])
        : eventsOf(job, deps, caller);
    return {
      usedQu: null,
      answer: () => ({
        stream: {
          mediaType: format === 'json' ? SQL_MEDIA.json.mediaType : 'text/event-stream; charset=utf-8',
          headers: {},
          body,
        },
      }),
      discard: () => void body.destroy(),
    };
  },
});

/** A job of the caller's: of its organization, or of its key. */
async function found(id: string, deps: SqlDeps, caller: Caller): Promise<SqlJob> {
  const { jobs } = keptSqlOf(deps);
  if (caller.organization !== null) {
    const { organizationId, keyId } = organizationScope(caller);
    const job = await jobs.find({ id, organizationId });
    if (job !== null && (keyId === null || job.request.hold.keyId === keyId)) return job;
  }
  throw fail('job_not_found', { detail: 'There is no job of this id that you may see.' });
}

/** Proxies close connections that say nothing for a minute. */
const SILENCE_MAX_MS = 15_000;
/** Then the client connects again by itself, so that no connection outlives a drain. */
const EVENTS_MAX_MS = 10 * 60_000;
/** Between two events. */
const EVENTS_PAUSE_MS = 250;

function eventsOf(first: SqlJob, deps: SqlDeps, caller: Caller): Readable {
  const { jobs } = keptSqlOf(deps);
  const left = new AbortController();
  async function* events(): AsyncGenerator<string> {
    const end = performance.now() + EVENTS_MAX_MS;
    let job = first;
    yield await eventOf(job, deps, caller);
    while (!hasEnded(job.state) && performance.now() < end && !left.signal.aborted) {
      await sleep(EVENTS_PAUSE_MS);
      const now = await jobs.untilChanged(job, SILENCE_MAX_MS, left.signal);
      yield now === job ? ': still running\n\n' : await eventOf(now, deps, caller);
      job = now;
    }
  }
  const body = Readable.from(events(), { objectMode: false });
  body.once('close', () => left.abort());
  return body;
}

async function eventOf(job: SqlJob, deps: SqlDeps, caller: Caller): Promise<string> {
  return `event: job\ndata: ${JSON.stringify(await jobAnswer(job, deps, caller))}\n\n`;
}

export const cancelSqlJob = defineOperation({
  id: 'cancelSqlJob',
  wire: {
    method: 'DELETE',
    path: '/sql/jobs/{job}',
    params: { job: jobParam },
    output: SqlJobShape,
    fails: ['invalid_parameter', 'job_not_found', 'upstream_unavailable'],
  },
  words: {
    summary: 'Cancel a job',
    description:
      'A queued job ends at once and costs nothing. A running job is stopped within seconds (`cancel_requested`), and the units it used are charged. A job that has ended does not change.',
    tool: 'Cancel a job: a queued one costs nothing, of a running one what it used is charged.',
    example: { ...SQL_JOB_EXAMPLE, cancel_requested: true },
  },
  money: { price: PRICES.free, load: 'none' },
  access: { changes: 'removes' },
  run: async ({ job: id }, deps: SqlDeps, { caller }) => {
    const { jobs } = keptSqlOf(deps);
    const job = await found(id, deps, caller);
    const cancelled = await jobs.cancel({ id, organizationId: job.organizationId });
    return jobAnswer(cancelled ?? job, deps, caller);
  },
});

const JOBS_PAGE_MAX = 100;
const JOBS_PAGE = 20;
/** Far above the jobs that an organization can have in a week. */
const OFFSET_MAX = 1_000_000;

export const listSqlJobs = defineOperation({
  id: 'listSqlJobs',
  wire: {
    path: '/sql/jobs',
    params: {
      limit: countParam({ description: 'Jobs on a page.', min: 1, max: JOBS_PAGE_MAX, standard: JOBS_PAGE }),
      offset: countParam({ description: 'Jobs that are left out.', min: 0, max: OFFSET_MAX, standard: 0 }),
    },
    output: Type.Object({
      jobs: Type.Array(SqlJobShape),
      next_offset: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
    }),
    paging: 'offset',
  },
  words: {
    summary: 'The jobs of your organization',
    description: `Newest first; a job stays listed for ${KEPT_DAYS} days after it ends. A key that manages keys, and a bearer token, see all jobs of the organization; any other key sees its own. Free. Without the key of an organization the list is empty.`,
    tool: 'Jobs of your organization, newest first.',
    example: { jobs: [SQL_JOB_EXAMPLE], next_offset: null },
  },
  money: { price: PRICES.free, load: 'none' },
  run: async ({ limit, offset }, deps: SqlDeps, { caller }) => {
    if (caller.organization === null) return { jobs: [], next_offset: null };
    const { jobs } = keptSqlOf(deps);
    const listed = await jobs.list({ ...organizationScope(caller), offset, limit: limit + 1 });
    return {
      jobs: await Promise.all(listed.slice(0, limit).map((job) => jobAnswer(job, deps, caller))),
      next_offset: listed.length > limit ? offset + limit : null,
    };
  },
});
