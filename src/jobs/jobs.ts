import { EventEmitter } from 'node:events';
import type { Clock } from '../../core/clock.ts';
import type { Surface } from '../../core/domain/caller.ts';
import type { Hold } from '../../core/domain/hold.ts';
import { hasEnded, type JobState, PLAN_STORAGE } from '../../core/domain/job.ts';
import type { PlanId, SqlTierId } from '../../core/domain/plan.ts';
import { type ErrorCode, fail, type QueryTrouble } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { JobRecord } from '../accounts/job-store.ts';
import type { ControlStore } from '../accounts/store.ts';
import { askStore } from '../accounts/store-failure.ts';
import { releaseHold } from './job-charge.ts';

/** Jobs as operations see them: asked for, looked up, cancelled and waited for. Who runs them: runner.ts. */
export interface Jobs {
  /** Queues a job. The same id again gives the job that is there (`isNew` false). Rejects with `rate_limited` above the plan's number. */
  submit(job: NewSqlJob): Promise<{ readonly job: SqlJob; readonly isNew: boolean }>;
  /** Whether the plan has room for another job now. */
  hasRoom(asker: Pick<NewSqlJob, 'organizationId' | 'plan'>): Promise<boolean>;
  /** Null for a job of another organization. */
  find(job: JobName): Promise<SqlJob | null>;
  /** Newest first. */
  list(page: {
    readonly organizationId: string;
    /** Only those that this key asked for; null for all. */
    readonly keyId: string | null;
    readonly offset: number;
    readonly limit: number;
  }): Promise<readonly SqlJob[]>;
  /** Ends a queued job at once; a running one is stopped by its worker. The job as it is then; null as in `find`. */
  cancel(job: JobName): Promise<SqlJob | null>;
  /** The job once it has ended, or as it is after `withinMs`, or when the signal aborts. */
  untilEnded(job: SqlJob, withinMs: number, signal?: AbortSignal): Promise<SqlJob>;
  /** The same for any change of it. */
  untilChanged(job: SqlJob, withinMs: number, signal?: AbortSignal): Promise<SqlJob>;
}

export interface JobName {
  readonly id: string;
  readonly organizationId: string;
}

export interface NewSqlJob extends JobName {
  readonly plan: PlanId;
  readonly request: JobRequest;
}

/** The call to run, and the hold or payment behind it. */
export interface JobRequest {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly tier: SqlTierId;
  readonly maxQu: number;
  readonly seconds: number;
  readonly maxRows: number;
  /** The caller named no number of rows: a result with more fails. Absent of jobs that a release before this one queued. */
  readonly mustBeWhole?: boolean;
  /** How old a kept result may be that is taken instead; null for none. */
  readonly maxAgeSeconds: number | null;
  /** The snapshot that it is asked of, as it is printed; absent: the newest data. */
  readonly asOf?: string;
  readonly plan: PlanId;
  readonly callerName: string;
  readonly surface: Surface;
  readonly hold: Hold;
}

export interface JobProgress {
  readonly rowsRead: number;
  /** Null where it is not known. */
  readonly rowsEstimate: number | null;
  readonly seconds: number;
  /** Absent of a job of a release before this one. */
  readonly memoryBytes?: number;
  /** What its end will charge; known with its result. */
  readonly usedQu: number | null;
}

export interface JobFailure extends Omit<QueryTrouble, 'meant'> {
  readonly code: ErrorCode;
  readonly detail: string;
}

export interface JobOutcome {
  readonly chargedQu: number;
  readonly balance: number | null;
  readonly failure: JobFailure | null;
}

export interface SqlJob extends JobName {
  readonly state: JobState;
  readonly request: JobRequest;
  readonly attempt: number;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly isCancelled: boolean;
  readonly progress: JobProgress | null;
  readonly resultId: string | null;
  readonly outcome: JobOutcome | null;
}

/** The texts of the record are ours. */
export function jobOf(record: JobRecord): SqlJob {
  const { id, organizationId, state, attempt, createdAtMs, startedAtMs, endedAtMs, resultId } = record;
  return {
    id,
    organizationId,
    state,
    attempt,
    createdAtMs,
    startedAtMs,
    endedAtMs,
    resultId,
    isCancelled: record.cancelAtMs !== null,
    request: JSON.parse(record.request) as JobRequest,
    progress: record.progress === null ? null : (JSON.parse(record.progress) as JobProgress),
    outcome: record.outcome === null ? null : (JSON.parse(record.outcome) as JobOutcome),
  };
}

