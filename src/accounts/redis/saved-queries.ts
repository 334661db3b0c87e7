import type {
  RefreshStore,
  SavedListing,
  SavedQueryName,
  SavedQueryRecord,
  SavedQueryStore,
} from '../saved-query-store.ts';
import { listOf, nullable, numberOf, oneOf, type RedisConnection, textOf } from './connection.ts';
import type { Names } from './layout.ts';

/** Saved queries in Redis: one hash for a query, with all of its versions. */

export function redisSavedQueries(redis: RedisConnection, names: Names): SavedQueryStore {
  const read = (query: SavedQueryName & { readonly version: number | null }) =>
    readQuery(redis, names, query);
  return {
    claimHandle: async ({ organizationId, handle, skeleton }) => {
      const keys = [names.organization(organizationId), names.handles, names.handleSkeletons];
      const outcome = await redis.script('claimHandle', keys, [organizationId, handle, skeleton]);
      return oneOf(['claimed', 'replayed', 'has_other', 'taken', 'unknown_organization'], outcome);
    },
    handle: async (question) => {
      if ('handle' in question) {
        const { handle } = question;
        const organizationId = await redis.run((client) => client.hget(names.handles, handle));
        return organizationId === null ? null : { organizationId, handle };
      }
      const { organizationId } = question;
      const handle = await redis.run((client) => client.hget(names.organization(organizationId), 'handle'));
      return handle === null ? null : { organizationId, handle };
    },
    put: async (query) => {
      const { organizationId, slug, content, settings, listing, isPublic, refreshSeconds, atMs } = query;
      const entry = queryEntry(query);
      const keys = [
        names.organization(organizationId),
        names.savedQuery(entry),
        names.savedQueriesOf(organizationId),
        names.publicQueries,
        names.refreshes,
      ];
      const said = [content, settings, isPublic ? 1 : 0, refreshSeconds ?? '', atMs];
      const owner = encodeURIComponent(organizationId);
      const values = [slug, entry, owner, ...said, query.queriesMax, query.versionsMax, listing];
      const [outcome, version] = listOf(await redis.script('putQuery', keys, values));
      return {
        outcome: oneOf(['created', 'new_version', 'changed', 'unchanged', 'too_many', 'no_handle'], outcome),
        version: Number(version),
      };
    },
    find: read,
    list: async ({ organizationId, after, limit }) => {
      const name = names.savedQueriesOf(organizationId);
      const min = after === null ? '-' : `(${after}`;
      const slugs = await redis.run((client) => client.zrangebylex(name, min, '+', 'LIMIT', 0, limit));
      return found(await Promise.all(slugs.map((slug) => read({ organizationId, slug, version: null }))));
    },
    versions: (query) => readVersions(redis, names, query),
    listings: async ({ organizationId, after, limit }) => {
      const isOwn = organizationId !== null;
      const name = isOwn ? names.savedQueriesOf(organizationId) : names.publicQueries;
      const min = after === null ? '-' : `(${isOwn ? after.slug : behindPublic(after)}`;
      const entries = await redis.run((client) => client.zrangebylex(name, min, '+', 'LIMIT', 0, limit));
      const queries = entries.map((entry): SavedQueryName => {
        if (isOwn) return { organizationId, slug: entry };
        const [, slug = '', owner = ''] = entry.split(' ');
        return { organizationId: decodeURIComponent(owner), slug };
      });
      const listed = await Promise.all(queries.map((query) => readListing(redis, names, query)));
      return listed.filter((one) => one !== null);
    },
    remove: async (query) => {
      const { organizationId, slug } = query;
      const entry = queryEntry(query);
      const keys = [
        names.savedQuery(entry),
        names.savedQueriesOf(organizationId),
        names.publicQueries,
        names.refreshes,
        names.refreshRuns(entry),
      ];
      const values = [slug, entry, encodeURIComponent(organizationId)];
      return (await redis.script('removeQuery', keys, values)) === 1;
    },
  };
}

