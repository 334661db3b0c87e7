import { Call } from './call.ts';
import { type CallOptions, type Connection, pause, send } from './send.ts';
import { type SqlOptions, sqlFields } from './sql.ts';
import { SqlFile, type SqlFileFormat } from './sql-results.ts';
import type { SqlJob } from './wire.ts';

/** Jobs: queries that outlive their connection, and their kept results. Guide: docs/jobs.md. */

export interface SqlJobOptions extends Omit<SqlOptions, 'numbers'> {
  /** Accepts a kept result of the same query that is at most so many seconds old. */
  readonly maxAge?: number | undefined;
}

export interface JobWaitOptions extends CallOptions {
  /** Called with the job whenever it is looked at. */
  readonly onProgress?: ((job: SqlJob) => void) | undefined;
}

export interface JobMethods {
  /**
   * Queues one SELECT and answers with its job at once. The units of `maxQu` are held, and those used are charged once, at its end. With an
   * `idempotencyKey`, the same request is the same job.
   */
  startJob(text: string, options?: SqlJobOptions): Call<SqlJob>;
  /** Resolves with the job once it has ended, in whatever state. It is looked at every second; aborting leaves the job alone. */
  jobEnded(job: string, options?: JobWaitOptions): Promise<SqlJob>;
  /** A queued job ends at once; a running one is stopped within seconds, and you pay for its use until then. */
  cancelJob(job: string, options?: CallOptions): Call<SqlJob>;
  /** The whole kept result as bytes, as often as wanted. `getResult` has it in pages of JSON. */
  resultFile(
    result: string,
    options: CallOptions & { readonly format: SqlFileFormat; readonly numbers?: SqlOptions['numbers'] },
  ): Promise<SqlFile>;
}

const LOOK_EVERY_SECONDS = 1;
const UNFINISHED: ReadonlySet<string> = new Set(['queued', 'running']);

export function createJobMethods(connection: Connection): JobMethods {
  const ask = (method: 'GET' | 'DELETE', path: string, options: CallOptions) =>
    new Call<SqlJob>(() =>
      send(connection, { method, path, accept: 'application/json', reads: 'json', options }),
    );
  const pathOf = (job: string): string => `/sql/jobs/${encodeURIComponent(job)}`;
  return {
    startJob: (text, options = {}) =>
      new Call(() =>
        send(connection, {
          method: 'POST',
          path: '/sql/jobs',
          body: JSON.stringify({ ...sqlFields(text, options), max_age: options.maxAge }),
          accept: 'application/json',
          reads: 'json',
          idempotencyKey: options.idempotencyKey,
          options,
        }),
      ),
    jobEnded: async (id, options = {}) => {
      for (;;) {
        const job = await ask('GET', pathOf(id), options);
        options.onProgress?.(job);
        if (!UNFINISHED.has(job.state)) return job;
        await pause(LOOK_EVERY_SECONDS, options.signal);
      }
    },
    cancelJob: (job, options = {}) => ask('DELETE', pathOf(job), options),
    resultFile: async (result, { format, numbers, ...options }) => {
      const query = new URLSearchParams({ format, ...(numbers === undefined ? {} : { numbers }) });
      const path = `/results/${encodeURIComponent(result)}?${query}`;
      const sent = await send(connection, { method: 'GET', path, accept: '*/*', reads: 'nothing', options });
      return new SqlFile(sent, options.signal);
    },
  };
}
