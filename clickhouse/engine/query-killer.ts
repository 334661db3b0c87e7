import type { EngineAccess, QueryKiller } from './engine.ts';
import { createWriter } from './http-engine.ts';
import { nodesOf } from './nodes.ts';
import { sql, text } from './sql.ts';

const KILL_SECONDS = 5;

/**
 * Uses the writer's credentials: a guest may not even see its own queries. On a cluster it asks every node, because any of them may
 * be the initiator; its sub-queries on the others end with it. The statements of one run share the beginning of their ids.
 */
export function createQueryKiller(access: EngineAccess): QueryKiller {
  const writers = (access.cluster === undefined ? [access] : nodesOf(access)).map((node) =>
    createWriter(node),
  );
  const { user } = access.guest;
  return {
    async kill(queryId) {
      const statement = {
        name: 'kill-query',
        sql: sql`KILL QUERY WHERE startsWith(query_id, ${text(queryId)}) AND user = ${text(user)} ASYNC`,
        maxSeconds: KILL_SECONDS,
      };
      await Promise.all(writers.map((writer) => writer.run(statement)));
    },
    async isRunning(queryId) {
      const statement = {
        name: 'is-query-running',
        sql: sql`SELECT count() > 0 FROM system.processes WHERE startsWith(query_id, ${text(queryId)}) AND user = ${text(user)}`,
        maxSeconds: KILL_SECONDS,
        maxRows: 1,
      };
      const answers = await Promise.all(writers.map((writer) => writer.rows(statement)));
      return answers.some(({ rows }) => Number(rows[0]?.[0]) === 1);
    },
    async progress(queryId) {
      const statement = {
        name: 'query-progress',
        sql: sql`SELECT sum(read_rows), sum(read_bytes), sum(greatest(total_rows_approx, read_rows)), max(elapsed), sum(ProfileEvents['UserTimeMicroseconds'] + ProfileEvents['SystemTimeMicroseconds']), sum(memory_usage) FROM system.processes WHERE startsWith(query_id, ${text(queryId)}) AND user = ${text(user)} HAVING count() > 0`,
        maxSeconds: KILL_SECONDS,
        maxRows: 1,
      };
      const answers = await Promise.all(writers.map((writer) => writer.rows(statement)));
      const found = answers.flatMap(({ rows }) => rows);
      if (found.length === 0) return null;
      const most = (at: number): number => Math.max(...found.map((row) => Number(row[at])));
      return {
        readRows: most(0),
        readBytes: most(1),
        totalRows: most(2),
        elapsedMs: most(3) * 1_000,
        cpuMs: most(4) / 1_000,
        memoryBytes: most(5),
      };
    },
    async close() {
      await Promise.all(writers.map((writer) => writer.close()));
    },
  };
}
