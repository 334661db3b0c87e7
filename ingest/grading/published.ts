import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { RowBinary } from '../../clickhouse/engine/row-binary.ts';
import { type Sql, sql } from '../../clickhouse/engine/sql.ts';
import {
  BUILDER_CODE_COLUMNS,
  CATALOGUED_PAYEE_COLUMNS,
  DEPOSIT_CONTRACT_COLUMNS,
  FACILITATOR_RELAYER_COLUMNS,
  TABLES,
} from '../../clickhouse/tables/schema.ts';
import type { PayeeConfig } from '../../core/config/catalogue.ts';
import { address } from '../../core/domain/address.ts';
import { isChain } from '../../core/domain/chains.ts';
import type { Log } from '../../core/log.ts';
import { publishedPass } from '../coordinate/fence.ts';
import { untilAcknowledged } from '../write/until-acknowledged.ts';
import {
  type Catalogue,
  type CatalogueHolder,
  type CatalogueSource,
  catalogueOf,
  createCatalogueHolder,
} from './catalogue.ts';

/** A catalogue is read whole; a larger table cannot be ours. */
const catalogueRowsMax = 1_000_000;
const readTimeoutSeconds = 30;

/** The columns before `ver`, as text; the first `keys` of them are the key. */
type Published = readonly string[];

interface Catalogued {
  readonly table: string;
  readonly columns: readonly string[];
  readonly keys: number;
  readonly current: Sql;
  readonly wanted: (catalogue: Catalogue) => Published[];
  readonly encode: (out: RowBinary, row: Published) => void;
}

const RELAYERS: Catalogued = {
  table: TABLES.facilitatorRelayers,
  columns: FACILITATOR_RELAYER_COLUMNS,
  keys: 2,
  current: sql`SELECT chain, concat('0x', lower(hex(address))), facilitator, facilitator_name, toString(first_seen), source
    FROM facilitator_relayers FINAL WHERE del = 0`,
  wanted: ({ relayers }) =>
    relayers.map((entry) => [
      entry.chain,
      entry.address,
      entry.facilitator,
      entry.facilitatorName,
      entry.firstSeen,
      entry.source,
    ]),
  encode(out, [chain = '', at = '', facilitator = '', name = '', firstSeen = '', source = '']) {
    out.string(chain).hex20(at).string(facilitator).string(name).date(firstSeen).string(source);
  },
};

const PAYEES: Catalogued = {
  table: TABLES.cataloguedPayees,
  columns: CATALOGUED_PAYEE_COLUMNS,
  keys: 2,
  current: sql`SELECT chain, concat('0x', lower(hex(address))), name, resource, source
    FROM catalogued_payees FINAL WHERE del = 0`,
  wanted: ({ payees }) =>
    payees.map((entry) => [entry.chain, entry.address, entry.name, entry.resource, entry.source]),
  encode(out, [chain = '', at = '', ...fields]) {
    out.string(chain).hex20(at);
    for (const field of fields) out.string(field);
  },
};

const CODES: Catalogued = {
  table: TABLES.builderCodes,
  columns: BUILDER_CODE_COLUMNS,
  keys: 1,
  current: sql`SELECT code, facilitator FROM builder_codes FINAL WHERE del = 0`,
  wanted: ({ builderCodes }) => [...builderCodes].map(([code, facilitator]) => [code, facilitator]),
  encode(out, [code = '', facilitator = '']) {
    out.string(code).string(facilitator);
  },
};

const DEPOSITS: Catalogued = {
  table: TABLES.depositContracts,
  columns: DEPOSIT_CONTRACT_COLUMNS,
  keys: 1,
  current: sql`SELECT concat('0x', lower(hex(address))), name, toString(listed_on) FROM deposit_contracts FINAL WHERE del = 0`,
  wanted: ({ deposits }) => deposits.map((entry) => [entry.address, entry.name, entry.listedOn]),
  encode(out, [at = '', name = '', listedOn = '']) {
    out.hex20(at).string(name).date(listedOn);
  },
};