/** Called by this process's runner, so that its own callers need not wait for the next look. */
export type JobNews = EventEmitter<Record<string, []>>;

export interface JobsDeps {
  readonly store: Pick<ControlStore, 'jobs' | 'units'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly news: JobNews;
  /** Announces a job that was queued. */
  readonly onQueued: () => void;
}

/** Between two looks at a job that another process may run. */
const LOOK_MS = 500;
const TOO_MANY_RETRY_SECONDS = 30;

export function createJobNews(): JobNews {
  const news: JobNews = new EventEmitter();
  news.setMaxListeners(0);
  return news;
}

export function createJobs(deps: JobsDeps): Jobs {
  const { store, clock } = deps;
  const find = async (name: JobName): Promise<SqlJob | null> => {
    const record = await askStore(store.jobs.find(name));
    return record === null ? null : jobOf(record);
  };
  const until = async (
    job: SqlJob,
    isOver: (now: SqlJob) => boolean,
    { withinMs, signal }: { readonly withinMs: number; readonly signal: AbortSignal | undefined },
  ): Promise<SqlJob> => {
    const end = performance.now() + withinMs;
    let now = job;
    while (!isOver(now)) {
      const leftMs = end - performance.now();
      if (leftMs <= 0 || signal?.aborted === true) return now;
      await nextNews(deps.news, job.id, Math.min(LOOK_MS, leftMs), signal);
      now = (await find(job)) ?? now;
    }
    return now;
  };
  return {
    submit: (job) => submit(deps, job),
    hasRoom: async ({ organizationId, plan }) =>
      (await askStore(store.jobs.unfinished(organizationId))) < PLAN_STORAGE[plan].unfinishedJobs,
    find,
    list: async (page) => (await askStore(store.jobs.list(page))).map(jobOf),
    cancel: (name) => cancel(deps, name, find),
    untilEnded: (job, withinMs, signal) => until(job, ({ state }) => hasEnded(state), { withinMs, signal }),
    untilChanged: (job, withinMs, signal) => {
      const before = JSON.stringify(job);
      return until(job, (now) => hasEnded(now.state) || JSON.stringify(now) !== before, { withinMs, signal });
    },
  };

  async function submit({ onQueued }: JobsDeps, job: NewSqlJob) {
    const { id, organizationId, plan, request } = job;
    const { unfinishedJobs } = PLAN_STORAGE[plan];
    const keyId = request.hold.keyId ?? null;
    const record = {
      id,
      organizationId,
      keyId,
      request: JSON.stringify(request),
      createdAtMs: clock.nowMs(),
    };
    const outcome = await askStore(store.jobs.add({ ...record, unfinishedMax: unfinishedJobs }));
    if (outcome === 'too_many')
      throw fail('rate_limited', {
        detail: `The organization has ${unfinishedJobs} jobs that have not ended, as many as its plan ${plan} allows. Nothing was charged.`,
        retryAfterSeconds: TOO_MANY_RETRY_SECONDS,
      });
    onQueued();
    const added = await find({ id, organizationId });
    if (added === null) throw new Error('a job that was added cannot be read');
    return { job: added, isNew: outcome === 'added' };
  }
}

async function cancel(
  { store, clock, log, news }: JobsDeps,
  name: JobName,
  find: (name: JobName) => Promise<SqlJob | null>,
): Promise<SqlJob | null> {
  const atMs = clock.nowMs();
  const outcome: JobOutcome = { chargedQu: 0, balance: null, failure: null };
  const ended = await askStore(store.jobs.cancel({ ...name, outcome: JSON.stringify(outcome), atMs }));
  const job = await find(name);
  if (ended === 'cancelled' && job !== null)
    await releaseHold(
      { units: store.units, clock, log },
      job.request.hold,
      'the job was cancelled before it ran',
    );
  news.emit(name.id);
  return job;
}

/**
 * Resolves with the next news of the job, when the time is over, or when the signal aborts. A timer of its own: Node 20 forgets an
 * `AbortSignal.timeout` that only `AbortSignal.any` refers to, and its waiter never hears of it.
 */
function nextNews(news: JobNews, id: string, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      clearTimeout(timer);
      news.off(id, over);
      signal?.removeEventListener('abort', over);
      resolve();
    };
    const timer = setTimeout(over, Math.max(1, ms));
    news.on(id, over);
    signal?.addEventListener('abort', over, { once: true });
  });
}
