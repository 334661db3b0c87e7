import type Database from 'libsql';
import type { JobRecord, JobStore } from '../job-store.ts';
import type { ResultRecord, ResultStore } from '../result-store.ts';
import type { AllAtOnce, AtOnce } from './rows.ts';
import { prepare } from './rows.ts';

/** Jobs and kept results in SQLite: what changes them, and what reads them. */

export interface JobWrites {
  readonly addJob: AtOnce<JobStore['add']>;
  readonly claimJob: AtOnce<JobStore['claim']>;
  readonly renewJob: AtOnce<JobStore['renew']>;
  readonly putBackJob: AtOnce<JobStore['putBack']>;
  readonly endJob: AtOnce<JobStore['end']>;
  readonly cancelJob: AtOnce<JobStore['cancel']>;
  readonly forgetJobs: AtOnce<JobStore['forget']>;
}

export interface ResultWrites {
  readonly addResult: AtOnce<ResultStore['add']>;
  readonly allowResult: AtOnce<ResultStore['allow']>;
  readonly removeResult: AtOnce<ResultStore['remove']>;
}

const JOB_COLUMNS = `id, organization_id AS organizationId, request, created_at_ms AS createdAtMs, state, attempt,
  lease_until_ms AS leaseUntilMs, started_at_ms AS startedAtMs, ended_at_ms AS endedAtMs, cancel_at_ms AS cancelAtMs, progress,
  result_id AS resultId, outcome`;

const UNFINISHED = `SELECT count(*) AS jobs FROM job WHERE organization_id = :organizationId AND state IN ('queued', 'running')`;

/** The newest claim of a job that has not ended. */
const THIS_CLAIM = `id = :id AND state = 'running' AND attempt = :attempt`;

export function jobWrites(db: Database.Database): JobWrites {
  const known = prepare<object>(db, 'SELECT 1 FROM job WHERE id = :id');
  const unfinished = prepare<{ readonly jobs: number }>(db, UNFINISHED);
  const insert = prepare(
    db,
    `INSERT INTO job (id, organization_id, key_id, request, created_at_ms)
     VALUES (:id, :organizationId, :keyId, :request, :createdAtMs)`,
  );
  const cancelQueued = prepare(
    db,
    `UPDATE job SET state = 'cancelled', ended_at_ms = :atMs, cancel_at_ms = :atMs, outcome = :outcome
     WHERE id = :id AND organization_id = :organizationId AND state = 'queued'`,
  );
  const cancelRunning = prepare(
    db,
    `UPDATE job SET cancel_at_ms = coalesce(cancel_at_ms, :atMs)
     WHERE id = :id AND organization_id = :organizationId AND state = 'running'`,
  );
  const ofOrganization = prepare<object>(
    db,
    'SELECT 1 FROM job WHERE id = :id AND organization_id = :organizationId',
  );
  const forget = prepare(
    db,
    'DELETE FROM job WHERE id IN (SELECT id FROM job WHERE ended_at_ms <= :endedUntilMs ORDER BY ended_at_ms LIMIT :limit)',
  );
  return {
    addJob: ({ unfinishedMax, ...job }) => {
      if (known.one(job)) return 'replayed';
      if ((unfinished.one(job)?.jobs ?? 0) >= unfinishedMax) return 'too_many';
      insert.run({ keyId: null, ...job });
      return 'added';
    },
    ...claimWrites(db),
    cancelJob: (job) => {
      if (cancelQueued.run(job) === 1) return 'cancelled';
      if (cancelRunning.run(job) === 1) return 'asked';
      return ofOrganization.one(job) ? 'ended' : 'unknown';
    },
    forgetJobs: (old) => forget.run(old),
  };
}

function claimWrites(
  db: Database.Database,
): Pick<JobWrites, 'claimJob' | 'renewJob' | 'putBackJob' | 'endJob'> {
  const taking = (which: string) =>
    prepare<JobRecord>(
      db,
      `UPDATE job SET state = 'running', attempt = attempt + 1, lease_until_ms = :leaseUntilMs,
         started_at_ms = coalesce(started_at_ms, :nowMs)
       WHERE id = (${which} LIMIT 1) RETURNING ${JOB_COLUMNS}`,
    );
  const takeLapsed = taking(
    `SELECT id FROM job WHERE state = 'running' AND lease_until_ms <= :nowMs ORDER BY lease_until_ms, id`,
  );
  const takeQueued = taking(`SELECT id FROM job WHERE state = 'queued' ORDER BY created_at_ms, id`);
  const renew = prepare<JobRecord>(
    db,
    `UPDATE job SET lease_until_ms = :leaseUntilMs, progress = coalesce(:progress, progress),
       result_id = coalesce(:resultId, result_id)
     WHERE ${THIS_CLAIM} RETURNING ${JOB_COLUMNS}`,
  );
  const putBack = prepare(
    db,
    `UPDATE job SET state = 'queued', lease_until_ms = NULL, progress = NULL WHERE ${THIS_CLAIM}`,
  );
  const end = prepare(
    db,
    `UPDATE job SET state = :state, lease_until_ms = NULL, ended_at_ms = :atMs, outcome = :outcome WHERE ${THIS_CLAIM}`,
  );
  return {
    claimJob: (claim) => takeLapsed.one(claim) ?? takeQueued.one(claim) ?? null,
    renewJob: (claim) => renew.one({ progress: null, resultId: null, ...claim }) ?? null,
    putBackJob: (claim) => putBack.run({ ...claim }) === 1,
    endJob: (claim) => end.run({ ...claim }) === 1,
  };
}

