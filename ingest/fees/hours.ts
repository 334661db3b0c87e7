import { hashText } from '../../clickhouse/engine/account.ts';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { hashField } from '../../clickhouse/engine/row-reader.ts';
import { commaList, dateTime, type Sql, sql, text, uint64 } from '../../clickhouse/engine/sql.ts';
import { FEE_HOURS, TRANSACTION_FEES } from '../../clickhouse/tables/fees.ts';
import { insertRows, reading } from '../../clickhouse/tables/table.ts';
import type { Hash } from '../../core/domain/account.ts';
import type { Chain } from '../../core/domain/chains.ts';

/**
 * Which hours of a chain have transactions without fees, and which these are. An hour is done as of a count of inserts (hour_ver), so a
 * late block, an import or a regrade opens it again, and then its rows are compared once more.
 */

const HOUR_SECONDS = 3_600;
const LOOK_MAX_SECONDS = 300;
const SETTINGS = {
  do_not_merge_across_partitions_select_final: 1,
  max_threads: 1,
  max_bytes_before_external_group_by: 256 * 1024 * 1024,
} as const;

export interface OpenHour {
  /** Unix seconds. */
  readonly hour: number;
  /** Inserts that ever touched it. */
  readonly writes: number;
}

export interface OpenHours {
  /** Newest first, at most as many as were asked for. */
  readonly hours: readonly OpenHour[];
  readonly total: number;
  /** Unix seconds; 0 when there is none. */
  readonly oldest: number;
}

export async function readOpenHours(
  writer: Pick<Writer, 'rows'>,
  chain: Chain,
  hoursMax: number,
): Promise<OpenHours> {
  const { rows } = await writer.rows({
    name: `fees-open-hours ${chain}`,
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: hoursMax,
    sql: sql`SELECT toUnixTimestamp(hour), written, count() OVER (), toUnixTimestamp(min(hour) OVER ())
      FROM (
        SELECT hour, sum(seen) AS written, sum(read) AS done FROM (
          SELECT hour, hour_ver.writes AS seen, toUInt64(0) AS read FROM hour_ver
          UNION ALL
          SELECT hour, 0, writes FROM fee_hours FINAL WHERE chain = ${text(chain)})
        GROUP BY hour HAVING written != done)
      ORDER BY hour DESC LIMIT ${uint64(hoursMax)}`,
  });
  return {
    hours: rows.map(([hour, writes]) => ({ hour: Number(hour), writes: Number(writes) })),
    total: Number(rows[0]?.[2] ?? 0),
    oldest: Number(rows[0]?.[3] ?? 0),
  };
}

/** Hours of a chain; of rows up to a block none is looked at, because they are sample data of no chain. */
export interface FeeHours {
  readonly chain: Chain;
  /** At least one. */
  readonly hours: readonly number[];
  readonly above: number;
}

/** One row for each transaction: the facts of its settlements now, and the fee as it is kept. A group without settlements is one that is gone. */
function compared({ chain, hours, above }: FeeHours): Sql {
  const [from, to] = [Math.min(...hours), Math.max(...hours) + HOUR_SECONDS];
  const listed = commaList(hours.map(dateTime));
  const within = sql`block_time >= ${dateTime(from)} AND block_time < ${dateTime(to)} AND chain = ${text(chain)}
        AND toStartOfHour(block_time) IN (${listed}) AND del = 0 AND block_number > ${uint64(above)}`;
  return sql`SELECT block_time, block_number, tx_hash, sum(settled) AS settlements, any(sender) AS relayer, max(named) AS facilitator,
      sum(usd) AS settled_usd, max(is_kept) AS kept, max(kept_count) AS was_count, max(kept_name) AS was_name, max(kept_usd) AS was_usd,
      max(gas) AS gas_used, max(price) AS gas_price, max(l1) AS l1_fee, max(total) AS fee
    FROM (
      SELECT block_time, block_number, tx_hash, relayer AS sender, toString(facilitator) AS named, toUInt32(1) AS settled,
        if(kind = 'payment', toDecimal128(amount_usd, 6), toDecimal128(0, 6)) AS usd, toUInt8(0) AS is_kept,
        toUInt32(0) AS kept_count, '' AS kept_name, toDecimal128(0, 6) AS kept_usd, toUInt64(0) AS gas, toUInt256(0) AS price,
        toUInt256(0) AS l1, toUInt256(0) AS total
      FROM settlements FINAL WHERE ${within}
      UNION ALL
      SELECT block_time, block_number, tx_hash, relayer, '', 0, toDecimal128(0, 6), 1, settlement_count,
        toString(facilitator), settled_usd, gas_used, gas_price, l1_fee, fee
      FROM transaction_fees FINAL WHERE ${within})
    GROUP BY block_time, block_number, tx_hash`;
}

