import type { EngineAccess, QueryKiller } from './engine.ts';
import { createWriter } from './http-engine.ts';
import { sql, text } from './sql.ts';

const KILL_SECONDS = 5;

/** With the writer's credentials: a guest may not even look at its own queries. */
export function createQueryKiller(access: EngineAccess): QueryKiller {
  const writer = createWriter(access);
  const { user } = access.guest;
  return {
    kill: (queryId) =>
      writer.run({
        name: 'kill-query',
        sql: sql`KILL QUERY WHERE query_id = ${text(queryId)} AND user = ${text(user)} ASYNC`,
        maxSeconds: KILL_SECONDS,
      }),
    async isRunning(queryId) {
      const { rows } = await writer.rows({
        name: 'is-query-running',
        sql: sql`SELECT count() > 0 FROM system.processes WHERE query_id = ${text(queryId)} AND user = ${text(user)}`,
        maxSeconds: KILL_SECONDS,
        maxRows: 1,
      });
      return Number(rows[0]?.[0]) === 1;
    },
    close: () => writer.close(),
  };
}
