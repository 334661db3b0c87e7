import { ApiProblem, isAbort, isLentKey, noteBalance, refreshAccount } from '../api.ts';
import { announce } from '../components/states.tsx';
import { countText, millisecondsText } from '../format.ts';
import { createStore } from '../store.ts';
import type { SqlJob, SqlProgress, SqlResult } from '../wire.ts';
import { type HistoryEntry, remember } from './history.ts';
import {
  askDirectly,
  cancelJob,
  cancelQuery,
  followJob,
  followQuery,
  problemOfJob,
  readResult,
  submitJob,
} from './jobs.ts';
import type { SqlQuestion } from './query-text.ts';
import { randomId } from './tabs.ts';

/** What a tab shows below its editor. */
export type RunState =
  | { readonly phase: 'idle' }
  | {
      readonly phase: 'running';
      readonly startedAtMs: number;
      /** Null until the API has accepted it, and of a query that is answered directly. */
      readonly job: SqlJob | null;
      /** Null until it is known. */
      readonly progress: SqlProgress | null;
      readonly isCancelling: boolean;
    }
  /** A kept result is being read, which costs nothing. */
  | { readonly phase: 'reading' }
  | Done
  | { readonly phase: 'failed'; readonly problem: ApiProblem; readonly sql: string }
  | { readonly phase: 'cancelled'; readonly afterMs: number; readonly chargedQu: number | null };

export interface Done {
  readonly phase: 'done';
  /** Another one for each run. */
  readonly runId: string;
  readonly result: SqlResult;
  /** Where all rows are kept; null for a query that was answered directly. */
  readonly kept: SqlJob['result'];
  readonly chargedQu: number;
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
  /** Of one that is no job. */
  queryId: string | null;
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
  /** Called with the id of the job, which the tab stores: a page that is loaded again finds the run by it. Null: it is no job. */
  onJob(jobId: string | null): void;
}

/** How a run ended, for the page and for the history. */
interface Ended {
  readonly state: Done | Extract<RunState, { phase: 'failed' | 'cancelled' }>;
  readonly entry: Omit<HistoryEntry, 'failed' | 'rows'>;
  /** What the organization had left when it was charged; null where the answer does not say. */
  readonly balance: number | null;
}

/** Runs the query of a tab: as a job, or directly with the key that all visitors share, which has no jobs. */
export function startRun(request: RunRequest): void {
  const { tabId, question } = request;
  const mine = enter(tabId, null);
  const startedAtMs = Date.now();
  setRun(tabId, { phase: 'running', startedAtMs, job: null, progress: null, isCancelling: false });
  announce('Query started');
  const run = isLentKey() ? runDirectly : runAsJob;
  void show(mine, { tabId, question, startedAtMs, ending: run(mine, request, startedAtMs) });
}

/** Shows a job that was run before, or still runs: its kept result is free. */
export function resumeRun(tabId: string, jobId: string, question: SqlQuestion): void {
  const mine = enter(tabId, jobId);
  setRun(tabId, { phase: 'reading' });
  void show(mine, {
    ...{ tabId, question, startedAtMs: null },
    ending: endOfJob(mine, { tabId, jobId, question, startedAtMs: null }),
  });
}

function enter(tabId: string, jobId: string | null): Current {
  leaveRun(tabId);
  const mine: Current = { leaving: new AbortController(), wantsCancel: false, jobId, queryId: null };
  current.set(tabId, mine);
  return mine;
}

async function runAsJob(
  mine: Current,
  { tabId, question, rowsMax, onJob }: RunRequest,
  startedAtMs: number,
): Promise<Ended> {
  const { job: jobId } = await submitJob(question, { rowsMax, key: randomId() });
  mine.jobId = jobId;
  onJob(jobId);
  if (mine.wantsCancel) await cancelJob(jobId);
  return endOfJob(mine, { tabId, jobId, question, startedAtMs });
}

/** Until it ends it is not known what it used. */
async function runDirectly(
  mine: Current,
  { tabId, question, rowsMax, onJob }: RunRequest,
  startedAtMs: number,
): Promise<Ended> {
  const id = randomId();
  mine.queryId = id;
  onJob(null);
  const looks = new AbortController();
  const onProgress = (progress: SqlProgress): void =>
    showProgress(tabId, mine, { startedAtMs, job: null, progress });
  followQuery(id, onProgress, looks.signal).catch(asNotFollowed);
  const entry = { ...question, at: secondText(startedAtMs) };
  try {
    const result = await askDirectly(question, { rowsMax, id, signal: mine.leaving.signal });
    const { units_charged: chargedQu, balance } = result.usage;
    const state: Done = {
      ...{ phase: 'done', runId: randomId(), result, kept: null, chargedQu },
      sql: question.sql,
    };
    return { state, entry: { ...entry, ms: result.duration_ms, chargedQu }, balance };
  } catch (error) {
    const charge = chargeOfCancelled(error, mine);
    if (charge === null) throw error;
    const { chargedQu, balance } = charge;
    const afterMs = Date.now() - startedAtMs;
    const state = { phase: 'cancelled', afterMs, chargedQu } as const;
    return { state, entry: { ...entry, ms: afterMs, chargedQu }, balance };
  } finally {
    looks.abort();
  }
}

