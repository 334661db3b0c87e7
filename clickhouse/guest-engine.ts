import { randomUUID } from 'node:crypto';
import { text as readText } from 'node:stream/consumers';
import type { EngineAccess, Guest, GuestStatement, Row } from './engine.ts';
import { engineErrorOf } from './engine-error.ts';
import { createGuestHttp } from './guest-http.ts';
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
  const http = createGuestHttp(access);
  const exec = async (
    { text, parameters, maxSeconds }: GuestStatement,
    signal: AbortSignal,
  ): Promise<string> => {
    const { stream } = await client.exec({
      query: text,
      query_id: randomUUID(),
      abort_signal: signal,
      // Words of the HTTP interface, and the one setting of the two that a guest may send.
      clickhouse_settings: {
        default_format: 'JSONCompactEachRow',
        wait_end_of_query: 1,
        max_execution_time: maxSeconds,
        // Not as `query_params`: the client would escape what is already as the engine reads it.
        ...onTheWire(parameters ?? {}),
      },
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
    query: (query, signal) => http.run(query, signal),
    async close() {
      http.close();
      await client.close();
    },
  };
}

function onTheWire(parameters: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [`param_${name}`, value]));
}

function readRow(line: string): Row {
  return JSON.parse(line) as Row; // one array a line, by the format that was asked for
}