/** Writes fees again whose settlements are others now, and takes back those without any. Reads nothing from the chain. */
export function refreshKept(writer: Pick<Writer, 'run'>, scope: FeeHours, ver: bigint): Promise<void> {
  return writer.run({
    name: `fees-refresh ${scope.chain}`,
    maxSeconds: LOOK_MAX_SECONDS,
    settings: SETTINGS,
    sql: sql`INSERT INTO transaction_fees (block_time, chain, tx_hash, block_number, relayer, facilitator, settlement_count, settled_usd,
        gas_used, gas_price, l1_fee, fee, ver, del)
      SELECT block_time, ${text(scope.chain)}, tx_hash, block_number, relayer, if(settlements = 0, was_name, facilitator),
        if(settlements = 0, was_count, toUInt32(settlements)), if(settlements = 0, was_usd, settled_usd), gas_used, gas_price, l1_fee, fee,
        ${uint64(ver)}, toUInt8(settlements = 0)
      FROM (${compared(scope)})
      WHERE kept AND (settlements != was_count OR facilitator != was_name OR settled_usd != was_usd)`,
  });
}

const MISSING = reading(TRANSACTION_FEES, [
  'block_time',
  'tx_hash',
  'block_number',
  'relayer',
  'facilitator',
  'settlement_count',
  'settled_usd',
]);

/** A transaction without fees. */
export type MissingFee = ReturnType<typeof MISSING.read>;

/** Newest first; those above `finalBlock`, which are not to be read yet, at the end. */
export async function readMissing(
  writer: Pick<Writer, 'rows'>,
  scope: FeeHours,
  { finalBlock, rowsMax }: { readonly finalBlock: number; readonly rowsMax: number },
): Promise<MissingFee[]> {
  const { rows } = await writer.rows({
    name: `fees-missing ${scope.chain}`,
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: rowsMax,
    settings: SETTINGS,
    sql: sql`SELECT ${MISSING.columns} FROM (SELECT *, settlements AS settlement_count FROM (${compared(scope)}) WHERE NOT kept)
      ORDER BY block_number <= ${uint64(finalBlock)} DESC, block_number DESC, tx_hash LIMIT ${uint64(rowsMax)}`,
  });
  return rows.map(MISSING.read);
}

/** The hashes that are known of these blocks: those that were followed at the head in the last weeks. */
export async function readBlockHashes(
  writer: Pick<Writer, 'rows'>,
  chain: Chain,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, Hash>> {
  if (numbers.length === 0) return new Map();
  const listed = commaList(numbers.map(uint64));
  const { rows } = await writer.rows({
    name: `fees-block-hashes ${chain}`,
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: numbers.length,
    sql: sql`SELECT number, ${hashText('hash')} FROM blocks FINAL WHERE chain = ${text(chain)} AND number IN (${listed})`,
  });
  return new Map(rows.map(([number, hash]) => [Number(number), hashField(hash)]));
}

/** `writes` as they were before the rows of the hour were read. */
export function saveDoneHours(
  writer: Pick<Writer, 'insert'>,
  chain: Chain,
  hours: readonly OpenHour[],
  ver: bigint,
): Promise<void> {
  return insertRows(writer, { name: 'fees-done', table: FEE_HOURS, rows: hours, fixed: { chain, ver } });
}
