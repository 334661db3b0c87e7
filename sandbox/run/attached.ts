import type { AttachedTable } from '../../clickhouse/engine/engine.ts';
import { attachedName, OWN_DATABASE } from '../../core/domain/own-table.ts';
import type { OwnTable } from '../policy/own-tables.ts';
import { structureOf } from '../results/kept-form.ts';
import { QueryFailed } from '../sandbox.ts';

/**
 * Own tables as they are sent with a statement. `withoutRows`: for questions that depend on names and types alone. Rejects with
 * `QueryFailed` where one was replaced or removed since the text was judged.
 */
export function attachedTables(
  tables: readonly OwnTable[] = [],
  { withoutRows = false } = {},
): Promise<AttachedTable[]> {
  return Promise.all(
    tables.map(async (table) => ({
      name: attachedName(table),
      format: 'Native',
      structure: structureOf(table.columns),
      bytes: withoutRows ? Buffer.alloc(0) : ((await table.read()) ?? gone(table)),
    })),
  );
}

function gone({ name }: OwnTable): never {
  throw new QueryFailed({
    reason: 'unknown_table',
    detail: `${OWN_DATABASE}.${name} was replaced or deleted since the query was checked.`,
    hint: 'Send the query again.',
    figures: null,
  });
}
