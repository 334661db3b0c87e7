import { type Sql, sql, uint8, uint32, uint64 } from '../../clickhouse/sql.ts';

/**
 * Settlements made inside the engine, with the distribution behind the numbers of engine.md 4: log-uniform ("zipf-ish") ranks
 * of payers and payees, five chains, three rows of one timestamp, 180 days, 24 facilitators.
 */
export interface SyntheticHistory {
  readonly rows: number;
  /** Unix seconds of the newest row. */
  readonly newestTime: number;
}

/** Which version of a row to write: the first, an identical later one, or one that takes the row away. */
type Write = 'first' | 'again' | 'tombstone';

const VER: Readonly<Record<Write, number>> = { first: 1_000_000, again: 1_000_001, tombstone: 1_000_002 };
const SECONDS_OF_HISTORY = 180 * 86_400;
const ROWS_PER_TIMESTAMP = 3;
/** Base, Polygon, Avalanche, Sei, Arbitrum: with shares of 62, 20, 9, 6 and 3 percent. */
export const SYNTHETIC_CHAINS: Sql = sql`'eip155:8453', 'eip155:137', 'eip155:43114', 'eip155:1329', 'eip155:42161'`;
const PAYERS = 800_000;
const PAYEES = 30_000;
const RELAYERS = 200;
const FACILITATORS = 24;

export interface Slice {
  readonly from: number;
  readonly count: number;
  /** Take only every n-th row. */
  readonly every?: number;
  readonly write?: Write;
}

/**
 * Inserts rows `[from, from + count)` of the history. Row `number` is the same in every write, so that a later version meets
 * its first one. The key is unique by construction: three log indexes of three ranges share a timestamp.
 */
export function insertSynthetic({ rows, newestTime }: SyntheticHistory, slice: Slice): Sql {
  const { from, count, every = 1, write = 'first' } = slice;
  const firstTime = newestTime - SECONDS_OF_HISTORY;
  return sql`INSERT INTO settlements
    (chain, block_number, block_time, block_hash, tx_hash, log_index, payer, payee, asset, asset_symbol, amount, amount_usd,
     relayer, facilitator, method, seen, builder_facilitator, builder_apps, ver, del)
    SELECT
      [${SYNTHETIC_CHAINS}]
        [multiIf(u0 < 0.62, 1, u0 < 0.82, 2, u0 < 0.91, 3, u0 < 0.97, 4, 5)] AS chain_name,
      toUInt64(20000000 + intDiv(ts - ${uint32(firstTime)}, 2)) AS block_number,
      toDateTime(ts, 'UTC'),
      SHA256(concat('block', chain_name, toString(block_number))),
      SHA256(concat('tx', toString(number))),
      toUInt32(number % ${uint32(ROWS_PER_TIMESTAMP)} * 200 + sipHash64(number, 1) % 200),
      SHA1(concat('payer', toString(toUInt32(exp(u1 * ln(${uint32(PAYERS)})))))),
      SHA1(concat('payee', toString(toUInt32(exp(u2 * ln(${uint32(PAYEES)})))))),
      SHA1('usdc'), 'USDC',
      toUInt256(toUInt64(exp(6 + u4 * 10)) AS atomic),
      toDecimal64(atomic / 1e6, 6),
      SHA1(concat('relayer', toString(toUInt32(exp(u3 * ln(${uint32(RELAYERS)})))))),
      if(u5 < 0.3, '', concat('fac-', toString(toUInt32(exp(u2 * u5 * ln(${uint32(FACILITATORS)})))))) AS named,
      if(named != '', 'facilitator_relay',
        ['not_examined', 'bare_transfer', 'self_relayed', 'gasless_authorization', 'catalogued_payee', 'builder_code']
          [1 + sipHash64(number, 9) % 6]),
      toUInt32(if(named = '', 21, 2069)), '', '',
      toUInt64(${uint64(VER[write])}), ${uint8(write === 'tombstone' ? 1 : 0)}
    FROM (
      SELECT n AS number,
        toUInt32(${uint32(firstTime)} + intDiv(n, ${uint32(ROWS_PER_TIMESTAMP)}) * (${uint32(ROWS_PER_TIMESTAMP)} * ${uint32(SECONDS_OF_HISTORY)} / ${uint32(rows)})) AS ts,
        sipHash64(n, 10) / 18446744073709551615. AS u0, sipHash64(n, 11) / 18446744073709551615. AS u1,
        sipHash64(n, 12) / 18446744073709551615. AS u2, sipHash64(n, 13) / 18446744073709551615. AS u3,
        sipHash64(n, 14) / 18446744073709551615. AS u4, sipHash64(n, 15) / 18446744073709551615. AS u5
      FROM (SELECT number + ${uint64(from)} AS n FROM numbers(${uint64(count)})) WHERE n % ${uint32(every)} = 0)`;
}
