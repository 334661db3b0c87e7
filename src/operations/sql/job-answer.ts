import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { type Static, Type } from '@sinclair/typebox';
import { mintResultToken } from '../../../core/domain/cursor.ts';
import {
  hasEnded,
  JOB_ATTEMPTS_MAX,
  type JOB_STATES,
  JOB_WAIT_MAX_MS,
  RESULT_LINK_MS,
} from '../../../core/domain/job.ts';
import { quForMilliseconds, SQL_TIER_IDS, type SqlTierId } from '../../../core/domain/plan.ts';
import { printSnapshot, type Snapshot } from '../../../core/domain/snapshot.ts';
import { fail } from '../../../core/errors.ts';
import type { SqlJob } from '../../jobs/jobs.ts';
import type { KeptResult } from '../../results/results.ts';
import type { Charge, Outcome } from '../answer.ts';
import type { CallContext, Caller } from '../deps.ts';
import { type SqlBudget, sqlTierOf } from '../prices.ts';
import { CountShape, keyOf, oneOf, orNull, TextEditsShape, TimeShape } from '../shapes.ts';
import { isoTime, keptSqlOf, type SqlDeps } from './kept.ts';
import { SQL_MEDIA } from './params.ts';
import { PROGRESS_FIELDS, progressAnswer } from './running.ts';
import { SqlPositionShape } from './shapes.ts';

/** What an answer says about a job, and how a call becomes one. */

const STATE_TEXTS: Readonly<Record<(typeof JOB_STATES)[number], string>> = {
  queued: 'It waits for a place.',
  running: 'It runs.',
  succeeded: 'Its result is kept.',
  failed: '`failure` says why; what it used until then is charged, as for `POST /v0/sql`.',
  cancelled: 'It was cancelled; what it used until then is charged.',
  expired: 'It waited for an hour and never ran; it cost nothing.',
};

const NullableCount = (description: string) => orNull(Type.Integer({ minimum: 0, description }));
const NullableTime = orNull(Type.String({ format: 'date-time' }));

export const SqlJobShape = Type.Object(
  {
    job: Type.String({ format: 'uuid', description: 'Its id: `GET /v0/sql/jobs/{job}`.' }),
    state: keyOf(STATE_TEXTS, {
      title: 'SqlJobState',
      description: Object.entries(STATE_TEXTS)
        .map(([state, meaning]) => `\`${state}\`: ${meaning}`)
        .join(' '),
    }),
    created_at: TimeShape,
    started_at: NullableTime,
    ended_at: NullableTime,
    tier: oneOf(SQL_TIER_IDS, { title: 'SqlTier' }),
    max_seconds: Type.Integer({ minimum: 1, description: 'How long it may run.' }),
    query: Type.String({ description: 'The text as it was sent.' }),
    as_of: orNull(Type.String({ description: 'The snapshot that it is asked of; null: the newest data.' })),
    cancel_requested: Type.Boolean(),
    progress: orNull(
      Type.Object(
        {
          ...PROGRESS_FIELDS,
          units: Type.Integer({ minimum: 0, description: 'Query Units used so far.' }),
        },
        { title: 'SqlJobProgress' },
      ),
    ),
    usage: Type.Object(
      {
        units_held: Type.Integer({ minimum: 0 }),
        units_charged: NullableCount('Null until it has ended.'),
        balance: NullableCount('What the organization had left when it was charged.'),
      },
      { title: 'SqlJobUsage' },
    ),
    failure: orNull(
      Type.Object(
        {
          code: Type.String({ description: 'As in a problem object.' }),
          detail: Type.String(),
          reason: Type.Optional(Type.String()),
          position: Type.Optional(SqlPositionShape),
          near: Type.Optional(Type.String()),
          hint: Type.Optional(Type.String()),
          edits: Type.Optional(TextEditsShape('Changes of `query` that do what `hint` proposes.')),
          suggested_sql: Type.Optional(Type.String()),
        },
        { title: 'SqlJobFailure' },
      ),
    ),
    result: orNull(
      Type.Object(
        {
          id: Type.String(),
          row_count: CountShape,
          bytes: Type.Integer({ minimum: 0, description: 'As it is stored.' }),
          truncated: Type.Boolean(),
          created_at: TimeShape,
          expires_at: TimeShape,
          url: Type.String({ description: 'Takes the key of the organization.' }),
          signed_url: Type.String({
            description:
              'Takes no key: give it to a program that fetches the result for you. It ends with the key that asked for it.',
          }),
          signed_until: TimeShape,
        },
        { title: 'SqlJobResult', description: 'Null without a result, and once that has expired.' },
      ),
    ),
  },
  { title: 'SqlJob' },
);

