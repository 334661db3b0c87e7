import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql, trustedText } from '../../clickhouse/engine/sql.ts';
import {
  BUILDER_CODES,
  CATALOGUED_PAYEES,
  FACILITATOR_RELAYERS,
} from '../../clickhouse/tables/catalogues.ts';
import { insertRows, type Reading, reading, type Table } from '../../clickhouse/tables/table.ts';
import type { PayeeConfig } from '../../core/config/catalogue.ts';
import type { Log } from '../../core/log.ts';
import { untilAcknowledged } from '../write/batch-writer.ts';
import { publishedPass } from '../write/fence.ts';
import { type Catalogue, type CatalogueHolder, catalogueOf, createCatalogueHolder } from './catalogue.ts';

/** A catalogue is read whole; a larger table cannot be ours. */
const catalogueRowsMax = 1_000_000;
const readTimeoutSeconds = 30;

const RELAYERS = catalogued(
  FACILITATOR_RELAYERS,
  reading(FACILITATOR_RELAYERS, [
    'chain',
    'address',
    'facilitator',
    'facilitator_name',
    'first_seen',
    'source',
  ]),
  2,
);
const PAYEES = catalogued(
  CATALOGUED_PAYEES,
  reading(CATALOGUED_PAYEES, ['chain', 'address', 'name', 'resource', 'source']),
  2,
);
const CODES = catalogued(BUILDER_CODES, reading(BUILDER_CODES, ['code', 'facilitator']), 1);

/**
 * Makes the engine's catalogue tables equal to the catalogue: writes new or changed entries with `ver`, tombstones removed ones, and
 * leaves the rest alone. Repeating it writes nothing. `ver` must be above every `ver` published before.
 *
 * Grades follow only when a pass was recorded before (ingest/grading/regrade/regrade.ts).
 */
export async function publishCatalogue(writer: Writer, catalogue: Catalogue, ver: bigint): Promise<void> {
  const { relayers, payees, builderCodes } = catalogue;
  const codes = [...builderCodes].map(([code, facilitator]) => ({ code, facilitator }));
  await Promise.all([
    RELAYERS.publish(writer, relayers, ver),
    PAYEES.publish(writer, payees, ver),
    CODES.publish(writer, codes, ver),
  ]);
}

/** The catalogue that the engine's tables hold; empty in a new database. */
export async function readPublishedCatalogue(writer: Writer): Promise<Catalogue> {
  const [relayers, payees, codes] = await Promise.all([
    RELAYERS.read(writer),
    PAYEES.read(writer),
    CODES.read(writer),
  ]);
  const builderCodes = new Map(codes.map(({ code, facilitator }) => [code, facilitator]));
  return catalogueOf({ relayers, payees, builderCodes });
}

/**
 * The current payees of listed endpoints. A command that changes the catalogue keeps them: only the ingest process decides which
 * endpoints are listed.
 */
export async function readPublishedListed(writer: Writer): Promise<readonly PayeeConfig[]> {
  const { payees } = await readPublishedCatalogue(writer);
  return payees.filter(({ source }) => source === 'bazaar').map(({ source: _, ...payee }) => payee);
}

interface Catalogued<Row> {
  read(writer: Writer): Promise<Row[]>;
  publish(writer: Writer, wanted: readonly Row[], ver: bigint): Promise<void>;
}

/** A table of the catalogue; the first `keys` columns of `entry` are its key, and all of them what it says. */
function catalogued<Row extends object>(table: Table, entry: Reading<Row>, keys: number): Catalogued<Row> {
  const textOf = (row: Row, fields: number): string =>
    JSON.stringify(entry.properties.slice(0, fields).map((property) => row[property]));
  const keyOf = (row: Row): string => textOf(row, keys);
  const contentOf = (row: Row): string => textOf(row, entry.properties.length);
  const read = async (writer: Writer): Promise<Row[]> => {
    const { rows } = await writer.rows({
      name: 'catalogue-published',
      sql: sql`SELECT ${entry.columns} FROM ${trustedText(table.name)} FINAL WHERE del = 0`,
      maxSeconds: readTimeoutSeconds,
      maxRows: catalogueRowsMax,
    });
    return rows.map(entry.read);
  };
  return {
    read,
    async publish(writer, wanted, ver) {
      const current = new Map((await read(writer)).map((row) => [keyOf(row), row]));
      const isNew = (row: Row): boolean => {
        const old = current.get(keyOf(row));
        return old === undefined || contentOf(row) !== contentOf(old);
      };
      const kept = new Set(wanted.map(keyOf));
      const vanished = [...current.values()].filter((row) => !kept.has(keyOf(row)));
      const rows = [
        ...wanted.filter(isNew).map((row) => ({ ...row, del: 0 })),
        ...vanished.map((row) => ({ ...row, del: 1 })),
      ];
      await insertRows(writer, { name: 'catalogue-publish', table, rows, fixed: { ver } });
    },
  };
}

/** The catalogue that one process publishes for all (ingest/grading/regrade/follow.ts), for those that grade by it. */
export interface PublishedCatalogue {
  readonly holder: CatalogueHolder;
  /** Follows every change until the signal aborts, with its reason. */
  follow(): Promise<never>;
}

/** How soon a new catalogue is adopted: until then the engine refuses rows of the old one. */
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
   * just now, the lines read may be of two catalogues; then its number is the old one, and rows graded by it are refused or swept.
   */
  const read = () => acknowledged(() => readPublishedCatalogue(writer));
  let pass = await passAfter(null);
  const holder = createCatalogueHolder(await read(), pass);
  return {
    holder,
    async follow() {
      for (;;) {
        pass = await passAfter(pass);
        // No need to wait for rows graded by the old one: the engine refuses them, or the regrade waits for them.
        void holder.replace(await read(), pass);
        log.info({ pass: String(pass) }, 'a newer catalogue is in force');
      }
    },
  };
}
