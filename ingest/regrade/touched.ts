import { type Sql, sql, uint64s } from '../../clickhouse/engine/sql.ts';

/** The keys that a catalogue changed under, as subqueries: `chain, address` twice, `code`, and `address`. */
interface ChangedKeys {
  readonly relayers: Sql;
  readonly payees: Sql;
  readonly codes: Sql;
  readonly deposits: Sql;
}

/** The keys that these passes recorded. */
export function recordedKeys(passes: readonly number[]): ChangedKeys {
  const of = (columns: Sql, kind: Sql) =>
    sql`SELECT ${columns} FROM catalogue_changes WHERE kind = ${kind} AND has(${uint64s(passes)}, pass)`;
  return {
    relayers: of(sql`chain, address`, sql`'relayer'`),
    payees: of(sql`chain, address`, sql`'payee'`),
    codes: of(sql`code`, sql`'code'`),
    deposits: of(sql`address`, sql`'deposit'`),
  };
}

/** Condition on a settlement: whether one of the keys is its relayer, its payee (of one chain or of all) or its builder code. */
export function touchedBy(keys: ChangedKeys): Sql {
  return sql`((chain, relayer) IN (${keys.relayers}) OR (chain, payee) IN (${keys.payees})
    OR builder_facilitator IN (${keys.codes}) OR payee IN (${keys.deposits}))`;
}
