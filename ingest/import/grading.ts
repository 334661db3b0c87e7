import type { Writer } from '../../clickhouse/engine/engine.ts';
import { type Sql, sql, trustedText } from '../../clickhouse/engine/sql.ts';
import {
  BUILDER_CODES,
  CATALOGUED_PAYEES,
  FACILITATOR_RELAYERS,
} from '../../clickhouse/tables/catalogues.ts';
import type { Config } from '../../core/config/config.ts';
import type { Log } from '../../core/log.ts';
import type { Catalogue } from '../grading/catalogue.ts';
import { readPublishedCatalogue, readPublishedListed } from '../grading/published.ts';
import { isIngestRunning } from '../grading/regrade/follow.ts';
import { changeCatalogue } from '../grading/regrade/regrade.ts';
import { createCatalogueSources } from '../grading/sources.ts';
import { loadSigners } from '../grading/supported.ts';
import { loadAccepted } from '../proposals/decisions.ts';
import type { Versions } from '../write/versions.ts';
import { importProblems } from './problem.ts';

/**
 * The catalogue that grades imported rows: the published one, as in the ingest process. That process may publish another one at any
 * moment and regrade the existing rows; rows that were graded by the old one must not land after that.
 */
export interface Grading {
  catalogue(): Catalogue;
  /**
   * Called after rows are acknowledged. True: the rows follow the published catalogue, or a sweep that has not begun will find them.
   * False: the catalogue changed during the load and has been read again, so the rows must be graded and written again.
   */
  isStillTrue(): Promise<boolean>;
}

const MAX_SECONDS = 30;

/**
 * While an ingest process runs, its published catalogue holds; without one, the catalogue of the files is published first, as
 * that process does at its start. A dry run publishes nothing.
 */
export async function openGrading(deps: {
  readonly config: Pick<Config, 'configFile' | 'catalogue'>;
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly dryRun: boolean;
}): Promise<Grading> {
  const { config, writer, log, dryRun } = deps;
  if (!(await isIngestRunning(writer))) {
    const [signers, listed] = [await loadSigners(writer), await readPublishedListed(writer)];
    const wanted = createCatalogueSources(config, log).read(
      signers,
      listed,
      await loadAccepted(writer, config.catalogue),
    );
    if (wanted === null)
      throw importProblems(['the catalogue of the configuration cannot be read (see above)']);
    if (dryRun) return { catalogue: () => wanted, isStillTrue: () => Promise.resolve(true) };
    await changeCatalogue(deps, wanted);
  }
  // The mark before the catalogue: a change between the two reads is then noticed later, not missed.
  let mark = await publishedMark(writer);
  let catalogue = await readPublishedCatalogue(writer);
  return {
    catalogue: () => catalogue,
    async isStillTrue() {
      const now = await publishedMark(writer);
      if (now === mark) return true;
      mark = now;
      catalogue = await readPublishedCatalogue(writer);
      return false;
    },
  };
}

/** Rises with every change of the published catalogue. */
async function publishedMark(writer: Writer): Promise<string> {
  const { rows } = await writer.rows({
    name: 'import-catalogue-mark',
    sql: sql`SELECT ${newest(FACILITATOR_RELAYERS.name)}, ${newest(CATALOGUED_PAYEES.name)}, ${newest(BUILDER_CODES.name)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  return (rows[0] ?? []).join();
}

function newest(table: string): Sql {
  return sql`(SELECT max(ver) FROM ${trustedText(table)})`;
}