export const SQL_JOB_EXAMPLE: Static<typeof SqlJobShape> = {
  job: '2f1e6c1a-7d3b-4a51-9a39-0d8a4c7be111',
  state: 'running',
  created_at: '2026-11-20T12:00:00.000Z',
  started_at: '2026-11-20T12:00:01.000Z',
  ended_at: null,
  tier: 'standard',
  max_seconds: 60,
  query: 'SELECT payee, sum(amount_usd) AS usd FROM settlements GROUP BY payee',
  as_of: null,
  cancel_requested: false,
  progress: {
    rows_read: 4_194_304,
    rows_estimate: 10_000_000,
    percent: 41.9,
    seconds: 7.2,
    memory_bytes: 268_435_456,
    units: 2,
  },
  usage: { units_held: 12, units_charged: null, balance: null },
  failure: null,
  result: null,
};

/** `caller`: with whose key the links to its result end. */
export async function jobAnswer(
  job: SqlJob,
  deps: SqlDeps,
  caller: Caller,
): Promise<Static<typeof SqlJobShape>> {
  const { request, outcome, state } = job;
  const kept =
    job.resultId === null || state !== 'succeeded' ? null : await keptSqlOf(deps).results.find(job.resultId);
  return {
    job: job.id,
    state,
    created_at: isoTime(job.createdAtMs),
    started_at: timeOrNull(job.startedAtMs),
    ended_at: timeOrNull(job.endedAtMs),
    tier: request.tier,
    max_seconds: request.seconds,
    query: request.sql,
    as_of: request.asOf ?? null,
    cancel_requested: job.isCancelled,
    progress: jobProgress(job),
    usage: {
      units_held: request.hold.units,
      units_charged: outcome?.chargedQu ?? null,
      balance: outcome?.balance ?? null,
    },
    failure: failureOf(job),
    result: kept === null ? null : resultOf(kept, deps, caller),
  };
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}

function jobProgress({ state, progress, request, outcome }: SqlJob): Static<typeof SqlJobShape>['progress'] {
  if (progress === null) return null;
  const answer = progressAnswer(progress);
  const usedQu = Math.min(request.maxQu, quForMilliseconds(progress.seconds * 1_000));
  return {
    ...answer,
    percent: state === 'succeeded' ? 100 : answer.percent,
    units: outcome?.chargedQu ?? progress.usedQu ?? usedQu,
  };
}

function failureOf({ outcome }: SqlJob): Static<typeof SqlJobShape>['failure'] {
  const failure = outcome?.failure ?? null;
  if (failure === null) return null;
  const { suggestedSql, edits, ...rest } = failure;
  return {
    ...rest,
    ...(edits === undefined ? {} : { edits }),
    ...(suggestedSql === undefined ? {} : { suggested_sql: suggestedSql }),
  };
}

function resultOf(
  kept: KeptResult,
  { deployment: { publicUrl }, cursorKeys, clock }: SqlDeps,
  { organization, key }: Caller,
): NonNullable<Static<typeof SqlJobShape>['result']> {
  const url = `${publicUrl}/v0/results/${kept.id}`;
  const endsAtMs = key?.expiresAtMs ?? kept.expiresAtMs;
  const signedUntilMs = Math.min(kept.expiresAtMs, endsAtMs, clock.nowMs() + RESULT_LINK_MS);
  const signer =
    organization === null || key == null ? null : { organizationId: organization.id, keyId: key.id };
  return {
    id: kept.id,
    row_count: kept.rows,
    bytes: kept.bytes,
    truncated: kept.hasMore,
    created_at: isoTime(kept.createdAtMs),
    expires_at: isoTime(kept.expiresAtMs),
    url,
    signed_url: `${url}?token=${mintResultToken(cursorKeys, { id: kept.id, untilMs: signedUntilMs, signer })}`,
    signed_until: isoTime(signedUntilMs),
  };
}

/** Time for every attempt of a job, and for its turn. */
export function jobHoldMs(tier: SqlTierId): number {
  const attemptMs = sqlTierOf(tier).jobSeconds * 1_000 + ATTEMPT_MARGIN_MS;
  return JOB_WAIT_MAX_MS + JOB_ATTEMPTS_MAX * attemptMs;
}

