import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import type { Log } from '../../core/log.ts';
import { publishedPass } from '../coordinate/fence.ts';
import { untilAcknowledged } from '../write/until-acknowledged.ts';
import { type CatalogueHolder, createCatalogueHolder } from './catalogue-holder.ts';
import { readPublishedCatalogue } from './publish.ts';

/** The catalogue that one process publishes for all (ingest/regrade/follow-catalogue.ts), for those that grade by it. */
export interface PublishedCatalogue {
  readonly holder: CatalogueHolder;
  /** Follows every change until the signal aborts, with its reason. */
  follow(): Promise<never>;
}

/** How soon a new catalogue is taken up: until then the engine refuses rows of the old one. */
const LOOK_EVERY_MS = 250;

/** Waits until one has been published. */
export async function openPublishedCatalogue(deps: {
  readonly writer: Writer;
  readonly log: Log;
  readonly signal: AbortSignal;
}): Promise<PublishedCatalogue> {
  const { writer, log, signal } = deps;
  const acknowledged = <T>(attempt: () => Promise<T>): Promise<T> => untilAcknowledged(log, signal, attempt);
  const passAfter = async (known: bigint | null): Promise<bigint> => {
    for (;;) {
      const pass = await acknowledged(() => publishedPass(writer));
      if (pass !== null && (known === null || pass > known)) return pass;
      await delay(LOOK_EVERY_MS, undefined, { signal });
    }
  };
  /**
   * The number first and then the tables: they hold at least what that pass has published. If a later one is being published
   * just now, what is read may be a mixture; then its number is the old one, and rows graded by it are refused or swept.
   */
  const read = () => acknowledged(() => readPublishedCatalogue(writer));
  let pass = await passAfter(null);
  const holder = createCatalogueHolder(await read(), pass);
  return {
    holder,
    async follow() {
      for (;;) {
        pass = await passAfter(pass);
        // Nobody needs to wait for what the old one graded: the engine refuses it, or the regrade waits for it.
        void holder.replace(await read(), pass);
        log.info({ pass: String(pass) }, 'a newer catalogue is in force');
      }
    },
  };
}
