import { accountBytes } from '../../clickhouse/engine/account.ts';
import { IS_COUNTED, IS_DUST } from '../../clickhouse/engine/counted-rows.ts';
import { partnerFigures, SCAN_SUMS } from '../../clickhouse/engine/counterparty-scan.ts';
import { REFUND_FIGURES, REFUND_SUMS } from '../../clickhouse/engine/refund-figures.ts';
import {
  allOf,
  commaList,
  dateTime,
  type Sql,
  sql,
  text,
  texts,
  trustedText,
  uint32,
  uint64,
} from '../../clickhouse/engine/sql.ts';
import { SHARE_COLUMNS, triggeredOf, verdictOf } from '../../clickhouse/engine/verdict-rule.ts';
import type { AddressRange } from '../../core/domain/account.ts';
import { REFUND_WINDOW } from '../../core/domain/pay-reasons.ts';
import { secondsOf } from '../../core/domain/window.ts';

/** The verdicts on a part of all wallets, from the same rows and by the same sums as a profile (src/operations/wallets). */

/** A wallet with too many rows to be judged by all of them. */
export interface LargeWallet {
  readonly wallet: string;
  /** Unix seconds: its rows above this time are judged. */
  readonly floor: number;
}

export interface PartOfPass {
  readonly gen: bigint;
  /** Unix seconds. */
  readonly judgedAt: number;
  /** The pass of rings that counts. */
  readonly ringGen: bigint;
}

/** Of the wallets of a range without the large ones. */
export function verdictsOfRange(
  { from, to }: AddressRange,
  large: readonly LargeWallet[],
  part: PartOfPass,
): Sql {
  const range = sql`wallet >= ${text(from)} AND wallet < ${text(to)}`;
  const others = large.filter(({ wallet }) => wallet >= from && wallet < to).map(({ wallet }) => wallet);
  const wallets = others.length === 0 ? range : sql`${range} AND wallet NOT IN ${texts(others)}`;
  return verdicts(wallets, sql`1`, part);
}

export function verdictsOfLarge({ wallet, floor }: LargeWallet, part: PartOfPass): Sql {
  return verdicts(sql`wallet = ${text(wallet)}`, sql`block_time > ${dateTime(floor)}`, part);
}

/** The newest rows of a large wallet that count on one chain, '' for all of them. */
export interface LargeScan {
  readonly wallet: string;
  readonly chain: string;
  /** Unix seconds: rows above this time; 0 for all. */
  readonly floor: number;
}

/**
 * By chain, and over all of them: the time below the `rowsMax` newest rows of a wallet, 0 where there are no more. Versions count, as where a
 * profile looks for it.
 */
export function floorsOfLarge(wallet: string, rowsMax: number): Sql {
  const rows = uint32(rowsMax + 1);
  return sql`SELECT chain, -groupArraySorted(${trustedText(String(rowsMax + 1))})(-toInt64(toUnixTimestamp(block_time)))[${rows}]
    FROM wallet_rows WHERE wallet = ${text(wallet)} GROUP BY GROUPING SETS ((chain), ())`;
}

/** The row of large_wallets for one scan and role: what a profile would find at this moment (src/operations/wallets/read-profile.ts). */
export function scanOfLarge(
  { wallet, chain, floor }: LargeScan,
  role: 'payee' | 'payer',
  { gen, judgedAt }: PartOfPass,
): Sql {
  const rows = allOf([
    sql`wallet = ${text(wallet)}`,
    sql`block_time > ${dateTime(floor)}`,
    ...(chain === '' ? [] : [sql`chain = ${text(chain)}`]),
  ]);
  const sums = commaList(SCAN_SUMS);
  return sql`INSERT INTO large_wallets (wallet, chain, role, settlements, counterparties, role_settlements, usd, self_usd, largest_usd, squared,
      reciprocal_usd, judged_at, gen)
    SELECT ${text(wallet)}, ${text(chain)}, ${text(role)}, ${sums}, ${dateTime(judgedAt)}, ${uint64(gen)}
    FROM (SELECT ${partnerFigures(wallet, role)} FROM wallet_rows FINAL WHERE ${rows} AND ${IS_COUNTED} GROUP BY counterparty)`;
}

