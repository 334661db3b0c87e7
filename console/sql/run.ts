import { ApiProblem, isAbort, noteBalance, refreshAccount } from '../api.ts';
import { announce } from '../components/states.tsx';
import { countText, millisecondsText } from '../format.ts';
import { createStore } from '../store.ts';
import type { SqlJob, SqlResult } from '../wire.ts';
import { remember } from './history.ts';
import { cancelJob, followJob, problemOfJob, readResult, submitJob } from './jobs.ts';
import type { SqlQuestion } from './query-text.ts';
import { randomId } from './tabs.ts';

/** What a tab shows below its editor. */
export type RunState =
  | { readonly phase: 'idle' }
  | {
      readonly phase: 'running';
      readonly startedAtMs: number;
      /** Null until the API has accepted it. */
      readonly job: SqlJob | null;
      readonly isCancelling: boolean;
    }
  /** A kept result is being read, which costs nothing. */
  | { readonly phase: 'reading' }
  | Done
  | { readonly phase: 'failed'; readonly problem: ApiProblem; readonly sql: string }
  | { readonly phase: 'cancelled'; readonly afterMs: number; readonly chargedQu: number | null };

export interface Done {
  readonly phase: 'done';
  readonly result: SqlResult;
  readonly job: SqlJob;
  /** What was asked: the text in the editor may have changed since. */
  readonly sql: string;
}

const IDLE: RunState = { phase: 'idle' };

/** By the id of a tab. Runs go on while another tab, or another page of the console, is shown. */
export const runs = createStore<ReadonlyMap<string, RunState>>(new Map());

interface Current {
  readonly leaving: AbortController;
  wantsCancel: boolean;
  jobId: string | null;
}
const current = new Map<string, Current>();

export function runOf(all: ReadonlyMap<string, RunState>, tabId: string): RunState {
  return all.get(tabId) ?? IDLE;
}

function setRun(tabId: string, state: RunState | null): void {
  const next = new Map(runs.get());
  if (state === null) next.delete(tabId);
  else next.set(tabId, state);
  runs.set(next);
}

export interface RunRequest {
  readonly tabId: string;
  readonly question: SqlQuestion;
  /** Rows that are kept at most. */
  readonly rowsMax: number;
  /** Called with the id of the job, which the tab stores: a page that is loaded again finds the run by it. */
  onJob(jobId: string): void;
}

/** Runs the query of a tab as a job. */
export function startRun({ tabId, question, rowsMax, onJob }: RunRequest): void {
  leaveRun(tabId);
  const mine: Current = { leaving: new AbortController(), wantsCancel: false, jobId: null };
  current.set(tabId, mine);
  const startedAtMs = Date.now();
  setRun(tabId, { phase: 'running', startedAtMs, job: null, isCancelling: false });
  announce('Query started');
  const accepted = async (): Promise<SqlJob> => {
    const job = await submitJob(question, { rowsMax, key: randomId() });
    mine.jobId = job.job;
    onJob(job.job);
    if (mine.wantsCancel) await cancelJob(job.job);
    return job;
  };
  void show(tabId, mine, { startedAtMs, question, accepted });
}

/** Shows a job that was run before, or still runs: its kept result is free. */
export function resumeRun(tabId: string, jobId: string, question: SqlQuestion): void {
  leaveRun(tabId);
  const mine: Current = { leaving: new AbortController(), wantsCancel: false, jobId };
  current.set(tabId, mine);
  setRun(tabId, { phase: 'reading' });
  void show(tabId, mine, { startedAtMs: null, question, accepted: null });
}

interface Shown {
  /** Null for a job of an earlier visit. */
  readonly startedAtMs: number | null;
  readonly question: SqlQuestion;
  readonly accepted: (() => Promise<SqlJob>) | null;
}

async function show(tabId: string, mine: Current, { startedAtMs, question, accepted }: Shown): Promise<void> {
  const { signal } = mine.leaving;
  try {
    if (accepted !== null) await accepted();
    if (mine.jobId === null) throw new Error('a run without a job');
    const job = await followJob(mine.jobId, (now) => showProgress(tabId, mine, now, startedAtMs), signal);
    const state = await endOf(job, question, signal);
    if (current.get(tabId) !== mine) return;
    setRun(tabId, state);
    settle(state, job, question, startedAtMs !== null);
  } catch (error) {
    if (isAbort(error) || current.get(tabId) !== mine) return;
    if (!(error instanceof ApiProblem)) throw error;
    const { balance } = error.body.usage ?? {};
    if (balance != null) noteBalance(balance);
    setRun(tabId, { phase: 'failed', problem: gone(error), sql: question.sql });
    if (startedAtMs !== null) remember(failedEntry(question, startedAtMs, error));
  } finally {
    if (current.get(tabId) === mine) current.delete(tabId);
  }
}

