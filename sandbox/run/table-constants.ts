import type { EngineError, Reader, TableConstants } from '../../clickhouse/engine/engine.ts';
import { CONSTANTS_QUERY, readConstants } from '../../clickhouse/guest/views/current.ts';
import type { SandboxQuery } from '../sandbox.ts';

/** The database that has `settlements` with constants has no other table. */
export function needsConstants({ accepted: { tables }, asOf }: Pick<SandboxQuery, 'accepted' | 'asOf'>) {
  return asOf === undefined && tables.length === 1 && tables[0] === 'settlements';
}

/** What queries over `settlements` bring along, read at most once a second and by one query at a time. */
export type Constants = () => Promise<TableConstants | null>;

/** A row that is written to a copied month shows that much later, like every figure of the API (docs/design/scale.md). */
const KEPT_MS = 1_000;
const READ_SECONDS = 2;

/** Null where they cannot be read: the views then look them up. */
export function createConstants(reader: Pick<Reader, 'rows'>): Constants {
  let known: { readonly until: number; readonly constants: Promise<TableConstants | null> } | undefined;
  const read = async (): Promise<TableConstants | null> => {
    const statement = { name: 'sql-constants', sql: CONSTANTS_QUERY, maxSeconds: READ_SECONDS, maxRows: 1 };
    const { rows } = await reader.rows(statement);
    return rows[0] === undefined ? null : readConstants(rows[0]);
  };
  return () => {
    const now = performance.now();
    if (known === undefined || now > known.until) {
      const constants = read().catch((_: EngineError) => null);
      known = { until: now + KEPT_MS, constants };
    }
    return known.constants;
  };
}
