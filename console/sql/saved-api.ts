import { callApi, readJson, segment } from '../api.ts';

/** Saved queries of the API: `/v0/queries` and `/v0/q`. */

export const VISIBILITIES = ['private', 'unlisted', 'public'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

export interface SavedParameter {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly required: boolean;
  readonly default: string | null;
  readonly example: string | null;
}

/** What the console uses of it. */
export interface SavedQuery {
  readonly owner: string;
  readonly slug: string;
  readonly version: number;
  readonly latest_version: number;
  readonly title: string;
  readonly description: string;
  readonly sql: string | null;
  readonly parameters: readonly SavedParameter[];
  readonly tier: string;
  readonly visibility: Visibility;
  readonly url: string;
  readonly price_qu: number;
  readonly refresh_seconds: number | null;
  readonly next_refresh_at: string | null;
  readonly updated_at: string;
}

export interface SavedQueryList {
  /** The handle of the organization; null before it has one. */
  readonly owner: string | null;
  readonly queries: readonly SavedQuery[];
  readonly next_after: string | null;
}

export interface SavedVersion {
  readonly version: number;
  readonly title: string;
  readonly created_at: string;
}

export interface QueryRefresh {
  readonly at: string;
  readonly state: 'succeeded' | 'failed';
  readonly version: number;
  readonly units: number;
  readonly detail: string | null;
}

/** The body of a PUT. A parameter without a default must be sent with every call; its example is what the query is judged with. */
export interface SaveRequest {
  readonly sql: string;
  readonly title: string;
  readonly description: string;
  readonly tier: string;
  readonly visibility: Visibility;
  readonly max_rows: number;
  readonly refresh_seconds?: number;
  readonly price_qu: number;
  readonly parameters: Readonly<
    Record<string, { readonly description: string; readonly default?: string; readonly example?: string }>
  >;
}

export const SAVED_PATH = '/queries';

export async function saveQuery(
  slug: string,
  body: SaveRequest,
): Promise<{
  readonly outcome: 'created' | 'new_version' | 'changed' | 'unchanged';
  readonly query: SavedQuery;
}> {
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
    .replace(/^-+|-+$/g, '')
    .slice(0, SLUG_MAX_CHARS)
    .replace(/-+$/, '');
}

const SLUG_MAX_CHARS = 64;
