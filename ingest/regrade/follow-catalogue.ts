import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import type { Config } from '../../core/config/config.ts';
import type { Log } from '../../core/log.ts';
import type { Listings } from '../endpoints/configured-sources.ts';
import { createListedPayees, type ListedPayees } from '../endpoints/listed-payees.ts';
import type { Catalogue } from '../grading/catalogue.ts';
import { type CatalogueHolder, createCatalogueHolder } from '../grading/catalogue-holder.ts';
import { createCatalogueSources } from '../grading/catalogue-sources.ts';
import { readPublishedCatalogue } from '../grading/publish.ts';
import { createSignerWatch } from '../grading/signer-watch.ts';
import { untilAcknowledged } from '../write/until-acknowledged.ts';
import type { Versions } from '../write/versions.ts';
import { changeCatalogue } from './change-catalogue.ts';
import { highestPass } from './passes.ts';
import { type SweepProgress, sweepPasses } from './sweep.ts';

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
}

/** How soon a changed file is noticed; a look is two stat calls and a query of one number. */
const LOOK_EVERY_MS = 1_000;

/**
 * Publishes the catalogue of the files, so that nothing is graded by one that is not recorded, and answers what follows it.
 *
 * While an ingest process runs it alone changes the catalogue: the files that it reads are the truth, and what any other
 * process published meanwhile is changed back to them.
 */
export async function openCatalogue(deps: FollowCatalogueDeps): Promise<FollowedCatalogue> {
  const { config, writer, log, signal } = deps;
  const acknowledged = <T>(attempt: () => Promise<T>): Promise<T> => untilAcknowledged(log, signal, attempt);
  const sources = createCatalogueSources(config, log);
  const listed = deps.listed ?? createListedPayees();
  const signers = await createSignerWatch({ ...deps, facilitators: sources.facilitators });
  const published = await acknowledged(() => readPublishedCatalogue(writer));
  // A file that is broken at the moment of a restart must not unname everybody: what was published last stays in force.
  const first = sources.read(signers.known(), listed.current()) ?? published;
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
  /** The next catalogue of the files, or the same one when another process has changed what is published. */
  const nextCatalogue = async (seen: number): Promise<Catalogue> => {
    for (;;) {
      await delay(LOOK_EVERY_MS, undefined, { signal });
      const wanted = sources.read(signers.known(), listed.current());
      if (wanted !== null && !isSame(wanted, holder.current())) return wanted;
      if ((await acknowledged(() => highestPass(writer))) > seen) return holder.current();
    }
  };
  return {
    holder,
    listings: sources.listings,
    async follow() {
      const [never] = await Promise.all([followFiles(), signers.watch()]);
      return never;
    },
  };
}

function isSame(one: Catalogue, other: Catalogue): boolean {
  const spelled = ({ relayers, payees, builderCodes, deposits }: Catalogue) =>
    JSON.stringify([relayers, payees, [...builderCodes], deposits]);
  return one === other || spelled(one) === spelled(other);
}

function reportSweep(log: Log, { pass, doneFrom, etaSeconds, ...rows }: SweepProgress): void {
  const from = new Date(doneFrom * 1_000).toISOString();
  log.info({ pass, doneFrom: from, etaSeconds, ...rows }, 'regrade progress');
}
