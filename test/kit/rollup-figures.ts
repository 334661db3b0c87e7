import type { Reader } from '../../clickhouse/engine/engine.ts';
import { type Sql, sql, trustedText } from '../../clickhouse/engine/sql.ts';
import {
  closedHours,
  closedSlices,
  openRows,
  type RollupCoverage,
} from '../../src/operations/index-state/rollups.ts';

/** Every figure of a rollup table by key, ordered: as one text a line, so that a difference reads well. */
export interface Figures {
  readonly payees: readonly string[];
  readonly payers: readonly string[];
  readonly relayers: readonly string[];
  readonly hours: readonly string[];
}

const LINES_MAX = 100_000;

async function lines(reader: Reader, statement: Sql): Promise<string[]> {
  const { rows } = await reader.rows({ name: 'figures', sql: statement, maxSeconds: 30, maxRows: LINES_MAX });
  return rows.map((row) => row.join(' ')).sort();
}

/** What a reader of the rollups answers: closed slices from the tables, everything else from the rows. */
export async function servedFigures(reader: Reader, coverage: RollupCoverage): Promise<Figures> {
  const party = (key: 'payee' | 'payer', other: 'payers' | 'payees'): Promise<string[]> =>
    lines(
      reader,
      sql`SELECT key, chain, sum(n), sum(usd), sum(sn), sum(su), sum(pn), sum(pu), uniqCombined64Merge(12)(others), min(t0), max(t1) FROM (
        SELECT ${trustedText(key)} AS key, chain, settlement_count AS n, settled_usd AS usd, self_count AS sn, self_usd AS su,
          proven_count AS pn, proven_usd AS pu, ${trustedText(other)} AS others, first_time AS t0, last_time AS t1
        FROM ${trustedText(`${key}_day`)} FINAL WHERE settlement_count > 0 AND ${closedSlices(coverage)}
        UNION ALL
        SELECT concat('0x', lower(hex(${trustedText(key)}))), chain, count(), sum(toDecimal128(amount_usd, 6)), countIf(payer = payee),
          sumIf(toDecimal128(amount_usd, 6), payer = payee), countIf(method = 'facilitator_relay'),
          sumIf(toDecimal128(amount_usd, 6), method = 'facilitator_relay'),
          uniqCombined64State(12)(${trustedText(key === 'payee' ? 'payer' : 'payee')}), min(block_time), max(block_time)
        FROM settlements FINAL WHERE del = 0 AND method != 'channel_deposit' AND ${openRows(coverage)} GROUP BY ${trustedText(key)}, chain
      ) GROUP BY key, chain`,
    );
  return {
    payees: await party('payee', 'payers'),
    payers: await party('payer', 'payees'),
    relayers: await lines(
      reader,
      sql`SELECT lower(hex(key)), chain, sum(n), sum(usd), uniqCombined64Merge(14)(a), uniqCombined64Merge(14)(b), min(t0), max(t1) FROM (
        SELECT relayer AS key, chain, settlement_count AS n, settled_usd AS usd, payers AS a, payees AS b, first_time AS t0, last_time AS t1
        FROM relayer_day FINAL WHERE settlement_count > 0 AND ${closedSlices(coverage)}
        UNION ALL
        SELECT relayer, chain, count(), sum(toDecimal128(amount_usd, 6)), uniqCombined64State(14)(payer), uniqCombined64State(14)(payee),
          min(block_time), max(block_time)
        FROM settlements FINAL WHERE del = 0 AND method != 'channel_deposit' AND ${openRows(coverage)} GROUP BY relayer, chain
      ) GROUP BY key, chain`,
    ),
    hours: await lines(
      reader,
      sql`SELECT chain, h, f, sum(n), sum(usd) FROM (
        SELECT chain, hour AS h, facilitator AS f, settlement_count AS n, settled_usd AS usd
        FROM chain_hour FINAL WHERE settlement_count > 0 AND ${closedHours(coverage)}
        UNION ALL
        SELECT chain, toStartOfHour(block_time), facilitator, count(), sum(toDecimal128(amount_usd, 6))
        FROM settlements FINAL WHERE del = 0 AND method != 'channel_deposit' AND ${openRows(coverage)} GROUP BY 1, 2, 3
      ) GROUP BY chain, h, f`,
    ),
  };
}

