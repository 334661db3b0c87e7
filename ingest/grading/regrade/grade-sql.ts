import { type Sql, sql, text, trustedText, uint32, uint64s } from '../../../clickhouse/engine/sql.ts';
import { SEEN } from '../../../core/domain/evidence.ts';
import { GRADE_RULES } from '../grade.ts';

/** The rules of the ladder as an expression of the engine over a column of observations; its value is the method's name. */
export function methodSql(seen: Sql): Sql {
  const rules = GRADE_RULES.map(
    ({ when, bits, method }) =>
      sql`(bitAnd(${seen}, ${uint32(bits)}) != 0) = ${trustedText(when === 'any' ? '1' : '0')}, ${text(method)}`,
  );
  const listed = rules.reduce((all, rule) => sql`${all}, ${rule}`);
  return sql`multiIf(${listed}, throwIf(1, 'no rule of the ladder holds') = 0, '', '')`;
}

/** What a catalogue says, as subqueries: the published tables, or those with changes laid over them. */
export interface CatalogueSql {
  /** `chain, address, facilitator, first_seen` */
  readonly relayers: Sql;
  /** `chain, address` */
  readonly payees: Sql;
  /** `code, facilitator` */
  readonly codes: Sql;
  /** `address` */
  readonly deposits: Sql;
}

/** The published catalogue. The filter is outside of FINAL's subquery on purpose: a tombstone must first hide what it hides. */
export const PUBLISHED_CATALOGUE: CatalogueSql = {
  relayers: sql`SELECT chain, address, facilitator, first_seen FROM (SELECT * FROM facilitator_relayers FINAL) WHERE del = 0`,
  payees: sql`SELECT chain, address FROM (SELECT * FROM catalogued_payees FINAL) WHERE del = 0`,
  codes: sql`SELECT code, facilitator FROM (SELECT * FROM builder_codes FINAL) WHERE del = 0`,
  deposits: sql`SELECT address FROM (SELECT * FROM deposit_contracts FINAL) WHERE del = 0`,
};

const CATALOGUE_BITS = SEEN.relayer_named | SEEN.payee_catalogued | SEEN.channel_deposit;

/** Columns that `regradedSql` adds to those of a settlement. */
export const REGRADED_COLUMNS = [
  'owner_id',
  'owner_since',
  'code_owner',
  'payee_known',
  'is_deposit',
  'is_named',
  'new_seen',
  'new_method',
  'new_facilitator',
  'new_del',
] as const;

/**
 * Settlements with what the catalogue says of each today: exactly what `gradeSettlement` would have written, computed from the
 * stored observations. A bare transfer whose payee is catalogued no more gets `new_del`: an index made today would not hold it.
 */
export function regradedSql(settlements: Sql, catalogue: CatalogueSql): Sql {
  const joined = sql`
    SELECT * FROM (${settlements}) AS s
    LEFT ANY JOIN (SELECT chain AS owner_chain, address AS owner_address, facilitator AS owner_id, first_seen AS owner_since
                   FROM (${catalogue.relayers})) AS owners ON s.chain = owners.owner_chain AND s.relayer = owners.owner_address
    LEFT ANY JOIN (SELECT code AS owned_code, facilitator AS code_owner FROM (${catalogue.codes})) AS codes
      ON s.builder_facilitator = codes.owned_code`;
  // Facilitator ids are never empty, so an empty one is a row of the left side that found no partner.
  const named = sql`
    SELECT * EXCEPT (owner_chain, owner_address, owned_code),
      (chain, payee) IN (${catalogue.payees}) AS payee_known,
      payee IN (${catalogue.deposits}) AS is_deposit,
      owner_id != '' AND toDate(block_time) >= owner_since AS is_named
    FROM (${joined})`;
  const seen = sql`
    SELECT *, toUInt32(bitOr(bitAnd(seen, bitNot(${uint32(CATALOGUE_BITS)})),
      if(is_named, ${uint32(SEEN.relayer_named)}, 0) + if(payee_known, ${uint32(SEEN.payee_catalogued)}, 0)
        + if(is_deposit, ${uint32(SEEN.channel_deposit)}, 0))) AS new_seen
    FROM (${named})`;
  const graded = sql`SELECT *, ${methodSql(sql`new_seen`)} AS new_method FROM (${seen})`;
  return sql`
    SELECT *,
      multiIf(is_named, toString(owner_id), new_method = 'builder_code', toString(code_owner), '') AS new_facilitator,
      toUInt8(del = 1 OR (bitAnd(seen, ${uint32(SEEN.no_marker)}) != 0 AND NOT payee_known)) AS new_del
    FROM (${graded})`;
}

/** Whether a row of `regradedSql` is not what the catalogue says. */
export const IS_STALE: Sql = sql`(seen != new_seen OR toString(method) != new_method OR facilitator != new_facilitator OR del != new_del)`;

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
