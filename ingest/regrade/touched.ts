import { type Sql, sql, texts, uint64s } from '../../clickhouse/sql.ts';
import type { CatalogueChange } from '../catalogues/catalogue-changes.ts';

/** The keys that a catalogue changed under, as subqueries: `chain, address` twice, and `code`. */
interface ChangedKeys {
  readonly relayers: Sql;
  readonly payees: Sql;
  readonly codes: Sql;
}

/** The keys that these passes recorded. */
export function recordedKeys(passes: readonly number[]): ChangedKeys {
  const of = (columns: Sql, kind: Sql) =>
    sql`SELECT ${columns} FROM catalogue_changes WHERE kind = ${kind} AND has(${uint64s(passes)}, pass)`;
  return {
    relayers: of(sql`chain, address`, sql`'relayer'`),
    payees: of(sql`chain, address`, sql`'payee'`),
    codes: of(sql`code`, sql`'code'`),
  };
}

/** Keys that were not recorded, handed over with the statement. */
export function givenKeys(changes: readonly CatalogueChange[]): ChangedKeys {
  const places = (kind: 'relayer' | 'payee') =>
    placesSql(changes.flatMap((change) => (change.kind === kind ? [change] : [])));
  return {
    relayers: places('relayer'),
    payees: places('payee'),
    codes: sql`SELECT arrayJoin(${texts(changes.flatMap((change) => (change.kind === 'code' ? [change.code] : [])))})`,
  };
}

/** A table of `chain, address`. */
export function placesSql(places: readonly { readonly chain: string; readonly address: string }[]): Sql {
  const chains = texts(places.map(({ chain }) => chain));
  const addresses = texts(places.map(({ address }) => address.slice(2)));
  return sql`SELECT place.1 AS chain, toFixedString(unhex(place.2), 20) AS address
    FROM (SELECT arrayJoin(arrayZip(${chains}, ${addresses})) AS place)`;
}

/** Condition on a settlement: whether one of the keys is its relayer, its payee or its builder code. */
export function touchedBy(keys: ChangedKeys): Sql {
  return sql`((chain, relayer) IN (${keys.relayers}) OR (chain, payee) IN (${keys.payees})
    OR builder_facilitator IN (${keys.codes}))`;
}