interface RawRow {
  readonly chain: string;
  readonly hour: string;
  readonly time: string;
  readonly payer: string;
  readonly payee: string;
  readonly relayer: string;
  readonly facilitator: string;
  readonly isProven: boolean;
  readonly micros: bigint;
}

async function liveRows(reader: Reader): Promise<RawRow[]> {
  const { rows } = await reader.rows({
    name: 'raw-rows',
    sql: sql`SELECT chain, toString(toStartOfHour(block_time)), toString(block_time), lower(hex(payer)), lower(hex(payee)),
      lower(hex(relayer)), facilitator, toString(method), toString(toInt64(amount_usd * 1000000)) FROM settlements FINAL
      WHERE del = 0 AND method != 'channel_deposit'`,
    maxSeconds: 30,
    maxRows: LINES_MAX,
  });
  return rows.map((row) => {
    const [
      chain = '',
      hour = '',
      time = '',
      payer = '',
      payee = '',
      relayer = '',
      facilitator = '',
      method,
      micros,
    ] = row.map(String);
    const isProven = method === 'facilitator_relay';
    return { chain, hour, time, payer, payee, relayer, facilitator, isProven, micros: BigInt(micros ?? 0) };
  });
}

/** The same figures counted one row at a time, without any of the program's SQL. */
export async function recountedFigures(reader: Reader): Promise<Figures> {
  const rows = await liveRows(reader);
  const usd = (some: readonly RawRow[]): string => decimal(some.reduce((sum, row) => sum + row.micros, 0n));
  const distinct = (some: readonly RawRow[], key: 'payer' | 'payee'): number =>
    new Set(some.map((row) => row[key])).size;
  const times = (some: readonly RawRow[]): string => {
    const sorted = some.map(({ time }) => time).sort();
    return `${sorted[0]} ${sorted.at(-1)}`;
  };
  const party = (key: 'payer' | 'payee', other: 'payer' | 'payee'): string[] =>
    grouped(
      rows,
      (row) => `0x${row[key]} ${row.chain}`,
      (some) => {
        const self = some.filter((row) => row.payer === row.payee);
        const proven = some.filter((row) => row.isProven);
        return `${some.length} ${usd(some)} ${self.length} ${usd(self)} ${proven.length} ${usd(proven)} ${distinct(some, other)} ${times(some)}`;
      },
    );
  return {
    payees: party('payee', 'payer'),
    payers: party('payer', 'payee'),
    relayers: grouped(
      rows,
      (row) => `${row.relayer} ${row.chain}`,
      (some) =>
        `${some.length} ${usd(some)} ${distinct(some, 'payer')} ${distinct(some, 'payee')} ${times(some)}`,
    ),
    hours: grouped(
      rows,
      (row) => `${row.chain} ${row.hour} ${row.facilitator}`,
      (some) => `${some.length} ${usd(some)}`,
    ),
  };
}

function grouped(
  rows: readonly RawRow[],
  key: (row: RawRow) => string,
  figures: (some: readonly RawRow[]) => string,
): string[] {
  const groups = new Map<string, RawRow[]>();
  for (const row of rows) {
    const group = groups.get(key(row));
    if (group === undefined) groups.set(key(row), [row]);
    else group.push(row);
  }
  return [...groups].map(([name, some]) => `${name} ${figures(some)}`).sort();
}

/** As the engine prints a Decimal: without trailing zeros. */
function decimal(micros: bigint): string {
  const fraction = String(micros % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${micros / 1_000_000n}${fraction === '' ? '' : `.${fraction}`}`;
}
