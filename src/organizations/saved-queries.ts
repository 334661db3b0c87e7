import type { Clock } from '../../core/clock.ts';
import { QUERY_VERSIONS_MAX, SAVED_QUERIES_MAX, skeletonOf } from '../../core/domain/saved-query.ts';
import { fail } from '../../core/errors.ts';
import type { SavedQueryRecord } from '../accounts/saved-query-store.ts';
import type { ControlStore } from '../accounts/store.ts';
import { askStore } from '../accounts/store-failure.ts';
import {
  type ListedQuery,
  listingOf,
  type SavedContent,
  type SavedQuery,
  type SavedSettings,
} from '../operations/saved/definition.ts';
import type { RefreshRun, SavedQueries } from '../operations/saved/saved-queries.ts';

/** Saved queries, answered from a control store. */

export function createSavedQueries({
  store: { saved, refreshes },
  clock,
}: {
  readonly store: Pick<ControlStore, 'saved' | 'refreshes'>;
  readonly clock: Clock;
}): SavedQueries {
  const ownerOf: SavedQueries['ownerOf'] = async (handle) =>
    (await askStore(saved.handle({ handle })))?.organizationId ?? null;
  const find: SavedQueries['find'] = async (query) => {
    const record = await askStore(saved.find(query));
    return record === null ? null : savedQueryOf(record);
  };
  return {
    ownerOf,
    find,
    handleOf: async (organizationId) => (await askStore(saved.handle({ organizationId })))?.handle ?? null,
    claimHandle: async ({ organizationId, handle }) => {
      const skeleton = skeletonOf(handle);
      const outcome = await askStore(saved.claimHandle({ organizationId, handle, skeleton }));
      if (outcome === 'unknown_organization') throw new Error('an organization that was just read is gone');
      return outcome;
    },
    save: async ({ organizationId, slug, content, settings }) => {
      const { outcome, version } = await askStore(
        saved.put({
          organizationId,
          slug,
          content: JSON.stringify(content),
          settings: JSON.stringify(settings),
          listing: JSON.stringify(listingOf(content, settings)),
          isPublic: settings.visibility === 'public',
          refreshSeconds: settings.refreshSeconds,
          atMs: clock.nowMs(),
          queriesMax: SAVED_QUERIES_MAX,
          versionsMax: QUERY_VERSIONS_MAX,
        }),
      );
      if (outcome === 'no_handle') throw new Error('a handle that was just read is gone');
      if (outcome === 'too_many') throw tooMany();
      const query = await find({ organizationId, slug, version });
      if (query === null) throw new Error('a query that was saved cannot be read');
      return { outcome, query };
    },
    findByHandle: async ({ owner, ...query }) => {
      const organizationId = await ownerOf(owner);
      return organizationId === null ? null : find({ organizationId, ...query });
    },
    list: async (page) => (await askStore(saved.list(page))).filter(isQuery).map(savedQueryOf),
    versions: async (query) =>
      (await askStore(saved.versions(query))).map(({ version, content, versionCreatedAtMs }) => ({
        version,
        title: (JSON.parse(content) as SavedContent).title,
        createdAtMs: versionCreatedAtMs,
      })),
    listings: async (page) =>
      (await askStore(saved.listings(page))).filter(isQuery).map(({ handle, listing, ...query }) => ({
        ...query,
        owner: handle,
        ...(JSON.parse(listing) as Pick<ListedQuery, keyof ReturnType<typeof listingOf>>), // written by `save`, or made of the query
      })),
    remove: (query) => askStore(saved.remove(query)),
    refreshes: async (query) =>
      (await askStore(refreshes.runs(query))).map((run) => JSON.parse(run) as RefreshRun),
  };
}

/** Begins the slug of a dashboard (dashboards.ts), which no query can have. It sorts behind them, so the pages of a list stay whole. */
export const DASHBOARD_MARK = '~';

function isQuery({ slug }: { readonly slug: string }): boolean {
  return !slug.startsWith(DASHBOARD_MARK);
}

export function tooMany(): Error {
  return fail('query_limit', {
    detail: `An organization has at most ${SAVED_QUERIES_MAX} saved queries and dashboards, and each ${QUERY_VERSIONS_MAX} versions: remove one, or save this one under another slug.`,
  });
}

/** The texts of the record are ours. */
export function savedQueryOf({
  handle,
  content,
  settings,
  refreshAtMs,
  ...record
}: SavedQueryRecord): SavedQuery {
  return {
    ...record,
    owner: handle,
    content: JSON.parse(content) as SavedContent,
    settings: JSON.parse(settings) as SavedSettings,
    nextRefreshAtMs: refreshAtMs,
  };
}
