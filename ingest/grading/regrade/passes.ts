import { randomUUID } from 'node:crypto';
import { claimNumber } from '../../../clickhouse/engine/claim.ts';
import type { Writer } from '../../../clickhouse/engine/engine.ts';
import { RowBinary } from '../../../clickhouse/engine/row-binary.ts';
import { sql, text, uint32 } from '../../../clickhouse/engine/sql.ts';
import { TABLES } from '../../../clickhouse/tables/schema.ts';
import type { CatalogueChange } from '../changes.ts';

/**
 * Passes: the numbered changes of the catalogue, and how far the rows have been regraded for each. A pass is recorded before the
 * catalogue tables change, so that a crash at any moment leaves either tables that match the rows or an unfinished pass.
 */

const MAX_SECONDS = 30;
/** More would mean that no pass ever finishes. */
const UNFINISHED_PASSES_MAX = 10_000;
/** The smallest: versions leave little room for the numbers of passes (ingest/write/versions.ts). */
const STEP_MAX = 1;
const NO_ADDRESS = `0x${'00'.repeat(20)}`;
const CHANGE_COLUMNS = ['pass', 'kind', 'chain', 'address', 'code'] as const;
/** Codes of the Enum8 in catalogue_changes. */
const KIND = { relayer: 1, payee: 2, code: 3, deposit: 4 } as const;

/** Records a pass over the changed keys and answers its number, higher than every one before. */
export async function recordPass(writer: Writer, changes: readonly CatalogueChange[]): Promise<number> {
  const pass = await claimPass(writer);
  const out = new RowBinary();
  for (const change of changes) {
    out.u32(pass).u8(KIND[change.kind]);
    if (change.kind === 'code') out.string('').hex20(NO_ADDRESS).string(change.code);
    else if (change.kind === 'deposit') out.string('').hex20(change.address).string('');
    else out.string(change.chain).hex20(change.address).string('');
  }
  await writer.insert('record-pass', TABLES.catalogueChanges, CHANGE_COLUMNS, [out.finish()]);
  return pass;
}

/** A number that no other process has, above every one before. */
async function claimPass(writer: Writer): Promise<number> {
  const owner = randomUUID();
  const pass = await claimNumber(
    {
      highest: async () => BigInt(await highestPass(writer)),
      claim: (number) =>
        writer.run({
          name: 'claim-pass',
          sql: sql`INSERT INTO catalogue_passes (pass, owner) SELECT ${uint32(Number(number))}, ${text(owner)}`,
          maxSeconds: MAX_SECONDS,
        }),
      async isClaimedByOthers(number) {
        const { rows } = await writer.rows({
          name: 'claimed-pass',
          sql: sql`SELECT count() FROM catalogue_passes WHERE pass = ${uint32(Number(number))} AND owner != ${text(owner)}`,
          maxSeconds: MAX_SECONDS,
          maxRows: 1,
        });
        return Number(rows[0]?.[0]) > 0;
      },
    },
    { stepMax: STEP_MAX },
  );
  if (pass === null) throw new Error('no number for a catalogue pass: other processes claim them all');
  return Number(pass);
}

/** 0 when there was none yet. */
export async function highestPass(writer: Writer): Promise<number> {
  const { rows } = await writer.rows({
    name: 'highest-pass',
    sql: sql`SELECT max(pass) FROM catalogue_passes`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  return Number(rows[0]?.[0] ?? 0);
}

/** Numbers of the passes that rows have not followed to the end, ascending. */
export async function unfinishedPasses(writer: Writer): Promise<number[]> {
  const { rows } = await writer.rows({
    name: 'unfinished-passes',
    sql: sql`SELECT DISTINCT pass FROM catalogue_passes
      WHERE pass NOT IN (SELECT pass FROM (SELECT * FROM regrade_progress FINAL) WHERE finished = 1) ORDER BY pass`,
    maxSeconds: MAX_SECONDS,
    maxRows: UNFINISHED_PASSES_MAX,
  });
  return rows.map(([pass]) => Number(pass));
}

export interface PassProgress {
  /** Unix seconds: every row from this hour on is done. */
  readonly doneFrom: number;
  readonly rowsLookedAt: number;
  readonly rowsTotal: number;
  readonly rowsChanged: number;
}

/** Null when nothing of the pass has been done. */
export async function loadProgress(writer: Writer, pass: number): Promise<PassProgress | null> {
  const { rows } = await writer.rows({
    name: 'load-regrade-progress',
    sql: sql`SELECT toUnixTimestamp(done_from), rows_looked_at, rows_total, rows_changed
      FROM regrade_progress FINAL WHERE pass = ${uint32(pass)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  const [row] = rows;
  if (row === undefined) return null;
  const [doneFrom = 0, rowsLookedAt = 0, rowsTotal = 0, rowsChanged = 0] = row.map(Number);
  return { doneFrom, rowsLookedAt, rowsTotal, rowsChanged };
}

const PROGRESS_COLUMNS = [
  'pass',
  'done_from',
  'rows_looked_at',
  'rows_total',
  'rows_changed',
  'finished',
  'ver',
] as const;

/** `passes` are written alike: a sweep for the newest of them answers for all. */
export async function saveProgress(
  writer: Writer,
  passes: readonly number[],
  progress: PassProgress,
  ver: bigint,
  finished: boolean,
): Promise<void> {
  const out = new RowBinary();
  for (const pass of passes) {
    out.u32(pass).u32(progress.doneFrom);
    out.u64(BigInt(progress.rowsLookedAt)).u64(BigInt(progress.rowsTotal)).u64(BigInt(progress.rowsChanged));
    out.u8(finished ? 1 : 0).u64(ver);
  }
  await writer.insert('save-regrade-progress', TABLES.regradeProgress, PROGRESS_COLUMNS, [out.finish()]);
}
