import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../../clickhouse/engine/engine.ts';
import { sql, uint32 } from '../../../clickhouse/engine/sql.ts';
import type { Config } from '../../../core/config/config.ts';
import type { Log } from '../../../core/log.ts';
import { UserError } from '../../../core/user-error.ts';
import { createListedPayees, type ListedPayees } from '../../endpoints/activity.ts';
import type { Listings } from '../../endpoints/sources.ts';
import { createProposalWatch } from '../../proposals/decisions.ts';
import { untilAcknowledged } from '../../write/batch-writer.ts';
import type { Versions } from '../../write/versions.ts';
import { type Catalogue, type CatalogueHolder, createCatalogueHolder } from '../catalogue.ts';
import { catalogueChanges } from '../changes.ts';
import { readPublishedCatalogue } from '../published.ts';
import { createCatalogueSources } from '../sources.ts';
import { createSignerWatch } from '../supported.ts';
import { highestPass, loadProgress, unfinishedPasses } from './passes.ts';
import { changeCatalogue, type SweepOutcome, type SweepProgress, sweepPasses } from './regrade.ts';

/** The catalogue of an ingest process, for as long as it runs. */
export interface FollowedCatalogue {
  /** What rows are graded by. */
  readonly holder: CatalogueHolder;
  /** Where endpoints are listed, by the files as they were read last; null before the first reading. */
  listings(): Listings | null;
  /** Regrades what a predecessor left, then follows every change; until the signal aborts, with its reason. */
  follow(): Promise<never>;
}

export interface FollowCatalogueDeps {
  readonly config: Pick<Config, 'configFile' | 'catalogue' | 'chains'>;
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Payees of listed endpoints; a change of them is followed as one of the files is. */
  readonly listed?: ListedPayees;
  readonly lookEveryMs?: number;
}

/** How soon a changed file is noticed; a look is two stat calls. */
const LOOK_EVERY_MS = 1_000;
/** The engine is asked once in so many looks: what it says changes only where another process publishes as well. */
const LOOKS_PER_QUESTION = 5;

/**
 * Publishes the catalogue of the files, so that nothing is graded by an unrecorded one, and returns the object that follows changes.
 *
 * While an ingest process runs, only it changes the catalogue: its files are authoritative, and it reverts whatever another process
 * publishes at the same time.
 */
export async function openCatalogue(deps: FollowCatalogueDeps): Promise<FollowedCatalogue> {
  const { config, writer, log, signal, lookEveryMs = LOOK_EVERY_MS } = deps;
  const acknowledged = <T>(attempt: () => Promise<T>): Promise<T> => untilAcknowledged(log, signal, attempt);
  const sources = createCatalogueSources(config, log);
  const listed = deps.listed ?? createListedPayees();
  const signers = await createSignerWatch({ ...deps, facilitators: sources.facilitators });
  const proposals = await createProposalWatch(deps);
  const readSources = (): Catalogue | null =>
    sources.read(signers.known(), listed.current(), proposals.accepted());
  const published = await acknowledged(() => readPublishedCatalogue(writer));
  // A file that is broken during a restart must not remove every name: the last published catalogue stays in force.
  const first = readSources() ?? published;
  const begun = await changeCatalogue(deps, first);
  const holder = createCatalogueHolder(first);
  const ownOf = (pass: number | null): number[] => (pass === null ? [] : [pass]);

  const followFiles = async (): Promise<never> => {
    let own = ownOf(begun.pass);
    for (;;) {
      await sweepPasses({ ...deps, onProgress: (progress) => reportSweep(log, progress) }, own);
      const seen = await acknowledged(() => highestPass(writer));
      const wanted = await nextCatalogue(seen);
      const { pass } = await changeCatalogue(deps, wanted, holder.current(), (next) => holder.replace(next));
      own = ownOf(pass);
    }
  };
  /** The next catalogue of the files, or the same one when another process has changed the published one. */
  const nextCatalogue = async (seen: number): Promise<Catalogue> => {
    for (let look = 1; ; look++) {
      await delay(lookEveryMs, undefined, { signal });
      const wanted = readSources();
      if (wanted !== null && !isSame(wanted, holder.current())) return wanted;
      if (look % LOOKS_PER_QUESTION > 0) continue;
      if ((await acknowledged(() => highestPass(writer))) > seen) return holder.current();
    }
  };
  return {
    holder,
    listings: sources.listings,
    async follow() {
      const [never] = await Promise.all([followFiles(), signers.watch(), proposals.watch()]);
      return never;
    },
  };
}

function isSame(one: Catalogue, other: Catalogue): boolean {
  const spelled = ({ relayers, payees, builderCodes }: Catalogue) =>
    JSON.stringify([relayers, payees, [...builderCodes]]);
  return one === other || spelled(one) === spelled(other);
}

function reportSweep(log: Log, { pass, doneFrom, etaSeconds, ...rows }: SweepProgress): void {
  const from = new Date(doneFrom * 1_000).toISOString();
  log.info({ pass, doneFrom: from, etaSeconds, ...rows }, 'regrade progress');
}

/** A worker writes its status every two seconds; this many missed ones mean that it is gone. */
const HEARTBEAT_MAX_AGE_SECONDS = 10;
const MAX_SECONDS = 30;
const AWAIT_EVERY_MS = 500;
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
  for (let reported = -1; !seen.isDone; seen = await look(writer, wanted)) {
    if (!(await isIngestRunning(writer))) return null;
    if (seen.isIgnored && performance.now() - startedAt > TAKE_UP_MAX_MS) {
      throw new UserError(
        'the running service does not take the catalogue up: it reads other files, or cannot read these (see its log)',
      );
    }
    if (seen.progress.rowsLookedAt !== reported) onProgress({ ...seen.progress, etaSeconds: null });
    reported = seen.progress.rowsLookedAt;
    await delay(AWAIT_EVERY_MS, undefined, { signal });
  }
  return { pass: seen.progress.pass, rowsChanged: seen.progress.rowsChanged };
}

const NO_PROGRESS = { doneFrom: 0, rowsLookedAt: 0, rowsTotal: 0, rowsChanged: 0, isKept: true };

async function look(writer: Writer, wanted: Catalogue) {
  // The passes after the catalogue: the published catalogue was recorded before.
  const isTaken = catalogueChanges(await readPublishedCatalogue(writer), wanted).length === 0;
  const isSwept = (await unfinishedPasses(writer)).length === 0;
  const pass = await highestPass(writer);
  const progress = (await loadProgress(writer, pass)) ?? NO_PROGRESS;
  return { isDone: isTaken && isSwept, isIgnored: !isTaken && isSwept, progress: { ...progress, pass } };
}