export function jobReads(db: Database.Database): {
  readonly findJob: AtOnce<JobStore['find']>;
  readonly listJobs: AtOnce<JobStore['list']>;
  readonly unfinishedJobs: AtOnce<JobStore['unfinished']>;
} {
  const one = prepare<JobRecord>(
    db,
    `SELECT ${JOB_COLUMNS} FROM job WHERE id = :id AND organization_id = :organizationId`,
  );
  const pageOf = (whose: string) =>
    prepare<JobRecord>(
      db,
      `SELECT ${JOB_COLUMNS} FROM job WHERE ${whose} ORDER BY created_at_ms DESC, id LIMIT :limit OFFSET :offset`,
    );
  const all = pageOf('organization_id = :organizationId');
  const ofKey = pageOf('organization_id = :organizationId AND key_id = :keyId');
  const unfinished = prepare<{ readonly jobs: number }>(db, UNFINISHED);
  return {
    findJob: (job) => one.one(job) ?? null,
    listJobs: (asked) => (asked.keyId == null ? all : ofKey).all(asked),
    unfinishedJobs: (organizationId) => unfinished.one({ organizationId })?.jobs ?? 0,
  };
}

const RESULT_COLUMNS = `id, query_key AS queryKey, organization_id AS organizationId, created_at_ms AS createdAtMs,
  expires_at_ms AS expiresAtMs, bytes, facts`;

export function resultWrites(db: Database.Database): ResultWrites {
  const insert = prepare(
    db,
    `INSERT INTO result (id, query_key, organization_id, created_at_ms, expires_at_ms, bytes, facts)
     VALUES (:id, :queryKey, :organizationId, :createdAtMs, :expiresAtMs, :bytes, :facts) ON CONFLICT (id) DO NOTHING`,
  );
  const allow = prepare(
    db,
    `INSERT INTO result_reader (id, organization_id) SELECT id, :organizationId FROM result WHERE id = :id
     ON CONFLICT (id, organization_id) DO NOTHING`,
  );
  const forgetReaders = prepare(db, 'DELETE FROM result_reader WHERE id = :id');
  const remove = prepare(db, 'DELETE FROM result WHERE id = :id');
  return {
    addResult: (result) => {
      const isNew = insert.run({ ...result }) === 1;
      if (result.organizationId !== null) allow.run({ ...result });
      return isNew ? 'added' : 'replayed';
    },
    allowResult: (reader) => allow.run(reader) === 1,
    removeResult: (id) => {
      forgetReaders.run({ id });
      remove.run({ id });
    },
  };
}

export function resultReads(db: Database.Database): AllAtOnce<
  Omit<ResultStore, 'find'>,
  'mayRead' | 'newest' | 'paidBy' | 'expired'
> & {
  readonly findResult: AtOnce<ResultStore['find']>;
} {
  const one = prepare<ResultRecord>(
    db,
    `SELECT ${RESULT_COLUMNS} FROM result WHERE id = :id AND expires_at_ms > :nowMs`,
  );
  const reader = prepare<object>(
    db,
    'SELECT 1 FROM result_reader WHERE id = :id AND organization_id = :organizationId',
  );
  const newest = prepare<ResultRecord>(
    db,
    `SELECT ${RESULT_COLUMNS} FROM result
     WHERE query_key = :queryKey AND created_at_ms >= :createdFromMs AND expires_at_ms > :nowMs
     ORDER BY created_at_ms DESC, id LIMIT 1`,
  );
  const paid = prepare<ResultRecord>(
    db,
    `SELECT ${RESULT_COLUMNS} FROM result WHERE organization_id = :organizationId ORDER BY created_at_ms DESC, id LIMIT :limit`,
  );
  const expired = prepare<ResultRecord>(
    db,
    `SELECT ${RESULT_COLUMNS} FROM result WHERE expires_at_ms <= :nowMs ORDER BY expires_at_ms, id LIMIT :limit`,
  );
  return {
    findResult: (question) => one.one(question) ?? null,
    mayRead: (asked) => reader.one(asked) !== undefined,
    newest: (question) => newest.one(question) ?? null,
    paidBy: (page) => paid.all(page),
    expired: (question) => expired.all(question),
  };
}
