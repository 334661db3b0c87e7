import type { Row, Writer } from '../../clickhouse/engine.ts';
import { RowBinary } from '../../clickhouse/row-binary.ts';
import { CATALOGUED_PAYEE_COLUMNS, FACILITATOR_RELAYER_COLUMNS, TABLES } from '../../clickhouse/schema.ts';
import { type Sql, sql } from '../../clickhouse/sql.ts';
import type { Catalogue, PayeeEntry, RelayerEntry } from './catalogue.ts';

/** A catalogue is read whole; a table beyond this is not one of ours. */
const catalogueRowsMax = 1_000_000;
const readTimeoutSeconds = 30;

/** The columns between the key and `ver`, as text. */
interface Published {
  readonly chain: string;
  readonly address: string;
  readonly fields: readonly string[];
}

interface Catalogued {
  readonly table: string;
  readonly columns: readonly string[];
  readonly current: Sql;
  readonly encodeFields: (out: RowBinary, fields: readonly string[]) => void;
}

const RELAYERS: Catalogued = {
  table: TABLES.facilitatorRelayers,
  columns: FACILITATOR_RELAYER_COLUMNS,
  current: sql`SELECT chain, concat('0x', lower(hex(address))), facilitator, facilitator_name, toString(first_seen), source
    FROM facilitator_relayers FINAL WHERE del = 0`,
  encodeFields(out, [facilitator = '', name = '', firstSeen = '', source = '']) {
    out.string(facilitator).string(name).date(firstSeen).string(source);
  },
};

const PAYEES: Catalogued = {
  table: TABLES.cataloguedPayees,
  columns: CATALOGUED_PAYEE_COLUMNS,
  current: sql`SELECT chain, concat('0x', lower(hex(address))), name, resource, source
    FROM catalogued_payees FINAL WHERE del = 0`,
  encodeFields(out, fields) {
    for (const field of fields) out.string(field);
  },
};

/**
 * Makes the engine's catalogue tables equal to the catalogue: writes what is new or changed with `ver`, tombstones what
 * vanished, leaves the rest alone. Repeating it writes nothing. `ver` must be above every `ver` published before.
 */
export async function publishCatalogue(writer: Writer, catalogue: Catalogue, ver: bigint): Promise<void> {
  await publish(writer, RELAYERS, catalogue.relayers.map(relayerRow), ver);
  await publish(writer, PAYEES, catalogue.payees.map(payeeRow), ver);
}

function relayerRow(entry: RelayerEntry): Published {
  const { chain, address, facilitator, facilitatorName, firstSeen, source } = entry;
  return { chain, address, fields: [facilitator, facilitatorName, firstSeen, source] };
}

function payeeRow({ chain, address, name, resource, source }: PayeeEntry): Published {
  return { chain, address, fields: [name, resource, source] };
}

async function publish(
  writer: Writer,
  into: Catalogued,
  wanted: readonly Published[],
  ver: bigint,
): Promise<void> {
  const { rows } = await writer.rows({
    name: 'catalogue-published',
    sql: into.current,
    maxSeconds: readTimeoutSeconds,
    maxRows: catalogueRowsMax,
  });
  const current = new Map(rows.map(publishedRow).map((row) => [keyOf(row), row]));
  const written = wanted.filter((row) => !isSame(row, current.get(keyOf(row))));
  const kept = new Set(wanted.map(keyOf));
  const vanished = [...current.values()].filter((row) => !kept.has(keyOf(row)));
  if (written.length + vanished.length === 0) return;
  const out = new RowBinary();
  for (const row of written) encodeRow(out, into, row, ver, 0);
  for (const row of vanished) encodeRow(out, into, row, ver, 1);
  await writer.insert('catalogue-publish', into.table, into.columns, [out.finish()]);
}

function encodeRow(out: RowBinary, into: Catalogued, row: Published, ver: bigint, del: 0 | 1): void {
  out.string(row.chain).hex20(row.address);
  into.encodeFields(out, row.fields);
  out.u64(ver).u8(del);
}

function publishedRow(row: Row): Published {
  const [chain = '', address = '', ...fields] = row.map(String);
  return { chain, address, fields };
}

function keyOf(row: Published): string {
  return `${row.chain} ${row.address}`;
}

function isSame(row: Published, other: Published | undefined): boolean {
  return other?.fields.every((field, index) => field === row.fields[index]) ?? false;
}
