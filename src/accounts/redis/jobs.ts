import { JOB_STATES } from '../../../core/domain/job.ts';
import type { JobRecord, JobStore } from '../job-store.ts';
import type { ResultRecord, ResultStore } from '../result-store.ts';
import { fieldsOf, listOf, nullable, numberOf, oneOf, type RedisConnection, textOf } from './connection.ts';
import type { Names } from './layout.ts';

/** Jobs and kept results in Redis. They are not part of a backup: a job is asked for again, a result is kept for days. */

export function redisJobs(redis: RedisConnection, names: Names): JobStore {
  const read = async (id: string): Promise<JobRecord | null> => {
    const fields = await redis.run((client) => client.hgetall(names.job(id)));
    return fields['state'] === undefined ? null : jobOf(id, new Map(Object.entries(fields)));
  };
  return {
    add: async ({ id, organizationId, keyId = null, request, createdAtMs, unfinishedMax }) => {
      const keys = [
        names.job(id),
        names.queuedJobs,
        names.jobsOf(organizationId, null),
        names.unfinishedJobs(organizationId),
        ...(keyId === null ? [] : [names.jobsOf(organizationId, keyId)]),
      ];
      const asked = [id, organizationId, request, createdAtMs, -createdAtMs, unfinishedMax];
      const values = keyId === null ? asked : [...asked, keyId];
      return oneOf(['added', 'replayed', 'too_many'], await redis.script('addJob', keys, values));
    },
    claim: async ({ nowMs, leaseUntilMs }) => {
      const values = [names.job(''), nowMs, leaseUntilMs];
      const answer = await redis.script('claimJob', [names.queuedJobs, names.runningJobs], values);
      if (answer === null) return null;
      const [id, fields] = listOf(answer);
      return jobOf(textOf(id), fieldsOf(fields));
    },
    renew: async ({ id, attempt, leaseUntilMs, progress, resultId }) => {
      const news = [
        ...(progress === undefined ? [] : ['progress', progress]),
        ...(resultId === undefined ? [] : ['resultId', resultId]),
      ];
      const keys = [names.job(id), names.runningJobs];
      const answer = await redis.script('renewJob', keys, [id, attempt, leaseUntilMs, ...news]);
      return answer === null ? null : jobOf(id, fieldsOf(answer));
    },
    putBack: async ({ id, attempt }) => {
      const keys = [names.job(id), names.runningJobs, names.queuedJobs];
      return (await redis.script('putBackJob', keys, [id, attempt])) === 1;
    },
    end: async ({ id, attempt, state, outcome, atMs }) => {
      const keys = [names.job(id), names.runningJobs, names.endedJobs];
      const values = [id, attempt, state, outcome, atMs, names.unfinishedJobs('')];
      return (await redis.script('endJob', keys, values)) === 1;
    },
    cancel: async ({ id, organizationId, outcome, atMs }) => {
      const keys = [names.job(id), names.queuedJobs, names.endedJobs, names.unfinishedJobs(organizationId)];
      const answer = await redis.script('cancelJob', keys, [id, organizationId, outcome, atMs]);
      return oneOf(['cancelled', 'asked', 'ended', 'unknown'], answer);
    },
    unfinished: (organizationId) => redis.run((client) => client.scard(names.unfinishedJobs(organizationId))),
    find: async ({ id, organizationId }) => {
      const job = await read(id);
      return job?.organizationId === organizationId ? job : null;
    },
    list: async ({ organizationId, keyId = null, offset, limit }) => {
      const name = names.jobsOf(organizationId, keyId);
      const ids = await redis.run((client) =>
        client.zrange(name, String(offset), String(offset + limit - 1)),
      );
      const jobs = await Promise.all(ids.map(read));
      return jobs.filter((job) => job !== null).filter((job) => job.organizationId === organizationId);
    },
    forget: async ({ endedUntilMs, limit }) => {
      const values = [endedUntilMs, limit, names.job(''), names.jobsOf('', null), names.jobsOf('', '')];
      return Number(await redis.script('forgetJobs', [names.endedJobs], values));
    },
  };
}

