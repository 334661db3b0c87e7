import { openParquet } from '../../src/bundles/parquet.ts';
import type { RowValues } from '../../src/bundles/rows.ts';
import { directoryStore } from '../../src/bundles/store.ts';
import type { BundleTable } from '../../src/bundles/tables.ts';
import type { BundleWorld } from './bundles.ts';
import { BASE } from './rows.ts';

/** Every row of a file of Base. */
export async function rowsOfFile(world: BundleWorld, table: BundleTable, file: string): Promise<RowValues[]> {
  const stored = await directoryStore(world.config.bundles.dir).open({ chain: BASE, table, file });
  if (stored === null) throw new Error(`no ${file}`);
  const { rows } = await openParquet(stored, table);
  const all: RowValues[] = [];
  for await (const row of rows()) all.push(row);
  return all;
}
