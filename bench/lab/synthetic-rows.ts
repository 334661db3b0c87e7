import { type Sql, sql, text, trustedText, uint8, uint32, uint64 } from '../../clickhouse/engine/sql.ts';

/**
 * Settlements made inside the engine, with the distribution behind the measurements of docs/design/storage.md: log-uniform ("zipf-ish") ranks
 * of payers (663,000 of them show up in 10 million rows) and payees, five chains, three rows of one timestamp, 180 days, 200
 * relayers, 24 facilitators. One row in 64 is paid by an address that is a payee elsewhere, one in 512 by its own payee.
 */
export interface SyntheticHistory {
  readonly rows: number;
  /** Unix seconds of the newest row. */
  readonly newestTime: number;
  /** 180 when not given. */
  readonly days?: number;
  /** Rows of different layers share no key, so that a history can grow over the same days. */
  readonly layer?: number;
}

const DAYS_OF_HISTORY = 180;
const DAY_SECONDS = 86_400;
const ROWS_PER_TIMESTAMP = 3;
/** As many groups can share a second before two rows could meet in one key: 370 million rows in 180 days. */
const GROUPS_PER_SECOND = 8;
const LOGS_PER_ROW = 200;
const LOGS_PER_LAYER = LOGS_PER_ROW * ROWS_PER_TIMESTAMP * GROUPS_PER_SECOND;
/** Row numbers of layers are this far apart, so that no layer repeats the hashes of another. */
const LAYER_NUMBERS = 1e10;
/** Base, Polygon, Avalanche, Sei, Arbitrum: with shares of 62, 20, 9, 6 and 3 percent. */
export const SYNTHETIC_CHAIN_IDS = [
  'eip155:8453',
  'eip155:137',
  'eip155:43114',
  'eip155:1329',
  'eip155:42161',
] as const;
export const SYNTHETIC_CHAINS: Sql = trustedText(SYNTHETIC_CHAIN_IDS.map((chain) => `'${chain}'`).join(', '));
const PAYERS = 800_000;
export const SYNTHETIC_PAYEES = 30_000;
const RELAYERS = 200;
const FACILITATORS = 24;

export interface RowSlice {
  readonly from: number;
  readonly count: number;
  /** Take only every n-th row. */
  readonly every?: number;
  /** Of every row: later writes of a row need a higher one. */
  readonly ver: bigint;
  /** Takes the rows away. */
  readonly tombstone?: boolean;
}

/** A digest for an account or a transaction: as a text, since the engine cuts zeros off the end of a FixedString that becomes one. */
export function syntheticBytes(digest: 'SHA1' | 'SHA256', of: Sql): Sql {
  return sql`concat(${trustedText(digest)}(${of}), '')`;
}

/** The address of the n-th busiest payer or payee, or of a relayer. */
export function syntheticAddress(kind: 'payer' | 'payee' | 'relayer', rank: Sql): Sql {
  return syntheticBytes('SHA1', sql`concat(${text(kind)}, toString(${rank}))`);
}

/**
 * Inserts rows `[from, from + count)` of the history. Row `number` is the same in every write, so that a later version meets
 * its first one. The key is unique by construction: rows that can share a second have log indexes of different ranges.
 */
export function insertSynthetic(history: SyntheticHistory, slice: RowSlice): Sql {
  const { rows, newestTime, days = DAYS_OF_HISTORY, layer = 0 } = history;
  const { from, count, every = 1, ver, tombstone = false } = slice;
  const seconds = days * DAY_SECONDS;
  const firstTime = newestTime - seconds;
  return sql`INSERT INTO settlements
    (chain, block_number, block_time, tx_hash, log_index, payer, payee, asset, asset_symbol, amount, amount_usd,
     relayer, facilitator, method, seen, builder_facilitator, builder_apps, ver, del)
    SELECT
      [${SYNTHETIC_CHAINS}]
        [multiIf(u0 < 0.62, 1, u0 < 0.82, 2, u0 < 0.91, 3, u0 < 0.97, 4, 5)] AS chain_name,
      toUInt64(20000000 + intDiv(ts - ${uint32(firstTime)}, 2)) AS block_number,
      toDateTime(ts, 'UTC'),
      ${syntheticBytes('SHA256', sql`concat('tx', toString(number))`)},
      toUInt32(number % ${uint32(LOGS_PER_LAYER / LOGS_PER_ROW)} * ${uint32(LOGS_PER_ROW)} + sipHash64(number, 1) % ${uint32(LOGS_PER_ROW)} + ${uint32(layer * LOGS_PER_LAYER)}),
      multiIf(pays % 512 = 0, payee_address,
        pays % 64 = 1, ${syntheticAddress('payee', sql`toUInt32(exp(u1 * ln(${uint32(SYNTHETIC_PAYEES)})))`)},
        ${syntheticAddress('payer', sql`toUInt32(exp(u1 * ln(${uint32(PAYERS)})))`)}),
      ${syntheticAddress('payee', sql`toUInt32(exp(u2 * ln(${uint32(SYNTHETIC_PAYEES)})))`)} AS payee_address,
      ${syntheticBytes('SHA1', sql`'usdc'`)}, 'USDC',
      toUInt256(toUInt64(exp(6 + u4 * 10)) AS atomic),
      toDecimal64(atomic / 1e6, 6),
      ${syntheticAddress('relayer', sql`toUInt32(exp(u3 * ln(${uint32(RELAYERS)})))`)},
      if(u5 < 0.3, '', concat('fac-', toString(toUInt32(exp(u2 * u5 * ln(${uint32(FACILITATORS)})))))) AS named,
      if(named != '', 'facilitator_relay',
        ['not_examined', 'bare_transfer', 'self_relayed', 'gasless_authorization', 'catalogued_payee', 'builder_code']
          [1 + sipHash64(number, 9) % 6]),
      toUInt32(if(named = '', 21, 2069)), '', '',
      ${uint64(ver)}, ${uint8(tombstone ? 1 : 0)}
    FROM (
      SELECT n + ${uint64(layer * LAYER_NUMBERS)} AS number, sipHash64(number, 16) AS pays,
        toUInt32(${uint32(firstTime)} + intDiv(n, ${uint32(ROWS_PER_TIMESTAMP)}) * (${uint32(ROWS_PER_TIMESTAMP)} * ${uint32(seconds)} / ${uint32(rows)})) AS ts,
        sipHash64(number, 10) / 18446744073709551615. AS u0, sipHash64(number, 11) / 18446744073709551615. AS u1,
        sipHash64(number, 12) / 18446744073709551615. AS u2, sipHash64(number, 13) / 18446744073709551615. AS u3,
        sipHash64(number, 14) / 18446744073709551615. AS u4, sipHash64(number, 15) / 18446744073709551615. AS u5
      FROM (SELECT number + ${uint64(from)} AS n FROM numbers(${uint64(count)})) WHERE n % ${uint32(every)} = 0)`;
}
