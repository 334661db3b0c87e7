import type Database from 'libsql';
import type {
  DueRefresh,
  RefreshStore,
  SavedListing,
  SavedQueryRecord,
  SavedQueryStore,
} from '../saved-query-store.ts';
import { type AtOnce, prepare } from './rows.ts';

/** Saved queries in SQLite: what changes them, and what reads them. */

export interface SavedQueryWrites {
  readonly claimHandle: AtOnce<SavedQueryStore['claimHandle']>;
  readonly putQuery: AtOnce<SavedQueryStore['put']>;
  readonly removeQuery: AtOnce<SavedQueryStore['remove']>;
  readonly claimRefresh: AtOnce<RefreshStore['claim']>;
  readonly pauseRefresh: AtOnce<RefreshStore['pause']>;
  readonly finishRefresh: AtOnce<RefreshStore['finish']>;
}

export function savedQueryWrites(db: Database.Database): SavedQueryWrites {
  return { ...handleWrites(db), ...queryWrites(db), ...refreshWrites(db) };
}

interface Handle {
  readonly organizationId: string;
  readonly handle: string;
}

function handleWrites(db: Database.Database): Pick<SavedQueryWrites, 'claimHandle'> {
  const own = prepare<{ readonly handle: string | null }>(
    db,
    'SELECT handle FROM organization WHERE id = :organizationId',
  );
  const taken = prepare<object>(
    db,
    'SELECT 1 FROM organization WHERE handle = :handle OR handle_skeleton = :skeleton',
  );
  const claim = prepare(
    db,
    'UPDATE organization SET handle = :handle, handle_skeleton = :skeleton WHERE id = :organizationId',
  );
  return {
    claimHandle: (wanted) => {
      const found = own.one(wanted);
      if (found === undefined) return 'unknown_organization';
      if (found.handle !== null) return found.handle === wanted.handle ? 'replayed' : 'has_other';
      if (taken.one(wanted) !== undefined) return 'taken';
      claim.run(wanted);
      return 'claimed';
    },
  };
}

interface QueryRow {
  readonly latestVersion: number;
  readonly settings: string | null;
  readonly refreshSeconds: number | null;
}

function handleReader(db: Database.Database): (query: { readonly organizationId: string }) => string | null {
  const handle = prepare<{ readonly handle: string | null }>(
    db,
    'SELECT handle FROM organization WHERE id = :organizationId',
  );
  return (query) => handle.one({ ...query })?.handle ?? null;
}

interface Compared {
  readonly latest: number;
  /** Whether it is saved, and not removed. */
  readonly isThere: boolean;
  readonly isSame: boolean;
  readonly isScheduled: boolean;
  readonly isUnchanged: boolean;
}

/** The version stored under the name, and the parts of it that a save would leave unchanged. */
function comparer(db: Database.Database): (query: Saved) => Compared {
  const known = prepare<QueryRow>(
    db,
    `SELECT latest_version AS latestVersion, settings, refresh_seconds AS refreshSeconds
     FROM saved_query WHERE organization_id = :organizationId AND slug = :slug`,
  );
  const contentOf = prepare<{ readonly content: string }>(
    db,
    `SELECT content FROM saved_query_version
     WHERE organization_id = :organizationId AND slug = :slug AND version = :version`,
  );
  return (query) => {
    const before = known.one({ ...query });
    const latest = before?.latestVersion ?? 0;
    if (before === undefined || before.settings === null)
      return { latest, isThere: false, isSame: false, isScheduled: false, isUnchanged: false };
    const isSame = contentOf.one({ ...query, version: latest })?.content === query.content;
    const isScheduled = before.refreshSeconds === query.refreshSeconds;
    const isUnchanged = isSame && isScheduled && before.settings === query.settings;
    return { latest, isThere: true, isSame, isScheduled, isUnchanged };
  };
}

