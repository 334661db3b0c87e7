import type { Clock } from '../../core/clock.ts';
import {
  type EndedJobState,
  JOB_ATTEMPTS_MAX,
  JOB_WAIT_MAX_MS,
  RESULT_KEPT_MS,
} from '../../core/domain/job.ts';
import type { QueryRun } from '../../core/domain/usage.ts';
import { ERRORS, Failure } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { type ControlStore, StoreUnavailable } from '../accounts/store.ts';
import { chargeJob, whileUnavailable } from './job-charge.ts';
import {
  type JobFailure,
  type JobNews,
  type JobOutcome,
  type JobProgress,
  jobOf,
  type SqlJob,
} from './jobs.ts';
import type { JobLine } from './line.ts';

/**
 * Runs the jobs of the line, in every API process. A job is claimed for a lease that its worker renews; where a process died, another
 * claims the job once the lease lapsed. Each step may be repeated:
 *
 *   claim → run → publish the result → record it in the job → capture the hold → end the job
 *
 * A worker that lost its claim changes nothing. A job whose result is recorded is charged and ended without running again; one that was
 * begun twice without a result ends as `failed`, and costs nothing.
 */
export interface JobRunner {
  start(): void;
  /** Stops what runs and puts it back into the line. Resolves when nothing runs. */
  stop(): Promise<void>;
}

/** Runs the query of a job and keeps its result. */
export type JobWork = (job: SqlJob, control: JobControl) => Promise<JobResult>;

export interface JobControl {
  /** Aborts when the job is cancelled, its claim is lost or the process stops. */
  readonly signal: AbortSignal;
  onProgress(progress: Omit<JobProgress, 'usedQu'>): void;
}

export interface JobResult {
  readonly resultId: string;
  readonly rows: number;
  readonly usedQu: number;
}

export interface RunnerDeps {
  readonly store: Pick<ControlStore, 'jobs' | 'units'>;
  readonly work: JobWork;
  readonly clock: Clock;
  readonly log: Log;
  readonly news: JobNews;
  /** Says when a job waits. */
  readonly line: JobLine;
  /** Jobs that this process runs at once. */
  readonly places: number;
  /** Keeps the run of a job that ended for the list of its organization. */
  readonly keepRun: (run: Omit<QueryRun, 'textCut'>) => void;
  /** Called now and then: removes expired results. */
  readonly sweep: () => Promise<unknown>;
  readonly limits?: Partial<typeof LIMITS>;
}

const LIMITS = {
  /** Far above a pause of the process or of the store. */
  leaseMs: 30_000,
  renewMs: 1_000,
  sweepMs: 60_000,
} as const;

const FORGOTTEN_MAX = 200;

type StopReason = 'cancelled' | 'lost' | 'stopping';

export function createJobRunner(deps: RunnerDeps): JobRunner {
  const limits: Readonly<Record<keyof typeof LIMITS, number>> = { ...LIMITS, ...deps.limits };
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> = Promise.resolve();

  const claimNext = async (): Promise<(() => Promise<void>) | null> => {
    const nowMs = deps.clock.nowMs();
    const record = await deps.store.jobs.claim({ nowMs, leaseUntilMs: nowMs + limits.leaseMs });
    if (record === null) return null;
    return () =>
      runJob(deps, limits, jobOf(record), stopping.signal)
        .catch((error: unknown) => {
          const waits = error instanceof StoreUnavailable;
          deps.log[waits ? 'warn' : 'error']({ err: error, job: record.id }, 'a job was left to its lease');
        })
        .finally(() => deps.news.emit(record.id));
  };

  return {
    start: () => {
      timer = setInterval(() => void sweep(deps), limits.sweepMs).unref();
      void sweep(deps);
      working = deps.line.work({ places: deps.places, claimNext, signal: stopping.signal });
    },
    stop: async () => {
      stopping.abort();
      clearInterval(timer);
      await working;
    },
  };
}

