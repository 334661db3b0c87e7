import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql, uint32 } from '../../clickhouse/engine/sql.ts';
import { UserError } from '../../core/user-error.ts';
import type { Catalogue } from '../grading/catalogue.ts';
import { catalogueChanges } from '../grading/catalogue-changes.ts';
import { readPublishedCatalogue } from '../grading/publish.ts';
import { highestPass, loadProgress, unfinishedPasses } from './passes.ts';
import type { SweepOutcome, SweepProgress } from './sweep.ts';

/** A worker writes its status every two seconds; this many missed ones mean that it is gone. */
const HEARTBEAT_MAX_AGE_SECONDS = 10;
const MAX_SECONDS = 30;
const LOOK_EVERY_MS = 500;
/** A worker looks at its files every second. */
const TAKE_UP_MAX_MS = 30_000;

/** Whether an ingest process writes to this database. */
export async function isIngestRunning(writer: Writer): Promise<boolean> {
  const { rows } = await writer.rows({
    name: 'ingest-heartbeat',
    sql: sql`SELECT count() FROM chain_status WHERE updated_at > now64(3) - toIntervalSecond(${uint32(HEARTBEAT_MAX_AGE_SECONDS)})`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  return Number(rows[0]?.[0]) > 0;
}

/**
 * Waits until the running service has published the catalogue and every row follows it. Null when the service ended before.
 * Throws `UserError` when it does not take the change up: its files say something else.
 */
export async function awaitService(deps: {
  readonly writer: Writer;
  readonly wanted: Catalogue;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: SweepProgress) => void;
}): Promise<SweepOutcome | null> {
  const { writer, wanted, signal, onProgress } = deps;
  const startedAt = performance.now();
  let seen = await look(writer, wanted);
  if (seen.isDone) return { pass: null, rowsChanged: 0 };
  for (let told = -1; !seen.isDone; seen = await look(writer, wanted)) {
    if (!(await isIngestRunning(writer))) return null;
    if (seen.isIgnored && performance.now() - startedAt > TAKE_UP_MAX_MS) {
      throw new UserError(
        'the running service does not take the catalogue up: it reads other files, or cannot read these (see its log)',
      );
    }
    if (seen.progress.rowsLookedAt !== told) onProgress({ ...seen.progress, etaSeconds: null });
    told = seen.progress.rowsLookedAt;
    await delay(LOOK_EVERY_MS, undefined, { signal });
  }
  return { pass: seen.progress.pass, rowsChanged: seen.progress.rowsChanged };
}

const NO_PROGRESS = { doneFrom: 0, rowsLookedAt: 0, rowsTotal: 0, rowsChanged: 0 };

async function look(writer: Writer, wanted: Catalogue) {
  // The passes after the catalogue: what is published was recorded before.
  const isTaken = catalogueChanges(await readPublishedCatalogue(writer), wanted).length === 0;
  const isSwept = (await unfinishedPasses(writer)).length === 0;
  const pass = await highestPass(writer);
  const progress = (await loadProgress(writer, pass)) ?? NO_PROGRESS;
  return { isDone: isTaken && isSwept, isIgnored: !isTaken && isSwept, progress: { ...progress, pass } };
}