/** The rows of large_wallet_refunds, one for each chain of the wallet and one over all. */
export function refundsOfLarge({ wallet }: LargeWallet, { gen, judgedAt }: PartOfPass): Sql {
  const since = dateTime(judgedAt - secondsOf(REFUND_WINDOW));
  return sql`INSERT INTO large_wallet_refunds (wallet, chain, payers, settlements, usd, judged_at, gen)
    SELECT ${text(wallet)}, chain, ${REFUND_SUMS}, ${dateTime(judgedAt)}, ${uint64(gen)}
    FROM (
      SELECT chain, ${REFUND_FIGURES}
      FROM (SELECT chain, counterparty, role = 'payee' AS inbound, 1 AS n, toDecimal128(amount_usd, 6) AS usd, block_time AS first_time, block_time AS last_time
        FROM wallet_rows FINAL WHERE wallet = ${text(wallet)} AND block_time >= ${since} AND ${IS_COUNTED})
      WHERE counterparty != ${accountBytes(text(wallet))}
      GROUP BY GROUPING SETS ((chain, counterparty), (counterparty)))
    GROUP BY chain`;
}

const micros = (role: Sql): Sql =>
  sql`toInt256(toDecimal256(sumIf(amount_usd, role = ${role} AND is_judged), 6) * 1000000)`;

/** `isJudged`: which rows of these wallets, dust never. The others only show that there are some. */
function verdicts(wallets: Sql, isJudged: Sql, { gen, judgedAt, ringGen }: PartOfPass): Sql {
  const [payee, payer] = [sql`'payee'`, sql`'payer'`];
  const count = (role: Sql): Sql => sql`countIf(role = ${role} AND is_judged)`;
  const isSeen = (role: Sql): Sql => sql`countIf(role = ${role}) > 0`;
  const inRole = (of: (role: 'payee' | 'payer') => Sql): Sql =>
    sql`if(role = 'payee', ${of('payee')}, ${of('payer')})`;
  // Rings come in as further rows, because a join on a cluster would be run on every shard.
  return sql`INSERT INTO wallet_verdicts (wallet, role, verdict, reasons, rings, settlement_count, settled_usd, self_share, concentration,
      largest_share, reciprocal_share, judged_at, gen)
    SELECT wallet, role, ${inRole(verdictOf)}, ${inRole(triggeredOf)}, members, settlements, toDecimal128(toDecimal256(gross, 6) / 1000000, 6),
      self_share, concentration, largest_share, reciprocal_share, ${dateTime(judgedAt)}, ${uint64(gen)}
    FROM (
      SELECT *, ${SHARE_COLUMNS}, length(members) AS rings
      FROM (
        SELECT wallet, role, sum(n) AS settlements, sum(usd) AS gross, sumIf(usd, is_self) AS self, maxIf(usd, NOT is_self) AS largest,
          sumIf(usd * usd, NOT is_self) AS squared, sumIf(usd, NOT is_self AND back_n > 0) AS mutual, max(is_seen) AS observed,
          arrayMap(ring -> ring.2, arraySort(ring -> (-ring.1, length(ring.2), ring.2), groupArrayIf((bottleneck, ring_members), notEmpty(ring_members)))) AS members
        FROM (
          SELECT wallet, side.1 AS role, side.2 AS n, side.3 AS back_n, side.4 AS usd, side.5 AS is_seen, is_self,
            toDecimal128(0, 6) AS bottleneck, CAST([], 'Array(String)') AS ring_members
          FROM (
            SELECT wallet, counterparty = ${accountBytes(sql`wallet`)} AS is_self,
              [(${payee}, ${count(payee)}, ${count(payer)}, ${micros(payee)}, ${isSeen(payee)}),
                (${payer}, ${count(payer)}, ${count(payee)}, ${micros(payer)}, ${isSeen(payer)})] AS sides
            FROM (SELECT wallet, counterparty, role, amount_usd, ${isJudged} AND NOT ${IS_DUST} AS is_judged FROM wallet_rows FINAL WHERE ${wallets} AND ${IS_COUNTED})
            GROUP BY wallet, counterparty)
          ARRAY JOIN sides AS side
          WHERE side.5
          UNION ALL
          SELECT wallet, role, 0, 0, toInt256(0), 0, 0, bottleneck_usd, wallet_rings.members
          FROM wallet_rings ARRAY JOIN ['payee', 'payer'] AS role WHERE gen = ${uint64(ringGen)} AND ${wallets})
        GROUP BY wallet, role
        HAVING observed))`;
}
