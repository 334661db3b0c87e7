import { randomUUID } from 'node:crypto';
import { type JobCalls, jobsOf } from './jobs.ts';
import type { Customer, SqlApi, SqlReply } from './sql-api.ts';

/** Saved queries as an organization and its callers use them. */
export interface SavedCalls {
  readonly customer: Customer;
  /** The handle of the organization. */
  readonly owner: string;
  readonly jobs: JobCalls;
  send(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    url: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<SqlReply>;
  save(slug: string, body: object): Promise<SqlReply>;
  /** The same; throws unless it was saved. */
  saved(slug: string, body: object): Promise<SqlReply['body']>;
  call(
    slug: string,
    query?: Readonly<Record<string, string>>,
    headers?: Record<string, string>,
  ): Promise<SqlReply>;
}

export async function savedOf(
  sql: SqlApi,
  over: Parameters<SqlApi['customer']>[0] = {},
): Promise<SavedCalls> {
  const customer = await sql.customer(over);
  const { send: sendJob, ...jobs } = jobsOf(sql.api, customer);
  const send: SavedCalls['send'] = (...sent) => sendJob(...sent);
  const owner = `o${randomUUID().replaceAll('-', '').slice(0, 12)}`;
  const claimed = await send('PUT', '/v0/account/handle', { handle: owner });
  if (claimed.status !== 200) throw new Error(`a handle is answered ${claimed.status}: ${claimed.text}`);
  const save: SavedCalls['save'] = (slug, body) => send('PUT', `/v0/queries/${slug}`, body);
  return {
    customer,
    owner,
    jobs: { ...jobs, send: sendJob },
    send,
    save,
    saved: async (slug, body) => {
      const answer = await save(slug, body);
      if (answer.status !== 200) throw new Error(`saving is answered ${answer.status}: ${answer.text}`);
      return answer.body;
    },
    call: (slug, query = {}, headers = {}) =>
      send('GET', `/v0/q/${owner}/${slug}?${new URLSearchParams(query)}`, undefined, headers),
  };
}