function queryWrites(db: Database.Database): Pick<SavedQueryWrites, 'putQuery' | 'removeQuery'> {
  const ownerOf = handleReader(db);
  const compare = comparer(db);
  const queries = prepare<{ readonly count: number }>(
    db,
    'SELECT count(*) AS count FROM saved_query WHERE organization_id = :organizationId AND settings IS NOT NULL',
  );
  const versions = prepare<{ readonly count: number }>(
    db,
    'SELECT count(*) AS count FROM saved_query_version WHERE organization_id = :organizationId AND slug = :slug',
  );
  const insertVersion = prepare(
    db,
    `INSERT INTO saved_query_version (organization_id, slug, version, content, created_at_ms)
     VALUES (:organizationId, :slug, :version, :content, :atMs)`,
  );
  const upsert = prepare(
    db,
    `INSERT INTO saved_query (organization_id, slug, latest_version, settings, listing, listed_at, is_public, created_at_ms,
       updated_at_ms, refresh_seconds, due_at_ms, look_at_ms)
     VALUES (:organizationId, :slug, :version, :settings, :listing, :listedAt, :isPublic, :atMs, :atMs, :refreshSeconds, :dueAtMs,
       :dueAtMs)
     ON CONFLICT (organization_id, slug) DO UPDATE SET latest_version = :version, settings = :settings,
       listing = :listing, listed_at = :listedAt, is_public = :isPublic, updated_at_ms = :atMs, refresh_seconds = :refreshSeconds,
       created_at_ms = CASE WHEN settings IS NULL THEN :atMs ELSE created_at_ms END,
       due_at_ms = CASE WHEN :isDue THEN :dueAtMs ELSE due_at_ms END,
       look_at_ms = CASE WHEN :isDue THEN :dueAtMs ELSE look_at_ms END,
       failures = CASE WHEN :isDue THEN 0 ELSE failures END`,
  );
  const forgetVersions = prepare(
    db,
    'DELETE FROM saved_query_version WHERE organization_id = :organizationId AND slug = :slug',
  );
  const forgetRuns = prepare(
    db,
    'DELETE FROM query_refresh WHERE organization_id = :organizationId AND slug = :slug',
  );
  const remove = prepare(
    db,
    `UPDATE saved_query SET settings = NULL, listing = '{}', listed_at = NULL, is_public = 0, refresh_seconds = NULL, due_at_ms = NULL, look_at_ms = NULL
     WHERE organization_id = :organizationId AND slug = :slug AND settings IS NOT NULL`,
  );
  const write = ({ isDue, handle: owner, ...query }: Written): void => {
    const { isPublic, refreshSeconds, atMs, slug } = query;
    const dueAtMs = refreshSeconds === null ? null : atMs;
    const listedAt = isPublic ? placeOf({ handle: owner, slug }) : null;
    upsert.run({ ...query, listedAt, isPublic: isPublic ? 1 : 0, isDue: isDue ? 1 : 0, dueAtMs });
  };
  const countOf = (counted: typeof queries, query: Saved): number => counted.one({ ...query })?.count ?? 0;
  return {
    putQuery: ({ queriesMax, versionsMax, ...query }) => {
      const owner = ownerOf(query);
      if (owner === null) return { outcome: 'no_handle', version: 0 };
      const { latest, isThere, isSame, isScheduled, isUnchanged } = compare(query);
      if (isUnchanged) return { outcome: 'unchanged', version: latest };
      const isFull = isThere
        ? !isSame && countOf(versions, query) >= versionsMax
        : countOf(queries, query) >= queriesMax;
      if (isFull) return { outcome: 'too_many', version: 0 };
      const version = isSame ? latest : latest + 1;
      if (!isSame) insertVersion.run({ ...query, version });
      write({ ...query, handle: owner, version, isDue: !isSame || !isScheduled });
      return { outcome: outcomeOf(isThere, isSame), version };
    },
    removeQuery: (query) => {
      if (remove.run({ ...query }) === 0) return false;
      forgetVersions.run({ ...query });
      forgetRuns.run({ ...query });
      return true;
    },
  };
}

type Saved = Omit<Parameters<SavedQueryStore['put']>[0], 'queriesMax' | 'versionsMax'>;

interface Written extends Saved {
  readonly handle: string;
  readonly version: number;
  readonly isDue: boolean;
}

/** In the list of all. A space is before every character of a handle. */
function placeOf({ handle, slug }: { readonly handle: string; readonly slug: string }): string {
  return `${handle} ${slug}`;
}

function outcomeOf(isThere: boolean, isSame: boolean): 'created' | 'new_version' | 'changed' {
  if (isSame) return 'changed';
  return isThere ? 'new_version' : 'created';
}

const THIS_RUN = 'organization_id = :organizationId AND slug = :slug AND due_at_ms = :dueAtMs';