async function sweep({ store, sweep: sweepResults, clock, log }: RunnerDeps): Promise<void> {
  try {
    await store.jobs.forget({ endedUntilMs: clock.nowMs() - RESULT_KEPT_MS, limit: FORGOTTEN_MAX });
    await sweepResults();
  } catch (error) {
    log.warn({ err: error }, 'old jobs and results could not be removed; it is tried again');
  }
}

/** The claim of this process on a job, and what ends it. */
interface Claim {
  readonly job: SqlJob;
  readonly signal: AbortSignal;
  reason(): StopReason | null;
  report(progress: Omit<JobProgress, 'usedQu'>): void;
  /** Keeps the result in the job. False when the claim is lost. */
  record(result: JobResult): Promise<boolean>;
  end(): void;
}

async function runJob(
  deps: RunnerDeps,
  limits: Readonly<Record<keyof typeof LIMITS, number>>,
  job: SqlJob,
  stopping: AbortSignal,
): Promise<void> {
  const claim = holdClaim(deps, limits, job, stopping);
  try {
    const early = endWithoutRun(deps, job);
    if (early !== null) return await end(deps, claim, early);
    const result = await deps.work(job, { signal: claim.signal, onProgress: claim.report });
    if (!(await claim.record(result))) return;
    const { usedQu, rows } = result;
    await end(deps, claim, { state: 'succeeded', usedQu, rows, failure: null });
  } catch (error) {
    await afterFailure(deps, claim, error);
  } finally {
    claim.end();
  }
}

interface Ending {
  readonly state: EndedJobState;
  readonly usedQu: number;
  /** Absent where there is no result, or an earlier attempt published it. */
  readonly rows?: number | null;
  readonly failure: JobFailure | null;
}

/** Facts of a job before it runs that end it: an earlier attempt published its result, or it is not to run any more. */
function endWithoutRun({ clock }: RunnerDeps, job: SqlJob): Ending | null {
  if (job.resultId !== null) return { state: 'succeeded', usedQu: job.progress?.usedQu ?? 0, failure: null };
  if (job.isCancelled) return { state: 'cancelled', usedQu: 0, failure: null };
  if (job.attempt > JOB_ATTEMPTS_MAX) return { state: 'failed', usedQu: 0, failure: INTERRUPTED };
  const waitedMs = clock.nowMs() - job.createdAtMs;
  return job.attempt === 1 && waitedMs > JOB_WAIT_MAX_MS
    ? { state: 'expired', usedQu: 0, failure: null }
    : null;
}

const INTERRUPTED: JobFailure = {
  code: 'internal_error',
  detail: `The process or the engine that ran the job ended ${JOB_ATTEMPTS_MAX} times before the result was there. Nothing was charged.`,
};

async function afterFailure(deps: RunnerDeps, claim: Claim, error: unknown): Promise<void> {
  const { job } = claim;
  const reason = claim.reason();
  if (reason === 'lost' || error instanceof StoreUnavailable) {
    deps.log.warn({ err: error, job: job.id }, 'a job was left to its lease');
    return;
  }
  const usedQu = error instanceof Failure ? (error.context.usedQu ?? 0) : 0;
  if (reason === 'cancelled') return end(deps, claim, { state: 'cancelled', usedQu, failure: null });
  const isOurs = !(error instanceof Failure) || ERRORS[error.code].status >= 500;
  if (reason === 'stopping' || (isOurs && job.attempt < JOB_ATTEMPTS_MAX)) {
    if (reason === null) deps.log.warn({ err: error, job: job.id }, 'a job is run again');
    await deps.store.jobs.putBack({ id: job.id, attempt: job.attempt });
    deps.line.announce();
    return;
  }
  if (isOurs) deps.log.error({ err: error, job: job.id }, 'a job failed');
  await end(deps, claim, { state: 'failed', usedQu: isOurs ? 0 : usedQu, failure: failureOf(error) });
}

function failureOf(error: unknown): JobFailure {
  if (!(error instanceof Failure)) return INTERRUPTED;
  const { detail, query = {} } = error.context;
  const { meant: _, ...trouble } = query;
  return { code: error.code, detail, ...trouble };
}

