import type { TestApi } from './api.ts';
import { watchText } from './secrets-watch.ts';
import type { SqlReply } from './sql-api.ts';

/** Jobs as their organization sees them. */
export interface JobCalls {
  send(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    body?: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<SqlReply>;
  create(body: object, headers?: Readonly<Record<string, string>>): Promise<SqlReply>;
  get(job: string): Promise<SqlReply>;
  cancel(job: string): Promise<SqlReply>;
  result(id: string, query: Readonly<Record<string, string>>): Promise<SqlReply>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  waitFor(job: string): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  ended(body: object): Promise<any>;
  /** The job once it has succeeded. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  succeeded(body: object): Promise<any>;
}

export function jobsOf(
  api: Pick<TestApi, 'app'>,
  { headers: own }: { readonly headers: Readonly<Record<string, string>> },
): JobCalls {
  const send: JobCalls['send'] = async (method, url, body, headers = {}) => {
    const answer = await api.app.inject({
      method,
      url,
      headers: { ...own, ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    if (answer.statusCode >= 400) watchText('refusals', answer.body);
    const type = String(answer.headers['content-type']);
    return {
      status: answer.statusCode,
      headers: answer.headers as Record<string, string | undefined>, // single-valued in our answers
      bytes: answer.rawPayload,
      text: answer.body,
      body: /json/.test(type) && !/ndjson/.test(type) ? answer.json() : undefined,
    };
  };
  const get = (job: string) => send('GET', `/v0/sql/jobs/${job}`);
  // The stream of events ends with the job.
  const waitFor = async (job: string) => {
    await send('GET', `/v0/sql/jobs/${job}`, undefined, { accept: 'text/event-stream' });
    return (await get(job)).body;
  };
  const create: JobCalls['create'] = (body, headers) => send('POST', '/v0/sql/jobs', body, headers);
  const ended = async (body: object) => {
    const created = await create(body);
    if (created.status !== 202) throw new Error(`a job is answered ${created.status}: ${created.text}`);
    return waitFor(created.body.job);
  };
  return {
    send,
    create,
    get,
    waitFor,
    ended,
    cancel: (job) => send('DELETE', `/v0/sql/jobs/${job}`),
    result: (id, query) => send('GET', `/v0/results/${id}?${new URLSearchParams(query)}`),
    succeeded: async (body) => {
      const job = await ended(body);
      if (job.state !== 'succeeded') throw new Error(`a job ended so: ${JSON.stringify(job)}`);
      return job;
    },
  };
}
