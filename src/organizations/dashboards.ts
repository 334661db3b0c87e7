import type { Clock } from '../../core/clock.ts';
import { QUERY_VERSIONS_MAX, SAVED_QUERIES_MAX, type Visibility } from '../../core/domain/saved-query.ts';
import type { SavedQueryRecord } from '../accounts/saved-query-store.ts';
import type { ControlStore } from '../accounts/store.ts';
import { askStore } from '../accounts/store-failure.ts';
import type { Boards } from '../operations/dashboards/boards.ts';
import type { Dashboard, DashboardContent } from '../operations/dashboards/definition.ts';
import { DASHBOARD_MARK, tooMany } from './saved-queries.ts';

/**
 * Dashboards of organizations, kept where their saved queries are: a dashboard is an entry whose slug begins with a mark that no query can
 * have, so that both have one limit, one owner and one backup. The mark sorts behind every slug: in a list dashboards come last.
 */

interface BoardSettings {
  readonly visibility: Visibility;
  readonly tokenDigest: string | null;
}

export function createBoards({
  store: { saved },
  clock,
}: {
  readonly store: Pick<ControlStore, 'saved'>;
  readonly clock: Clock;
}): Boards {
  const find: Boards['find'] = async ({ organizationId, slug }) => {
    const record = await askStore(
      saved.find({ organizationId, slug: `${DASHBOARD_MARK}${slug}`, version: null }),
    );
    return record === null ? null : boardOf(record);
  };
  return {
    find,
    list: async (organizationId) => {
      const page = { organizationId, after: DASHBOARD_MARK, limit: SAVED_QUERIES_MAX };
      return (await askStore(saved.list(page))).map(boardOf);
    },
    save: async ({ organizationId, slug, content, settings }) => {
      const { outcome } = await askStore(
        saved.put({
          organizationId,
          slug: `${DASHBOARD_MARK}${slug}`,
          content: JSON.stringify(content),
          settings: JSON.stringify(settings satisfies BoardSettings),
          listing: '{}',
          // The list of public queries has none.
          isPublic: false,
          refreshSeconds: null,
          atMs: clock.nowMs(),
          queriesMax: SAVED_QUERIES_MAX,
          versionsMax: QUERY_VERSIONS_MAX,
        }),
      );
      if (outcome === 'no_handle') throw new Error('a handle that was just read is gone');
      if (outcome === 'too_many') throw tooMany();
      const board = await find({ organizationId, slug });
      if (board === null) throw new Error('a dashboard that was saved cannot be read');
      return board;
    },
    remove: ({ organizationId, slug }) =>
      askStore(saved.remove({ organizationId, slug: `${DASHBOARD_MARK}${slug}` })),
  };
}

/** The texts of the record are ours. */
function boardOf({ handle, slug, content, settings, updatedAtMs }: SavedQueryRecord): Dashboard {
  return {
    owner: handle,
    slug: slug.slice(DASHBOARD_MARK.length),
    content: JSON.parse(content) as DashboardContent,
    ...(JSON.parse(settings) as BoardSettings),
    updatedAtMs,
  };
}
