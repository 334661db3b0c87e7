import { randomUUID } from 'node:crypto';
import { claimNumber } from '../../../clickhouse/engine/claim.ts';
import type { Writer } from '../../../clickhouse/engine/engine.ts';
import { sql, text, uint32, uint64s } from '../../../clickhouse/engine/sql.ts';
import {
  CATALOGUE_CHANGES,
  REGRADE_PROGRESS,
  type RegradeProgressRow,
} from '../../../clickhouse/tables/catalogues.ts';
import { insertRows, reading } from '../../../clickhouse/tables/table.ts';
import { ZERO_ADDRESS } from '../../../core/domain/account.ts';
import type { CatalogueChange } from '../changes.ts';
import type { ChangedKind } from './grade-sql.ts';

/**
 * Passes: the numbered changes of the catalogue, and how far the rows have been regraded for each. A pass is recorded before the
 * catalogue tables change, so that a crash at any moment leaves either tables that match the rows or an unfinished pass.
 */

const MAX_SECONDS = 30;
/** More would mean that no pass ever finishes. */
const UNFINISHED_PASSES_MAX = 10_000;
const KIND = reading(CATALOGUE_CHANGES, ['kind']);
/** The smallest: versions leave little room for the numbers of passes (ingest/write/versions.ts). */
const STEP_MAX = 1;
/** What a kind of change has no use for. */
const EMPTY = { chain: '', address: ZERO_ADDRESS, code: '' };

/** Records a pass over the changed keys and answers its number, higher than every one before. */
export async function recordPass(writer: Writer, changes: readonly CatalogueChange[]): Promise<number> {
  const pass = await claimPass(writer);
  const rows = changes.map(({ before: _before, after: _after, ...key }) => ({ ...EMPTY, ...key }));
  await insertRows(writer, { name: 'record-pass', table: CATALOGUE_CHANGES, rows, fixed: { pass } });
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

/** The kinds of keys that these passes recorded. */
export async function changedKinds(writer: Writer, passes: readonly number[]): Promise<ChangedKind[]> {
  const { rows } = await writer.rows({
    name: 'changed-kinds',
    sql: sql`SELECT DISTINCT ${KIND.columns} FROM catalogue_changes WHERE has(${uint64s(passes)}, pass)`,
    maxSeconds: MAX_SECONDS,
    maxRows: UNFINISHED_PASSES_MAX,
  });
  return rows.map((row) => KIND.read(row).kind);
}

/** `doneFrom`: every row from this hour on is done. */
export type PassProgress = Omit<RegradeProgressRow, 'pass' | 'isFinished' | 'ver'>;

const PROGRESS = reading(REGRADE_PROGRESS, [
  'done_from',
  'rows_looked_at',
  'rows_total',
  'rows_changed',
  'kept',
]);

/** Null when nothing of the pass has been done. */
export async function loadProgress(writer: Writer, pass: number): Promise<PassProgress | null> {
  const { rows } = await writer.rows({
    name: 'load-regrade-progress',
    sql: sql`SELECT ${PROGRESS.columns} FROM regrade_progress FINAL WHERE pass = ${uint32(pass)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  const [row] = rows;
  return row === undefined ? null : PROGRESS.read(row);
}

/** Whether no pass of these was begun by a release that did not keep what it changed. */
export async function isKeptByAll(writer: Writer, passes: readonly number[]): Promise<boolean> {
  const { rows } = await writer.rows({
    name: 'kept-passes',
    sql: sql`SELECT countIf(kept = 0) FROM regrade_progress FINAL WHERE has(${uint64s(passes)}, pass)`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  return Number(rows[0]?.[0] ?? 0) === 0;
}

/** `passes` are written alike: a sweep for the newest of them answers for all. */
export function saveProgress(
  writer: Writer,
  passes: readonly number[],
  progress: PassProgress,
  ver: bigint,
  isFinished: boolean,
): Promise<void> {
  return insertRows(writer, {
    name: 'save-regrade-progress',
    table: REGRADE_PROGRESS,
    rows: passes.map((pass) => ({ pass })),
    fixed: { ...progress, isFinished, ver },
  });
}