function refreshWrites(
  db: Database.Database,
): Pick<SavedQueryWrites, 'claimRefresh' | 'pauseRefresh' | 'finishRefresh'> {
  const claim = prepare<DueRefresh>(
    db,
    `UPDATE saved_query SET look_at_ms = :untilMs WHERE (organization_id, slug) IN
       (SELECT organization_id, slug FROM saved_query WHERE look_at_ms <= :nowMs ORDER BY look_at_ms, organization_id, slug LIMIT 1)
     RETURNING organization_id AS organizationId, slug, due_at_ms AS dueAtMs, failures`,
  );
  const pause = prepare(db, `UPDATE saved_query SET look_at_ms = :atMs WHERE ${THIS_RUN}`);
  const finish = prepare(
    db,
    `UPDATE saved_query SET due_at_ms = :nextAtMs, look_at_ms = :nextAtMs, failures = :failures,
       refresh_seconds = iif(:nextAtMs IS NULL, NULL, refresh_seconds) WHERE ${THIS_RUN}`,
  );
  const keep = prepare(
    db,
    `INSERT OR REPLACE INTO query_refresh (organization_id, slug, due_at_ms, run)
     VALUES (:organizationId, :slug, :dueAtMs, :run)`,
  );
  const forget = prepare(
    db,
    `DELETE FROM query_refresh WHERE organization_id = :organizationId AND slug = :slug AND due_at_ms <=
       (SELECT due_at_ms FROM query_refresh WHERE organization_id = :organizationId AND slug = :slug
        ORDER BY due_at_ms DESC LIMIT 1 OFFSET :keptMax)`,
  );
  return {
    claimRefresh: (asked) => claim.one(asked) ?? null,
    pauseRefresh: (paused) => void pause.run({ ...paused }),
    finishRefresh: (ended) => {
      if (finish.run({ ...ended }) === 0) return false;
      keep.run({ ...ended });
      forget.run({ ...ended });
      return true;
    },
  };
}

const QUERY_COLUMNS = `query.organization_id AS organizationId, handle, query.slug AS slug, version,
  latest_version AS latestVersion, content, settings, query.created_at_ms AS createdAtMs,
  v.created_at_ms AS versionCreatedAtMs, updated_at_ms AS updatedAtMs, due_at_ms AS refreshAtMs`;
const QUERIES = `saved_query AS query JOIN organization ON organization.id = query.organization_id
  JOIN saved_query_version AS v ON v.organization_id = query.organization_id AND v.slug = query.slug`;

export function savedQueryReads(db: Database.Database): {
  readonly handle: AtOnce<SavedQueryStore['handle']>;
  readonly findQuery: AtOnce<SavedQueryStore['find']>;
  readonly listSaved: AtOnce<SavedQueryStore['list']>;
  readonly versions: AtOnce<SavedQueryStore['versions']>;
  readonly listings: AtOnce<SavedQueryStore['listings']>;
  readonly refreshRuns: AtOnce<RefreshStore['runs']>;
} {
  const byId = prepare<Handle>(
    db,
    'SELECT id AS organizationId, handle FROM organization WHERE id = :organizationId AND handle IS NOT NULL',
  );
  const byHandle = prepare<Handle>(
    db,
    'SELECT id AS organizationId, handle FROM organization WHERE handle = :handle',
  );
  const one = prepare<SavedQueryRecord>(
    db,
    `SELECT ${QUERY_COLUMNS} FROM ${QUERIES} AND v.version = ifnull(:version, query.latest_version)
     WHERE query.organization_id = :organizationId AND query.slug = :slug AND settings IS NOT NULL`,
  );
  const page = prepare<SavedQueryRecord>(
    db,
    `SELECT ${QUERY_COLUMNS} FROM ${QUERIES} AND v.version = query.latest_version
     WHERE query.organization_id = :organizationId AND query.slug > ifnull(:after, '') AND settings IS NOT NULL
     ORDER BY query.slug LIMIT :limit`,
  );
  const listing = (which: string, order: string) =>
    prepare<SavedListing>(
      db,
      `SELECT organization_id AS organizationId, handle, slug, latest_version AS version, listing, updated_at_ms AS updatedAtMs
       FROM saved_query JOIN organization ON id = organization_id WHERE ${which} ORDER BY ${order} LIMIT :limit`,
    );
  const everyone = listing(`listed_at > :after`, 'listed_at');
  const own = listing(`organization_id = :organizationId AND slug > :after AND settings IS NOT NULL`, 'slug');
  const all = prepare<Pick<SavedQueryRecord, 'version' | 'content' | 'versionCreatedAtMs'>>(
    db,
    `SELECT version, content, created_at_ms AS versionCreatedAtMs FROM saved_query_version
     WHERE organization_id = :organizationId AND slug = :slug ORDER BY version DESC`,
  );
  const runs = prepare<{ readonly run: string }>(
    db,
    `SELECT run FROM query_refresh WHERE organization_id = :organizationId AND slug = :slug ORDER BY due_at_ms DESC`,
  );
  return {
    handle: (question) => ('handle' in question ? byHandle : byId).one(question) ?? null,
    findQuery: (query) => one.one({ ...query }) ?? null,
    listSaved: (asked) => page.all(asked),
    versions: (query) => all.all({ ...query }),
    listings: ({ organizationId, after, limit }) =>
      organizationId === null
        ? everyone.all({ after: after === null ? '' : placeOf(after), limit })
        : own.all({ organizationId, after: after?.slug ?? '', limit }),
    refreshRuns: (query) => runs.all({ ...query }).map(({ run }) => run),
  };
}
