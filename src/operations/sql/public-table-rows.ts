import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { sql, texts, trustedText } from '../../../clickhouse/engine/sql.ts';
import { NODE_VIEWS } from '../../../clickhouse/guest/node-views.ts';
import { PUBLIC_TABLE_STORES } from '../../../clickhouse/guest/public-views.ts';
import type { Clock } from '../../../core/clock.ts';
import { PUBLIC_TABLE_NAMES, type PublicTableName } from '../../../core/domain/public-tables.ts';
import { ask } from '../read/ask.ts';
import { cached } from '../read/cached.ts';
import { integerField, textField } from '../read/decode.ts';

/** About how many rows each public table has, from the engine's own accounts: no table is read for it. */
export interface PublicTableRows {
  /** Rows as they are stored: a superseded version counts until it is merged away. */
  counts(): Promise<ReadonlyMap<PublicTableName, number>>;
}

const MAX_AGE_MS = 10_000;
const MAX_SECONDS = 5;
const STORES_MAX = 100;

export function createPublicTableRows(deps: {
  readonly reader: Reader;
  readonly clock: Clock;
}): PublicTableRows {
  return { counts: cached({ clock: deps.clock, maxAgeMs: MAX_AGE_MS, load: () => readCounts(deps.reader) }) };
}

async function readCounts(reader: Reader): Promise<ReadonlyMap<PublicTableName, number>> {
  const stores = PUBLIC_TABLE_NAMES.map((name) => PUBLIC_TABLE_STORES[name]).filter(
    (store) => store !== null,
  );
  const { rows } = await ask(reader, 'sql', {
    name: 'public-table-rows',
    maxSeconds: MAX_SECONDS,
    maxRows: STORES_MAX,
    sql: sql`SELECT table, sum(rows) FROM ${trustedText(NODE_VIEWS.parts)}
WHERE active AND database = currentDatabase() AND table IN ${texts(stores)} GROUP BY table`,
  });
  const stored = new Map(rows.map((row) => [textField(row[0]), integerField(row[1])]));
  return new Map(
    PUBLIC_TABLE_NAMES.map((name) => [name, stored.get(PUBLIC_TABLE_STORES[name] ?? '') ?? 0] as const),
  );
}