/** Charges first: a job that has ended was charged, or costs nothing. */
async function end(
  deps: RunnerDeps,
  { job, reason }: Claim,
  { state, usedQu, rows = null, failure }: Ending,
): Promise<void> {
  const { store, clock, log } = deps;
  const { id, attempt, request } = job;
  const given = new AbortController();
  const lost = setInterval(() => {
    if (reason() === 'lost') given.abort();
  }, LIMITS.renewMs).unref();
  try {
    const note = `the job ended: ${state}`;
    const tools = { units: store.units, clock, log };
    const charge = await whileUnavailable(() => chargeJob(tools, request.hold, usedQu, note), given.signal);
    const outcome: JobOutcome = { ...charge, failure };
    const ended = { id, attempt, state, outcome: JSON.stringify(outcome), atMs: clock.nowMs() };
    const isEnded = await whileUnavailable(() => store.jobs.end(ended), given.signal);
    if (isEnded) deps.keepRun(runOf(job, { ended, rows, ...outcome }));
  } finally {
    clearInterval(lost);
  }
}

function runOf(
  { id, organizationId, request, createdAtMs, startedAtMs }: SqlJob,
  {
    ended,
    rows,
    chargedQu,
    failure,
  }: JobOutcome & {
    readonly ended: { readonly state: EndedJobState; readonly atMs: number };
    readonly rows: number | null;
  },
): Omit<QueryRun, 'textCut'> {
  const begunAtMs = startedAtMs ?? createdAtMs;
  return {
    id: `qry_${id}`,
    organizationId,
    keyId: request.hold.keyId ?? '',
    startedAtMs: begunAtMs,
    durationMs: Math.max(0, ended.atMs - begunAtMs),
    surface: request.surface,
    tier: request.tier,
    budgetQu: request.maxQu,
    chargedQu,
    rows,
    status: failure?.code ?? ended.state,
    text: request.sql,
  };
}

function holdClaim(
  { store, clock, log, news }: RunnerDeps,
  { leaseMs, renewMs }: Readonly<Record<keyof typeof LIMITS, number>>,
  job: SqlJob,
  stopping: AbortSignal,
): Claim {
  const { id, attempt } = job;
  const abort = new AbortController();
  let reason: StopReason | null = null;
  let progress: JobProgress | undefined;
  let leaseUntil = performance.now() + leaseMs;
  const stop = (why: StopReason): void => {
    reason ??= why;
    abort.abort();
  };
  const onStopping = (): void => stop('stopping');
  stopping.addEventListener('abort', onStopping, { once: true });
  if (stopping.aborted) onStopping();
  const renew = async (resultId?: string): Promise<boolean> => {
    const asked = performance.now();
    const record = await store.jobs.renew({
      id,
      attempt,
      leaseUntilMs: clock.nowMs() + leaseMs,
      ...(progress === undefined ? {} : { progress: JSON.stringify(progress) }),
      ...(resultId === undefined ? {} : { resultId }),
    });
    if (record === null) stop('lost');
    else leaseUntil = asked + leaseMs;
    if (record !== null && record.cancelAtMs !== null && record.resultId === null) stop('cancelled');
    news.emit(id);
    return record !== null;
  };
  const beat = setInterval(() => {
    renew().catch((error: unknown) => {
      log.debug({ err: error, job: id }, 'the lease of a job could not be renewed');
      if (performance.now() > leaseUntil) stop('lost');
    });
  }, renewMs).unref();
  return {
    job,
    signal: abort.signal,
    reason: () => reason,
    report: (known) => {
      progress = { ...known, usedQu: null };
    },
    record: async ({ resultId, usedQu }) => {
      progress = { rowsRead: 0, rowsEstimate: null, seconds: 0, ...progress, usedQu };
      const given = new AbortController();
      const lost = setInterval(() => {
        if (performance.now() > leaseUntil) given.abort();
      }, renewMs).unref();
      try {
        return await whileUnavailable(() => renew(resultId), given.signal);
      } finally {
        clearInterval(lost);
      }
    },
    end: () => {
      clearInterval(beat);
      stopping.removeEventListener('abort', onStopping);
    },
  };
}