/**
 * Makes the engine's catalogue tables equal to the catalogue: writes new or changed entries with `ver`, tombstones removed ones, and
 * leaves the rest alone. Repeating it writes nothing. `ver` must be above every `ver` published before.
 *
 * Grades follow only when a pass was recorded before (ingest/grading/regrade/regrade.ts).
 */
export async function publishCatalogue(writer: Writer, catalogue: Catalogue, ver: bigint): Promise<void> {
  const tables = [RELAYERS, PAYEES, CODES, DEPOSITS];
  await Promise.all(tables.map((table) => publish(writer, table, table.wanted(catalogue), ver)));
}

/** The catalogue that the engine's tables hold; empty in a new database. */
export async function readPublishedCatalogue(writer: Writer): Promise<Catalogue> {
  const [relayers, payees, codes, deposits] = await Promise.all([
    readPublished(writer, RELAYERS),
    readPublished(writer, PAYEES),
    readPublished(writer, CODES),
    readPublished(writer, DEPOSITS),
  ]);
  return catalogueOf({
    relayers: relayers.map(
      ([chain = '', at = '', facilitator = '', facilitatorName = '', firstSeen = '', source = '']) => ({
        ...placeOf(chain, at),
        facilitator,
        facilitatorName,
        firstSeen,
        source: sourceOf(source),
      }),
    ),
    payees: payees.map(([chain = '', at = '', name = '', resource = '', source = '']) => ({
      ...placeOf(chain, at),
      name,
      resource,
      source: sourceOf(source),
    })),
    builderCodes: new Map(codes.map(([code = '', facilitator = '']) => [code, facilitator])),
    deposits: deposits.map(([at = '', name = '', listedOn = '']) => ({
      address: address(at),
      name,
      listedOn,
    })),
  });
}

/**
 * The current payees of listed endpoints. A command that changes the catalogue keeps them: only the ingest process decides which
 * endpoints are listed.
 */
export async function readPublishedListed(writer: Writer): Promise<readonly PayeeConfig[]> {
  const { payees } = await readPublishedCatalogue(writer);
  return payees.filter(({ source }) => source === 'bazaar').map(({ source: _, ...payee }) => payee);
}

function placeOf(chain: string, at: string) {
  if (!isChain(chain)) throw new Error(`the catalogue tables name a chain that is none: ${chain}`);
  return { chain, address: address(at) };
}

function sourceOf(source: string): CatalogueSource {
  return source as CatalogueSource; // decoder of our own column
}

async function readPublished(writer: Writer, from: Catalogued): Promise<Published[]> {
  const { rows } = await writer.rows({
    name: 'catalogue-published',
    sql: from.current,
    maxSeconds: readTimeoutSeconds,
    maxRows: catalogueRowsMax,
  });
  return rows.map((row) => row.map(String));
}

async function publish(
  writer: Writer,
  into: Catalogued,
  wanted: readonly Published[],
  ver: bigint,
): Promise<void> {
  const keyOf = (row: Published) => row.slice(0, into.keys).join(' ');
  const current = new Map((await readPublished(writer, into)).map((row) => [keyOf(row), row]));
  const written = wanted.filter((row) => !isSame(row, current.get(keyOf(row))));
  const kept = new Set(wanted.map(keyOf));
  const vanished = [...current.values()].filter((row) => !kept.has(keyOf(row)));
  if (written.length + vanished.length === 0) return;
  const out = new RowBinary();
  for (const [rows, del] of [[written, 0] as const, [vanished, 1] as const])
    for (const row of rows) {
      into.encode(out, row);
      out.u64(ver).u8(del);
    }
  await writer.insert('catalogue-publish', into.table, into.columns, [out.finish()]);
}

function isSame(row: Published, other: Published | undefined): boolean {
  return other?.every((field, index) => field === row[index]) ?? false;
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
        // No need to wait for rows graded by the old one: the engine refuses them, or the regrade waits for them.
        void holder.replace(await read(), pass);
        log.info({ pass: String(pass) }, 'a newer catalogue is in force');
      }
    },
  };
}
