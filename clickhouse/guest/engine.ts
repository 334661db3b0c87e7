import { randomUUID } from 'node:crypto';
import { PUBLIC_TABLE_NAMES } from '../../core/domain/public-tables.ts';
import type { EngineAccess, Guest, GuestQuery, Row, WrittenAs } from '../engine/engine.ts';
import { engineErrorOf, withinSeconds } from '../engine/error.ts';
import { createGuestHttp, wholeAnswer } from './http.ts';
import { spillSettings } from './memory.ts';
import { snapshotSettings } from './views/as-of.ts';
import { currentSettings } from './views/current.ts';

/** Filters out every row of the public tables, so the engine reads none, even for subqueries that it computes while planning. */
const NO_ROWS = `{${PUBLIC_TABLE_NAMES.map((name) => `'${name}':'0'`).join(',')}}`;

/** The guest's port over HTTP: its own user and connections, with the public database as the default. */

export function createGuest(access: EngineAccess): Guest {
  const http = createGuestHttp(access);
  return {
    explain(
      { name, text, parameters = {}, maxSeconds, queryId = randomUUID(), attached = [], constants, ...shown },
      caller,
    ) {
      const words = {
        query_id: queryId,
        default_format: 'JSONCompactEachRow',
        max_execution_time: maxSeconds,
        ...(constants === undefined ? {} : currentSettings(access.database, constants)),
        ...(shown.withoutRows ? { additional_table_filters: NO_ROWS } : {}),
        ...(shown.showScalars ? { enable_scalar_subquery_optimization: 0 } : {}),
      };
      return withinSeconds(maxSeconds, caller, async (signals) => {
        const bytes = await http.ask({ name, text, parameters, words, attached }, signals);
        try {
          return rowsOf(bytes);
        } catch (error) {
          throw engineErrorOf(error, name, signals);
        }
      });
    },
    query(
      { name, text, parameters = {}, queryId, heldInMemory = false, written, asOf, constants, ...more },
      caller,
    ) {
      const { attached = [], ...bounds } = more;
      const words = {
        query_id: queryId,
        ...boundsOf(bounds),
        ...wholeAnswer(heldInMemory),
        ...written?.settings,
        ...(constants === undefined ? {} : currentSettings(access.database, constants)),
        ...(asOf === undefined ? {} : snapshotSettings(access.database, asOf)),
        ...(written?.compression === 'blocks' ? { compress: 1 } : {}),
      };
      // No deadline here: the watchdog's deadline arrives through the caller's signal.
      return http.send(
        { name, text, parameters, words, attached, ...codingOf(written) },
        { either: caller, caller },
      );
    },
    async close() {
      http.close();
    },
  };
}

function codingOf(written: WrittenAs | undefined): { readonly acceptEncoding?: string } {
  const compression = written?.compression ?? null;
  return compression === null || compression === 'blocks' ? {} : { acceptEncoding: compression };
}

function boundsOf({
  format,
  maxSeconds,
  maxRows,
  blockRows,
  threads,
  memoryBytes,
  hasLongKeys = false,
  diskBytes,
}: Pick<
  GuestQuery,
  'format' | 'maxSeconds' | 'maxRows' | 'blockRows' | 'threads' | 'memoryBytes' | 'hasLongKeys' | 'diskBytes'
>) {
  return {
    default_format: format,
    max_execution_time: maxSeconds,
    limit: maxRows,
    ...(blockRows === undefined ? {} : { max_block_size: blockRows }),
    ...(threads === undefined ? {} : { max_threads: threads }),
    ...(memoryBytes === undefined
      ? {}
      : { max_memory_usage: memoryBytes, ...spillSettings(memoryBytes, hasLongKeys) }),
    ...(diskBytes === undefined ? {} : { max_temporary_data_on_disk_size_for_query: diskBytes }),
  };
}

/** Throws where a line is not a row: the engine appends its error to an answer that has begun. All in one call: a tree has 20,000 lines. */
function rowsOf(bytes: Buffer): Row[] {
  return JSON.parse(`[${bytes.toString('utf8').trimEnd().replaceAll('\n', ',')}]`) as Row[]; // one array per line, by the requested format
}
