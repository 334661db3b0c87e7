import { randomUUID } from 'node:crypto';
import { text as readText } from 'node:stream/consumers';
import type { EngineAccess, Guest, GuestStatement, Row } from './engine.ts';
import { engineErrorOf } from './engine-error.ts';
import { connect } from './http-engine.ts';
import { publicDatabaseOf } from './public-database.ts';

/** The guest's port over HTTP: its own user, its own connections, the public database as the default one. */

const GUEST_CONNECTIONS_MAX = 32;
/** The engine's own limit fires first; this one is for an engine that does not answer at all. */
const CLIENT_GRACE_MS = 3_000;

export function createGuest(access: EngineAccess): Guest {
  const client = connect(
    { ...access, database: publicDatabaseOf(access.database) },
    access.guest,
    GUEST_CONNECTIONS_MAX,
  );
  const exec = async ({ text, parameters }: GuestStatement, signal: AbortSignal): Promise<string> => {
    const { stream } = await client.exec({
      query: text,
      ...(parameters === undefined ? {} : { query_params: parameters }),
      query_id: randomUUID(),
      abort_signal: signal,
      // Not settings, which a guest may not send, but words of the HTTP interface.
      clickhouse_settings: { default_format: 'JSONCompactEachRow', wait_end_of_query: 1 },
    });
    return readText(stream);
  };
  return {
    async explain(statement, caller) {
      const timeout = AbortSignal.timeout(statement.maxSeconds * 1_000 + CLIENT_GRACE_MS);
      const either = caller === undefined ? timeout : AbortSignal.any([timeout, caller]);
      try {
        return (await exec(statement, either)).split('\n').filter(Boolean).map(readRow);
      } catch (error) {
        throw engineErrorOf(error, statement.name, { timeout, caller });
      }
    },
    query: () => Promise.reject(new Error('queries are not run yet')),
    close: () => client.close(),
  };
}

function readRow(line: string): Row {
  return JSON.parse(line) as Row; // one array a line, by the format that was asked for
}