/** Null for any other failure. A closed connection does not say what was charged. */
function chargeOfCancelled(
  error: unknown,
  { wantsCancel }: Current,
): { readonly chargedQu: number | null; readonly balance: number | null } | null {
  if (isAbort(error) && wantsCancel) return { chargedQu: null, balance: null };
  if (!(error instanceof ApiProblem) || error.body.reason !== 'cancelled') return null;
  const { units_charged: chargedQu = 0, balance = null } = error.body.usage ?? {};
  return { chargedQu, balance };
}

/** Its progress is then not shown; the run itself says how it ends. */
function asNotFollowed(error: unknown): void {
  if (!isAbort(error) && !(error instanceof ApiProblem)) throw error;
}

interface Shown {
  readonly tabId: string;
  readonly question: SqlQuestion;
  /** Null for a job of an earlier visit. */
  readonly startedAtMs: number | null;
}

async function show(
  mine: Current,
  { tabId, question, startedAtMs, ending }: Shown & { readonly ending: Promise<Ended> },
): Promise<void> {
  try {
    const ended = await ending;
    if (current.get(tabId) !== mine) return;
    setRun(tabId, ended.state);
    settle(ended, startedAtMs !== null);
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

function showProgress(
  tabId: string,
  mine: Current,
  known: Pick<Extract<RunState, { phase: 'running' }>, 'startedAtMs' | 'job' | 'progress'>,
): void {
  if (current.get(tabId) !== mine) return;
  const isCancelling = known.job?.cancel_requested === true || mine.wantsCancel;
  setRun(tabId, { phase: 'running', ...known, isCancelling });
}

/** Follows a job until it has ended. */
async function endOfJob(
  mine: Current,
  { tabId, jobId, question, startedAtMs }: Shown & { readonly jobId: string },
): Promise<Ended> {
  const { signal } = mine.leaving;
  const onChange = (now: SqlJob): void => {
    if (now.state !== 'queued' && now.state !== 'running') return;
    const since = startedAtMs ?? Date.parse(now.created_at);
    showProgress(tabId, mine, { startedAtMs: since, job: now, progress: now.progress });
  };
  const job = await followJob(jobId, onChange, signal);
  const { units_charged: chargedQu, balance } = job.usage;
  const ms = (job.progress?.seconds ?? 0) * 1_000;
  const entry = { ...question, at: `${job.created_at.slice(0, 19)}Z`, ms, chargedQu, job: jobId };
  return { state: await stateOf(job, question, signal), entry, balance };
}

async function stateOf(job: SqlJob, { sql }: SqlQuestion, signal: AbortSignal): Promise<Ended['state']> {
  const { units_charged: chargedQu } = job.usage;
  if (job.state === 'cancelled')
    return { phase: 'cancelled', afterMs: (job.progress?.seconds ?? 0) * 1_000, chargedQu };
  if (job.state !== 'succeeded' || job.result === null)
    return { phase: 'failed', problem: problemOfJob(job), sql };
  const result = await readResult(job.result.id, { signal });
  return { phase: 'done', runId: job.job, result, kept: job.result, chargedQu: chargedQu ?? 0, sql };
}

/** Updates the balance and the history, and announces the outcome. */
function settle({ state, entry, balance }: Ended, isOwn: boolean): void {
  if (isOwn && balance !== null) noteBalance(balance);
  switch (state.phase) {
    case 'cancelled':
      announce(`Cancelled after ${millisecondsText(state.afterMs)}`);
      remember({ ...entry, failed: 'cancelled', rows: 0 });
      // The balance after a cancellation is not always known.
      void refreshAccount();
      return;
    case 'failed':
      remember({ ...entry, failed: state.problem.body.code, rows: 0 });
      return;
    case 'done': {
      const { row_count: shown, duration_ms: ms } = state.result;
      const rows = state.kept?.row_count ?? shown;
      const charge = isOwn ? `, ${state.chargedQu} Query Units charged` : '';
      announce(`${countText(rows)} rows in ${millisecondsText(ms)}${charge}`);
      remember({ ...entry, ms, failed: null, rows });
      return;
    }
  }
}

function secondText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function failedEntry(question: SqlQuestion, startedAtMs: number, { body }: ApiProblem) {
  return {
    ...question,
    at: secondText(startedAtMs),
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
  if (mine.queryId !== null) void cancelDirect(mine, mine.queryId);
  if (mine.jobId === null) return;
  cancelJob(mine.jobId).catch((error: unknown) => {
    if (!(error instanceof ApiProblem)) throw error;
    mine.wantsCancel = false;
    announce(`The query could not be cancelled: ${error.body.detail}`);
  });
}

/** Where the service does not stop it, the closed connection does. */
async function cancelDirect({ leaving }: Current, queryId: string): Promise<void> {
  const isStopped = await cancelQuery(queryId).catch((error: unknown) => {
    if (error instanceof ApiProblem) return false;
    throw error;
  });
  if (!isStopped) leaving.abort();
}

/** Forgets the run of a tab. A job goes on. */
export function leaveRun(tabId: string): void {
  current.get(tabId)?.leaving.abort();
  current.delete(tabId);
  setRun(tabId, null);
}

/** Reads the next rows of the kept result, behind those that are shown. */
export async function readMore(tabId: string): Promise<void> {
  const state = runs.get().get(tabId);
  if (state?.phase !== 'done' || state.kept === null) return;
  const { result, kept } = state;
  const page = await readResult(kept.id, { offset: result.rows.length });
  if (runs.get().get(tabId) !== state) return;
  const rows = [...result.rows, ...page.rows];
  setRun(tabId, {
    ...state,
    result: { ...result, rows, row_count: rows.length, next_offset: page.next_offset ?? null },
  });
}
