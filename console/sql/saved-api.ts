import { callApi, readJson, segment } from '../api.ts';
import type { SavedQuery, SaveQueryAnswer, SaveQueryRequest } from '../wire.ts';

/** Saved queries of the API: `/v0/queries`. */

export const SAVED_PATH = '/queries';

/** The whole address of a saved query: a service without a configured address gives the path alone. */
export function addressOf({ url }: Pick<SavedQuery, 'url'>): string {
  return new URL(url, location.origin).href;
}

/** Saves a query, or its next version. What the body leaves out gets its default, also where an earlier version had another value. */
export async function saveQuery(slug: string, body: SaveQueryRequest): Promise<SaveQueryAnswer> {
  return readJson(await callApi(`${SAVED_PATH}/${segment(slug)}`, { method: 'PUT', body }));
}

export async function deleteQuery(slug: string): Promise<void> {
  await callApi(`${SAVED_PATH}/${segment(slug)}`, { method: 'DELETE' });
}

export async function readSaved(slug: string, version?: number): Promise<SavedQuery> {
  const response = await callApi(`${SAVED_PATH}/${segment(slug)}`, { query: { version } });
  return (await readJson<{ readonly query: SavedQuery }>(response)).query;
}

/** The name of the organization in the addresses of its queries. It stays for good. */
export async function claimHandle(handle: string): Promise<void> {
  await callApi('/account/handle', { method: 'PUT', body: { handle } });
}

/** A slug made of a title: `Top payees!` → `top-payees`. */
export function slugOf(title: string): string {
  return title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, SLUG_MAX_CHARS)
    .replace(/-$/, '');
}

const SLUG_MAX_CHARS = 64;