function jobOf(id: string, fields: ReadonlyMap<string, string>): JobRecord {
  const number = (name: string): number | null => nullable(numberOf, fields.get(name));
  const text = (name: string): string | null => nullable(textOf, fields.get(name));
  return {
    id,
    organizationId: textOf(fields.get('organizationId')),
    request: textOf(fields.get('request')),
    createdAtMs: numberOf(fields.get('createdAtMs')),
    state: oneOf(JOB_STATES, fields.get('state')),
    attempt: numberOf(fields.get('attempt')),
    leaseUntilMs: number('leaseUntilMs'),
    startedAtMs: number('startedAtMs'),
    endedAtMs: number('endedAtMs'),
    cancelAtMs: number('cancelAtMs'),
    progress: text('progress'),
    resultId: text('resultId'),
    outcome: text('outcome'),
  };
}

export function redisResults(redis: RedisConnection, names: Names): ResultStore {
  const read = async (id: string): Promise<ResultRecord | null> => {
    const fields = await redis.run((client) => client.hgetall(names.result(id)));
    return fields['queryKey'] === undefined ? null : resultOf(id, new Map(Object.entries(fields)));
  };
  const readAll = async (ids: readonly string[]): Promise<readonly ResultRecord[]> =>
    (await Promise.all(ids.map(read))).filter((result) => result !== null);
  return {
    add: async ({ id, queryKey, organizationId, createdAtMs, expiresAtMs, bytes, facts }) => {
      const keys = [
        names.result(id),
        names.resultReaders(id),
        names.resultsOfQuery(queryKey),
        names.expiringResults,
        ...(organizationId === null ? [] : [names.resultsOf(organizationId)]),
      ];
      const values = [id, queryKey, createdAtMs, -createdAtMs, expiresAtMs, bytes, facts];
      const owner = organizationId === null ? [] : [organizationId];
      return oneOf(['added', 'replayed'], await redis.script('addResult', keys, [...values, ...owner]));
    },
    allow: async ({ id, organizationId }) => {
      const keys = [names.result(id), names.resultReaders(id)];
      return (await redis.script('allowResult', keys, [organizationId])) === 1;
    },
    find: async ({ id, nowMs }) => {
      const result = await read(id);
      return result !== null && result.expiresAtMs > nowMs ? result : null;
    },
    mayRead: async ({ id, organizationId }) =>
      (await redis.run((client) => client.sismember(names.resultReaders(id), organizationId))) === 1,
    newest: async ({ queryKey, createdFromMs, nowMs }) => {
      const name = names.resultsOfQuery(queryKey);
      const ids = await redis.run((client) => client.zrevrangebyscore(name, '+inf', createdFromMs));
      for (const id of ids) {
        const result = await read(id);
        if (result !== null && result.expiresAtMs > nowMs) return result;
      }
      return null;
    },
    paidBy: async ({ organizationId, limit }) => {
      const name = names.resultsOf(organizationId);
      return readAll(await redis.run((client) => client.zrange(name, '0', String(limit - 1))));
    },
    expired: async ({ nowMs, limit }) => {
      const name = names.expiringResults;
      return readAll(
        await redis.run((client) => client.zrangebyscore(name, '-inf', nowMs, 'LIMIT', 0, limit)),
      );
    },
    remove: async (id) => {
      const keys = [names.result(id), names.resultReaders(id), names.expiringResults];
      await redis.script('removeResult', keys, [id, names.resultsOfQuery(''), names.resultsOf('')]);
    },
  };
}

function resultOf(id: string, fields: ReadonlyMap<string, string>): ResultRecord {
  return {
    id,
    queryKey: textOf(fields.get('queryKey')),
    organizationId: nullable(textOf, fields.get('organizationId')),
    createdAtMs: numberOf(fields.get('createdAtMs')),
    expiresAtMs: numberOf(fields.get('expiresAtMs')),
    bytes: numberOf(fields.get('bytes')),
    facts: textOf(fields.get('facts')),
  };
}
