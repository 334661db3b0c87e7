import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql, trustedText } from '../../clickhouse/engine/sql.ts';
import { loadConfig } from '../../core/config/load.ts';
import type { BackupDeps } from '../../src/operate/backup/backup.ts';
import { groupOf } from '../../src/operate/backup/engine.ts';
import { testLog } from './engine.ts';

/** What the two commands are given by the program, with the lines that they say. */
export interface TestBackup {
  readonly deps: BackupDeps;
  readonly said: string[];
}

export function testBackup(file: string): TestBackup {
  const said: string[] = [];
  return {
    said,
    deps: {
      config: loadConfig({ file, env: {} }),
      log: testLog,
      program: 'test',
      signal: new AbortController().signal,
      isTerminal: false,
      say: (line) => said.push(line),
    },
  };
}

/** What every table of a backup holds, stored rows and all, in an order that parts do not change. */
export async function contentsOf(writer: Writer): Promise<unknown> {
  const { rows: tables } = await writer.rows({
    name: 'test-tables',
    sql: sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' ORDER BY name`,
    maxSeconds: 30,
    maxRows: 1_000,
  });
  const counted = tables
    .filter(([name]) => groupOf(String(name)) !== null)
    .map(
      ([name]) =>
        `SELECT '${String(name)}', count(), sum(cityHash64(*)) FROM ${String(name)} ${isPlain(String(name)) ? '' : 'FINAL'}`,
    );
  const { rows } = await writer.rows({
    name: 'test-contents',
    sql: trustedText(`SELECT * FROM (${counted.join(' UNION ALL ')}) ORDER BY 1`),
    maxSeconds: 30,
    maxRows: 1_000,
  });
  return rows;
}

const PLAIN = [
  'agents_due',
  'catalogue_passes',
  'relayer_total_passes',
  'relayer_totals',
  'ring_passes',
  'wallet_rings',
];
const isPlain = (table: string): boolean => PLAIN.includes(table);
