import type { Writer } from '../../../clickhouse/engine/engine.ts';
import type { Log } from '../../../core/log.ts';
import { untilAcknowledged } from '../../write/batch-writer.ts';
import { GRADES_SCOPE, raiseGrades } from '../../write/fence.ts';
import { waitForWrites } from '../../write/retract.ts';
import type { Versions } from '../../write/versions.ts';
import type { Catalogue } from '../catalogue.ts';
import { type CatalogueChange, catalogueChanges } from '../changes.ts';
import { publishCatalogue, readPublishedCatalogue } from '../published.ts';
import { batchesOf, markHours, type RegradeOrder, regradeBatch, sumOf, touchedHours } from './batch.ts';
import { recordedKeys, touchedBy } from './grade-sql.ts';
import {
  changedKinds,
  highestPass,
  isKeptByAll,
  loadProgress,
  type PassProgress,
  recordPass,
  saveProgress,
  unfinishedPasses,
} from './passes.ts';

/** A pass that was recorded and published; the rows have yet to follow it. */
export interface RecordedPass {
  /** Null when no grade depends on what changed. */
  readonly pass: number | null;
  readonly changes: readonly CatalogueChange[];
}

/**
 * Replaces the published catalogue. The pass is recorded before anything is published, so a crash between any two steps is safe: until
 * the sweep of the pass is finished (`sweepPasses`), every start repeats it with the catalogue published by then.
 *
 * `inUse` is the catalogue that this process grades by, if it grades: rows may follow it although it was never published, and then
 * change with it. `adopt` makes the process grade by the new one and resolves when no row graded by the old one is in flight.
 */
export async function changeCatalogue(
  deps: Omit<RegradeDeps, 'onProgress'>,
  wanted: Catalogue,
  inUse?: Catalogue,
  adopt: (catalogue: Catalogue) => Promise<void> = () => Promise.resolve(),
): Promise<RecordedPass> {
  const { writer, versions, log, signal } = deps;
  const acknowledged = <T>(attempt: () => Promise<T>): Promise<T> => untilAcknowledged(log, signal, attempt);
  const published = await acknowledged(() => readPublishedCatalogue(writer));
  const changes = distinct([
    ...catalogueChanges(published, wanted),
    ...(inUse === undefined ? [] : catalogueChanges(inUse, wanted)),
  ]);
  const pass = changes.length === 0 ? null : await acknowledged(() => recordPass(writer, changes));
  await adopt(wanted);
  await acknowledged(() => publishCatalogue(writer, wanted, versions.next()));
  // From here on the engine refuses what another process grades by an older one. Also when nothing changed: a predecessor may
  // have died before it came to this.
  const newest = pass ?? (await acknowledged(() => highestPass(writer)));
  await acknowledged(() => raiseGrades(writer, newest));
  if (pass !== null) log.info({ pass, ...countsOf(changes) }, 'catalogue changed');
  return { pass, changes };
}

/** The first change of a key counts: it starts at the published entry. */
function distinct(changes: readonly CatalogueChange[]): CatalogueChange[] {
  const found = new Map<string, CatalogueChange>();
  for (const change of changes) if (!found.has(keyOf(change))) found.set(keyOf(change), change);
  return [...found.values()];
}

function keyOf(change: CatalogueChange): string {
  return change.kind === 'code' ? `code ${change.code}` : `${change.kind} ${change.chain} ${change.address}`;
}

function countsOf(changes: readonly CatalogueChange[]) {
  const count = (kind: CatalogueChange['kind']) => changes.filter((change) => change.kind === kind).length;
  return {
    relayers: count('relayer'),
    payees: count('payee'),
    codes: count('code'),
  };
}

export interface RegradeDeps {
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** After every batch. */
  readonly onProgress?: (progress: SweepProgress) => void;
}

export interface SweepProgress extends PassProgress {
  readonly pass: number;
  /** Null while there is no rate. */
  readonly etaSeconds: number | null;
}

export interface SweepOutcome {
  /** The newest pass that is finished now; null when none was open. */
  readonly pass: number | null;
  readonly rowsChanged: number;
}

/**
 * Regrades the rows for all unfinished passes at once, under the number of the newest. `own` names the passes that this process has
 * recorded and no process has begun; for any other the sweep assumes that a predecessor died in the middle.
 *
 * Nothing graded by an older catalogue may be written any more when this is called (CatalogueHolder.replace).
 */
export async function sweepPasses(deps: RegradeDeps, own: readonly number[] = []): Promise<SweepOutcome> {
  const { writer, log, signal } = deps;
  const acknowledged = <T>(attempt: () => Promise<T>): Promise<T> => untilAcknowledged(log, signal, attempt);
  const passes = await acknowledged(() => unfinishedPasses(writer));
  const [oldest, pass] = [passes[0], passes.at(-1)];
  if (oldest === undefined || pass === undefined) return { pass: null, rowsChanged: 0 };
  await acknowledged(() => waitForWrites(writer, GRADES_SCOPE, signal));
  const kinds = await acknowledged(() => changedKinds(writer, passes));
  const order: RegradeOrder = {
    pass,
    touched: touchedBy([recordedKeys(passes, kinds)]),
    repeatFrom: passes.every((number) => own.includes(number)) ? null : oldest,
  };
  const stored = await acknowledged(() => loadProgress(writer, pass));
  const hours = await acknowledged(() => touchedHours(writer, order, stored?.doneFrom ?? null));
  let progress: PassProgress = {
    doneFrom: stored?.doneFrom ?? hours[0]?.hour ?? 0,
    rowsLookedAt: stored?.rowsLookedAt ?? 0,
    rowsTotal: (stored?.rowsLookedAt ?? 0) + sumOf(hours, 'touched'),
    rowsChanged: stored?.rowsChanged ?? 0,
    isKept: await acknowledged(() => isKeptByAll(writer, passes)),
  };
  const startedAt = performance.now();
  const lookedAtBefore = progress.rowsLookedAt;
  for (const batch of batchesOf(hours)) {
    signal.throwIfAborted();
    let attempts = 0;
    await acknowledged(() =>
      regradeBatch(writer, attempts++ === 0 ? order : { ...order, repeatFrom: oldest }, batch),
    );
    // Rows first, then the mark, then the progress: the order that makes a crash harmless.
    await acknowledged(() => markHours(writer, batch.hours, deps.versions.next()));
    progress = {
      ...progress,
      doneFrom: batch.from,
      rowsLookedAt: progress.rowsLookedAt + batch.touched,
      rowsChanged: progress.rowsChanged + batch.stale,
    };
    const reached = progress;
    await acknowledged(() => saveProgress(writer, [pass], reached, deps.versions.next(), false));
    const elapsedSeconds = (performance.now() - startedAt) / 1_000;
    deps.onProgress?.({ ...reached, pass, etaSeconds: etaOf(reached, lookedAtBefore, elapsedSeconds) });
  }
  const final = { ...progress, rowsLookedAt: progress.rowsTotal };
  await acknowledged(() => saveProgress(writer, passes, final, deps.versions.next(), true));
  log.info({ pass, rowsChanged: final.rowsChanged, rowsLookedAt: final.rowsLookedAt }, 'regrade done');
  return { pass, rowsChanged: final.rowsChanged };
}

function etaOf(progress: PassProgress, before: number, elapsedSeconds: number): number | null {
  const done = progress.rowsLookedAt - before;
  if (done <= 0 || elapsedSeconds <= 0) return null;
  return Math.ceil(((progress.rowsTotal - progress.rowsLookedAt) * elapsedSeconds) / done);
}