/** A lease that must lapse, the wait for a place of the sandbox, and the writes around them. */
const ATTEMPT_MARGIN_MS = 15 * 60_000;

/** The rows of a job's result: all of them, or as many as were asked for. */
export function rowsOfJob(
  asked: number | undefined,
  rowsMax: number,
): { readonly maxRows: number; readonly mustBeWhole: boolean } {
  const mustBeWhole = asked === undefined || asked > rowsMax;
  return { maxRows: mustBeWhole ? rowsMax : asked, mustBeWhole };
}

export interface JobInput {
  readonly text: string;
  readonly params: Readonly<Record<string, string>>;
  readonly tier: SqlTierId;
  readonly maxRows: number;
  readonly mustBeWhole: boolean;
  readonly max_age: number | undefined;
  readonly as_of: Snapshot | undefined;
  readonly budget: SqlBudget;
}

/** Queues a job that is paid for with the hold of its call. */
export async function submitJob(
  input: JobInput,
  deps: SqlDeps,
  { caller: { organization }, hold, idempotencyKey, callerName, surface }: CallContext,
): Promise<{ readonly job: SqlJob; readonly isNew: boolean }> {
  const { jobs } = keptSqlOf(deps);
  if (organization === null || hold === null) throw new Error('a job without units that are held for it');
  const { text, params, tier, maxRows, mustBeWhole, max_age: maxAge, as_of: asOf, budget } = input;
  const asked = {
    sql: text,
    parameters: params,
    tier,
    maxQu: budget.maxQu,
    seconds: budget.seconds,
    maxRows,
    mustBeWhole,
    maxAgeSeconds: maxAge ?? null,
    ...(asOf === undefined ? {} : { asOf: printSnapshot(asOf) }),
  };
  return jobs.submit({
    id: idempotencyKey === undefined ? randomUUID() : idOf(organization.id, idempotencyKey, asked),
    organizationId: organization.id,
    plan: organization.plan,
    request: { ...asked, plan: organization.plan, callerName, surface, hold },
  });
}

/**
 * The same key with the same query gives the same job, also where the process that queued it died before it answered. With another
 * query it is another job: no key leads to the rows of a query that was not asked.
 */
function idOf(
  organizationId: string,
  idempotencyKey: string,
  {
    parameters,
    ...asked
  }: Readonly<Record<string, unknown>> & {
    readonly parameters: Readonly<Record<string, string>>;
  },
): string {
  const sorted = Object.entries(parameters).sort(([a], [b]) => Number(a > b) - Number(a < b));
  const named = ['sql-job', organizationId, idempotencyKey, asked, sorted];
  const digest = createHash('sha256').update(JSON.stringify(named));
  return digest
    .digest('hex')
    .slice(0, 32)
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
}

/** Answers a call that was made a job: with its result, its failure, or the job. */
export async function waitedOutcome(
  { job, isNew }: { readonly job: SqlJob; readonly isNew: boolean },
  deps: SqlDeps,
  caller: Caller,
  answerWith: (kept: KeptResult) => Promise<Outcome>,
): Promise<Outcome> {
  const { outcome, state, request } = job;
  if (state === 'failed' && outcome?.failure) {
    const { code, detail, ...query } = outcome.failure;
    throw fail(code, { detail, query, usedQu: outcome.chargedQu });
  }
  const kept =
    job.resultId === null || !hasEnded(state) ? null : await keptSqlOf(deps).results.find(job.resultId);
  if (kept === null) return jobOutcome(await jobAnswer(job, deps, caller), isNew);
  const answer = await answerWith(kept);
  const charge: Charge = {
    heldQu: request.hold.units,
    chargedQu: outcome?.chargedQu ?? 0,
    balance: outcome?.balance ?? null,
  };
  return { ...answer, keepsHold: isNew, usedQu: 0, answer: () => answer.answer(charge) };
}

/** 202 with the job. The hold of the call is that of the job, where the call made it. */
export function jobOutcome(body: Static<typeof SqlJobShape>, isNew: boolean): Outcome {
  return {
    usedQu: 0,
    keepsHold: isNew,
    answer: () => ({
      stream: {
        status: 202,
        mediaType: SQL_MEDIA.json.mediaType,
        headers: {},
        body: Readable.from([JSON.stringify(body)], { objectMode: false }),
      },
    }),
    discard: () => undefined,
  };
}