/** A job of the history may be older than what the API keeps. */
function gone(error: ApiProblem): ApiProblem {
  if (error.body.code !== 'job_not_found') return error;
  return new ApiProblem(
    {
      ...error.body,
      title: 'The result is no longer kept',
      detail: 'Results are kept for seven days, for the key that ran them. Run the query again.',
    },
    null,
  );
}

function showProgress(tabId: string, mine: Current, job: SqlJob, startedAtMs: number | null): void {
  if (current.get(tabId) !== mine || !(job.state === 'queued' || job.state === 'running')) return;
  setRun(tabId, {
    phase: 'running',
    startedAtMs: startedAtMs ?? Date.parse(job.created_at),
    job,
    isCancelling: job.cancel_requested || mine.wantsCancel,
  });
}

async function endOf(job: SqlJob, { sql }: SqlQuestion, signal: AbortSignal): Promise<RunState> {
  if (job.state === 'cancelled')
    return {
      phase: 'cancelled',
      afterMs: (job.progress?.seconds ?? 0) * 1_000,
      chargedQu: job.usage.units_charged,
    };
  if (job.state !== 'succeeded' || job.result === null)
    return { phase: 'failed', problem: problemOfJob(job), sql };
  return { phase: 'done', result: await readResult(job.result.id, { signal }), job, sql };
}

/** Updates the balance and the history, and announces the outcome. */
function settle(state: RunState, job: SqlJob, question: SqlQuestion, isOwn: boolean): void {
  const { units_charged: chargedQu, balance } = job.usage;
  if (isOwn && balance !== null) noteBalance(balance);
  const entry = {
    ...question,
    at: `${job.created_at.slice(0, 19)}Z`,
    ms: (job.progress?.seconds ?? 0) * 1_000,
    chargedQu,
    job: job.job,
  };
  switch (state.phase) {
    case 'cancelled':
      announce(`Cancelled after ${millisecondsText(state.afterMs)}`);
      remember({ ...entry, failed: 'cancelled', rows: 0 });
      // The job does not always know the balance after a cancellation.
      void refreshAccount();
      return;
    case 'failed':
      remember({ ...entry, failed: state.problem.body.code, rows: 0 });
      return;
    case 'done': {
      const { row_count: rows, duration_ms: ms } = state.result;
      const kept = job.result?.row_count ?? rows;
      const charge = isOwn ? `, ${chargedQu ?? 0} Query Units charged` : '';
      announce(`${countText(kept)} rows in ${millisecondsText(ms)}${charge}`);
      remember({ ...entry, ms, failed: null, rows: kept });
      return;
    }
    default:
  }
}

function failedEntry(question: SqlQuestion, startedAtMs: number, { body }: ApiProblem) {
  return {
    ...question,
    at: `${new Date(startedAtMs).toISOString().slice(0, 19)}Z`,
    ms: Date.now() - startedAtMs,
    failed: body.code,
    rows: 0,
    chargedQu: body.usage?.units_charged ?? 0,
  };
}

/** The engine stops within seconds; what was used until then is charged. */
export function cancelRun(tabId: string): void {
  const mine = current.get(tabId);
  const state = runs.get().get(tabId);
  if (mine === undefined || state?.phase !== 'running') return;
  mine.wantsCancel = true;
  setRun(tabId, { ...state, isCancelling: true });
  if (mine.jobId === null) return;
  cancelJob(mine.jobId).catch((error: unknown) => {
    if (!(error instanceof ApiProblem)) throw error;
    mine.wantsCancel = false;
    announce(`The query could not be cancelled: ${error.body.detail}`);
  });
}

/** Forgets the run of a tab, which ends no job. */
export function leaveRun(tabId: string): void {
  current.get(tabId)?.leaving.abort();
  current.delete(tabId);
  setRun(tabId, null);
}

/** Reads the next rows of the kept result, behind those that are shown. */
export async function readMore(tabId: string): Promise<void> {
  const state = runs.get().get(tabId);
  if (state?.phase !== 'done' || state.job.result === null) return;
  const { result, job } = state;
  const page = await readResult(state.job.result.id, { offset: result.rows.length });
  if (runs.get().get(tabId) !== state) return;
  const rows = [...result.rows, ...page.rows];
  setRun(tabId, {
    ...state,
    job,
    result: { ...result, rows, row_count: rows.length, next_offset: page.next_offset ?? null },
  });
}
