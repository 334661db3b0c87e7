import { ApiProblem, callApi, change, getJson, isAbort, readJson, segment } from '../api.ts';
import type { RunningQuery, SqlJob, SqlProgress, SqlResult } from '../wire.ts';
import type { SqlQuestion } from './query-text.ts';

/** The two doors of the API: a job outlives its page, and its result is kept and read again without a charge; `/sql` answers at once. Source: docs/jobs.md. */

/** The signal ends the wait for the answer, never a job. */
export async function submitJob(
  { sql, tier, params }: SqlQuestion,
  { rowsMax, key }: { readonly rowsMax: number; readonly key: string },
): Promise<SqlJob> {
  const response = await callApi('/sql/jobs', {
    method: 'POST',
    body: { sql, tier, params, max_rows: rowsMax },
    // A request that is sent again, because its answer was lost, is the same job.
    headers: { 'idempotency-key': key },
  });
  return readJson<SqlJob>(response);
}

export async function cancelJob(id: string): Promise<SqlJob> {
  return readJson<SqlJob>(await callApi(`/sql/jobs/${segment(id)}`, { method: 'DELETE' }));
}

const ENDED: ReadonlySet<SqlJob['state']> = new Set(['succeeded', 'failed', 'cancelled', 'expired']);
/** After a connection that broke: the job goes on in the service. */
const AGAIN_MS = 2_000;

/** Reports every change of a job until it has ended. Rejects with an `ApiProblem` or the abort. */
export async function followJob(
  id: string,
  onChange: (job: SqlJob) => void,
  signal: AbortSignal,
): Promise<SqlJob> {
  for (;;) {
    const last = await readEvents(id, onChange, signal).catch((error: unknown) => {
      if (error instanceof ApiProblem && error.body.code === 'unreachable') return null;
      throw error;
    });
    if (last !== null && ENDED.has(last.state)) return last;
    await pause(AGAIN_MS, signal);
  }
}

/** The last job that one connection named; null where it named none. */
async function readEvents(
  id: string,
  onChange: (job: SqlJob) => void,
  signal: AbortSignal,
): Promise<SqlJob | null> {
  const response = await callApi(`/sql/jobs/${segment(id)}`, {
    headers: { accept: 'text/event-stream' },
    signal,
  });
  if (response.body === null) return null;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  let last: SqlJob | null = null;
  for (;;) {
    const { done, value } = await reader.read().catch(asEnded);
    text += value ?? '';
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data === undefined) continue;
      last = JSON.parse(data) as SqlJob; // the API serves its declared shape
      onChange(last);
    }
    if (done) return last;
  }
}

/** A connection that breaks is one that ended early. */
function asEnded(error: unknown): { readonly done: true; readonly value: undefined } {
  if (isAbort(error)) throw error;
  return { done: true, value: undefined };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason instanceof Error ? signal.reason : new DOMException('left', 'AbortError'));
    });
  });
}

/** Rows of one JSON answer of the API. */
export const PAGE_ROWS_MAX = 10_000;

/** Rows of a kept result, free of charge. */
export async function readResult(
  id: string,
  { offset = 0, signal }: { readonly offset?: number; readonly signal?: AbortSignal } = {},
): Promise<SqlResult> {
  const response = await callApi(`/results/${segment(id)}`, {
    query: { format: 'json_compact', limit: PAGE_ROWS_MAX, offset },
    ...(signal === undefined ? {} : { signal }),
  });
  return readJson<SqlResult>(response);
}

/** Runs the query while its caller waits: nothing is kept, and the abort stops it. `id`: by which it is followed and cancelled. */
export async function askDirectly(
  { sql, tier, params }: SqlQuestion,
  { rowsMax, id, signal }: { readonly rowsMax: number; readonly id: string; readonly signal: AbortSignal },
): Promise<SqlResult> {
  const body = { sql, tier, params, format: 'json_compact', max_rows: Math.min(rowsMax, PAGE_ROWS_MAX) };
  const headers = { 'x-request-id': id };
  return readJson<SqlResult>(await callApi('/sql', { method: 'POST', body, headers, signal }));
}

const LOOK_MS = 1_000;

/** Reports how far a query is that is answered directly. Rejects with the abort, or with an `ApiProblem`: then it is not followed any more. */
export async function followQuery(
  id: string,
  onProgress: (progress: SqlProgress) => void,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    await pause(LOOK_MS, signal);
    const { progress } = await getJson<RunningQuery>(`/sql/running/${segment(id)}`, { signal });
    if (progress !== null) onProgress(progress);
  }
}

/** Whether it ran: its own call then says what it cost. One that waits for its turn ends with its connection. */
export async function cancelQuery(id: string): Promise<boolean> {
  const { progress } = await change<RunningQuery>('DELETE', `/sql/running/${segment(id)}`);
  return progress !== null;
}

/** Why a job has no result, as the problem that a call would have answered with. */
export function problemOfJob({ state, failure, usage }: SqlJob): ApiProblem {
  if (failure === null)
    return new ApiProblem(
      {
        title: state === 'expired' ? 'The query waited too long' : 'The result is no longer kept',
        status: 410,
        code: 'result_not_found',
        detail:
          state === 'expired'
            ? 'It waited for an hour for its turn and was never run. It cost nothing. Run it again.'
            : 'Results are kept for seven days, and up to the limits of the plan. Run the query again.',
      },
      null,
    );
  const { code, detail } = failure;
  return new ApiProblem(
    {
      title: 'The query failed',
      status: 400,
      ...failure,
      code: code as ApiProblem['body']['code'], // the job has the code of the problem
      detail,
      usage: { units_charged: usage.units_charged ?? 0, balance: usage.balance },
    } as ApiProblem['body'],
    null,
  );
}