/** Behind all public entries of a place, whose third part is the organization. */
function behindPublic({ handle, slug }: { readonly handle: string; readonly slug: string }): string {
  return `${handle} ${slug} \xff`;
}

/** Names a query among the queries of all organizations. */
function queryEntry({ organizationId, slug }: SavedQueryName): string {
  return `${encodeURIComponent(organizationId)}/${slug}`;
}

function nameOf(entry: string): SavedQueryName {
  const end = entry.indexOf('/');
  return { organizationId: decodeURIComponent(entry.slice(0, end)), slug: entry.slice(end + 1) };
}

function found(queries: readonly (SavedQueryRecord | null)[]): SavedQueryRecord[] {
  return queries.filter((query) => query !== null);
}

async function readQuery(
  redis: RedisConnection,
  names: Names,
  query: SavedQueryName & { readonly version: number | null },
): Promise<SavedQueryRecord | null> {
  const name = names.savedQuery(queryEntry(query));
  const answer = await redis.script('readQuery', [name], [query.version ?? '']);
  if (answer === null) return null;
  const [version, latest, handle, settings, createdAtMs, updatedAtMs, dueAtMs, content, atMs] =
    listOf(answer);
  return {
    organizationId: query.organizationId,
    slug: query.slug,
    handle: textOf(handle),
    version: numberOf(version),
    latestVersion: numberOf(latest),
    content: textOf(content),
    settings: textOf(settings),
    createdAtMs: numberOf(createdAtMs),
    versionCreatedAtMs: numberOf(atMs),
    updatedAtMs: numberOf(updatedAtMs),
    refreshAtMs: nullable(numberOf, dueAtMs),
  };
}

async function readListing(
  redis: RedisConnection,
  names: Names,
  query: SavedQueryName,
): Promise<SavedListing | null> {
  const answer = await redis.script('readListing', [names.savedQuery(queryEntry(query))], []);
  if (answer === null) return null;
  const [handle, version, updatedAtMs, listing] = listOf(answer);
  return {
    ...query,
    handle: textOf(handle),
    version: numberOf(version),
    listing: textOf(listing),
    updatedAtMs: numberOf(updatedAtMs),
  };
}

const CONTENT = 'content:';

async function readVersions(
  redis: RedisConnection,
  names: Names,
  query: SavedQueryName,
): ReturnType<SavedQueryStore['versions']> {
  const fields = await redis.run((client) => client.hgetall(names.savedQuery(queryEntry(query))));
  return Object.entries(fields)
    .filter(([field]) => field.startsWith(CONTENT))
    .map(([field, content]) => {
      const version = numberOf(field.slice(CONTENT.length));
      return { version, content, versionCreatedAtMs: numberOf(fields[`at:${version}`]) };
    })
    .sort((a, b) => b.version - a.version);
}

export function redisRefreshes(redis: RedisConnection, names: Names): RefreshStore {
  const end = async (
    refresh: SavedQueryName & { readonly dueAtMs: number },
    values: readonly (string | number)[],
  ): Promise<boolean> => {
    const entry = queryEntry(refresh);
    const keys = [names.refreshes, names.savedQuery(entry), names.refreshRuns(entry)];
    return (await redis.script('endRefresh', keys, [entry, refresh.dueAtMs, ...values])) === 1;
  };
  return {
    claim: async ({ nowMs, untilMs }) => {
      const values = [names.savedQuery(''), nowMs, untilMs];
      const answer = await redis.script('claimRefresh', [names.refreshes], values);
      if (answer === null) return null;
      const [entry, dueAtMs, failures] = listOf(answer);
      return { ...nameOf(textOf(entry)), dueAtMs: numberOf(dueAtMs), failures: numberOf(failures) };
    },
    pause: async ({ atMs, ...refresh }) => void (await end(refresh, [atMs])),
    finish: ({ nextAtMs, run, failures, keptMax, ...refresh }) =>
      end(refresh, [nextAtMs ?? '', run, failures, keptMax]),
    runs: async (query) => {
      const name = names.refreshRuns(queryEntry(query));
      return (await redis.run((client) => client.lrange(name, 0, -1))).reverse();
    },
  };
}
