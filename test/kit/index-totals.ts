import { expressions } from '../../clickhouse/engine/account.ts';
import type { Reader } from '../../clickhouse/engine/engine.ts';
import { type Sql, sql, trustedText, unionAll } from '../../clickhouse/engine/sql.ts';
import {
  closedHours,
  closedSlices,
  openRows,
  type RollupCoverage,
} from '../../clickhouse/tables/coverage.ts';
import { closedRelayers, type RelayerTotals } from '../../src/operations/facilitators/read.ts';
import { pairsBetween } from '../../src/operations/index-state/pairs.ts';
import type { Lines, Recount, Totals } from './oracle/totals.ts';

/** The same lines as the recount's, as the tables tell them: rows, parties, and rollups with open slices read live. */

const MAX_SECONDS = 30;
const LINES_MAX = 1_000_000;

async function linesOf(reader: Reader, name: string, statement: Sql): Promise<Lines> {
  const { rows } = await reader.rows({ name, sql: statement, maxSeconds: MAX_SECONDS, maxRows: LINES_MAX });
  const lines = new Map<string, string>();
  for (const [key, line] of rows) {
    if (lines.has(String(key))) throw new Error(`${name}: ${String(key)} is there twice`);
    lines.set(String(key), String(line));
  }
  return lines;
}

export async function readIndex(reader: Reader, coverage: RollupCoverage): Promise<Recount> {
  const [settlements, walletLog, totals] = await Promise.all([
    linesOf(reader, 'truth-settlements', SETTLEMENTS),
    linesOf(reader, 'truth-wallet-log', WALLET_ROWS),
    readTotals(reader, coverage),
  ]);
  return { settlements, walletLog, ...totals };
}

/** What a reader of the rollups answers: closed slices from the tables, everything else from the rows. */
export async function readTotals(reader: Reader, coverage: RollupCoverage): Promise<Totals> {
  const [payees, payers, relayers, chainHours, pairs, fromPayees] = await Promise.all([
    linesOf(reader, 'truth-payees', partySql('payee', 'payer', coverage)),
    linesOf(reader, 'truth-payers', partySql('payer', 'payee', coverage)),
    linesOf(reader, 'truth-relayers', relayerSql(coverage, null)),
    linesOf(reader, 'truth-chain-hours', chainHourSql(coverage)),
    linesOf(reader, 'truth-pairs', pairSql(pairsBetween({ from: 0, to: null }, {}, coverage))),
    linesOf(reader, 'truth-pairs-by-payee', pairSql(pairsByPayee(coverage))),
  ]);
  return { payees, payers, relayers, chainHours, pairs, pairsByPayee: fromPayees };
}

/** The settlements once more, as analysts see them: from copied months, and from the rows of all other hours. */
export function readAnalystsView(reader: Reader): Promise<Lines> {
  return linesOf(reader, 'truth-analysts', ANALYSTS);
}

/** The live rows that a look-up by the hash of their transaction would miss: none. */
export function readUnfoundTransactions(reader: Reader): Promise<Lines> {
  return linesOf(reader, 'truth-unfound-transactions', UNFOUND_TRANSACTIONS);
}

/** The relayers once more, with one row of each for all that is merged, as the API reads them. */
export function readMergedRelayers(
  reader: Reader,
  coverage: RollupCoverage,
  totals: RelayerTotals,
): Promise<Lines> {
  return linesOf(reader, 'truth-merged-relayers', relayerSql(coverage, totals));
}

const { accountText, transactionText } = expressions;
const line = (...columns: readonly string[]): string =>
  `concat(${columns.map((column) => `toString(${column})`).join(", '|', ")})`;
const PLACE = line('chain', 'block_number', 'toUnixTimestamp(block_time)', 'log_index');
const GRADE = line(accountText('asset'), 'amount', accountText('relayer'), 'facilitator', 'method');

const SETTLEMENTS = trustedText(`
  SELECT ${PLACE}, ${line(transactionText('tx_hash'), accountText('payer'), accountText('payee'), GRADE)}
  FROM settlements FINAL WHERE del = 0`);

const ANALYSTS = trustedText(`
  SELECT ${PLACE}, ${line('tx_hash', 'payer', 'payee', line('asset', 'amount', 'relayer', "ifNull(facilitator, '')", 'evidence_method'))}
  FROM app_public.settlements`);

const UNFOUND_TRANSACTIONS = trustedText(`
  SELECT ${PLACE}, ${transactionText('tx_hash')} FROM settlements FINAL
  WHERE del = 0 AND (reinterpretAsUInt32(substring(tx_hash, 1, 4)), block_time) NOT IN (SELECT prefix, block_time FROM transaction_times)`);

const WALLET_ROWS = trustedText(`
  SELECT ${line('wallet', 'role', PLACE)}, ${line(transactionText('tx_hash'), accountText('counterparty'), GRADE)}
  FROM wallet_rows FINAL WHERE del = 0`);

/** Micros: a Decimal's text would drop trailing zeros. */
const micros = (usd: string): string => `toInt64(${usd} * 1000000)`;

function partySql(party: 'payer' | 'payee', other: 'payer' | 'payee', coverage: RollupCoverage): Sql {
  const sums = ['n', 'usd', 'self_n', 'self_usd_', 'proven_n', 'proven_usd_'].map((column) =>
    column.includes('usd') ? micros(`sum(${column})`) : `sum(${column})`,
  );
  const figures = line(
    ...sums,
    'uniqCombined64Merge(12)(others)',
    'toUnixTimestamp(min(first_time_))',
    'toUnixTimestamp(max(last_time_))',
  );
  return sql`
    SELECT ${trustedText(`${line('wallet_', 'chain')}, ${figures}`)} FROM (
      SELECT ${trustedText(`${party} AS wallet_`)}, chain, settlement_count AS n, settled_usd AS usd, self_count AS self_n,
        self_usd AS self_usd_, proven_count AS proven_n, proven_usd AS proven_usd_, ${trustedText(`${other}s AS others`)},
        first_time AS first_time_, last_time AS last_time_
      FROM ${trustedText(`${party}_day`)} FINAL WHERE settlement_count > 0 AND ${closedSlices(coverage)}
      UNION ALL
      SELECT ${trustedText(`${accountText(party)} AS wallet_`)}, chain, count(), sum(toDecimal128(amount_usd, 6)),
        countIf(payer = payee), sumIf(toDecimal128(amount_usd, 6), payer = payee),
        countIf(method = 'facilitator_relay'), sumIf(toDecimal128(amount_usd, 6), method = 'facilitator_relay'),
        ${trustedText(`uniqCombined64State(12)(${other})`)}, min(block_time), max(block_time)
      FROM settlements FINAL WHERE del = 0 AND kind = 'payment' AND ${openRows(coverage)} GROUP BY wallet_, chain
    ) GROUP BY wallet_, chain`;
}

const RELAYER_COLUMNS = sql`relayer, chain, settlement_count AS n, settled_usd AS usd, payers AS payers_,
  payees AS payees_, first_time AS first_time_, last_time AS last_time_`;

function relayerSql(coverage: RollupCoverage, totals: RelayerTotals | null): Sql {
  const figures = line(
    'sum(n)',
    micros('sum(usd)'),
    'uniqCombined64Merge(14)(payers_)',
    'uniqCombined64Merge(14)(payees_)',
    'toUnixTimestamp(min(first_time_))',
    'toUnixTimestamp(max(last_time_))',
  );
  return sql`
    SELECT ${trustedText(`${line(accountText('relayer'), 'chain')}, ${figures}`)} FROM (
      ${unionAll(closedRelayers(RELAYER_COLUMNS, [], { coverage, totals }))}
      UNION ALL
      SELECT relayer, chain, count(), sum(toDecimal128(amount_usd, 6)), uniqCombined64State(14)(payer),
        uniqCombined64State(14)(payee), min(block_time), max(block_time)
      FROM settlements FINAL WHERE del = 0 AND kind = 'payment' AND ${openRows(coverage)} GROUP BY relayer, chain
    ) GROUP BY relayer, chain`;
}

function chainHourSql(coverage: RollupCoverage): Sql {
  return sql`
    SELECT ${trustedText(`${line('chain', 'toUnixTimestamp(at)', 'facilitator')}, ${line('sum(n)', micros('sum(usd)'))}`)} FROM (
      SELECT chain, hour AS at, facilitator, settlement_count AS n, settled_usd AS usd
      FROM chain_hour FINAL WHERE settlement_count > 0 AND ${closedHours(coverage)}
      UNION ALL
      SELECT chain, toStartOfHour(block_time) AS at, facilitator, count(), sum(toDecimal128(amount_usd, 6))
      FROM settlements FINAL WHERE del = 0 AND kind = 'payment' AND ${openRows(coverage)} GROUP BY chain, at, facilitator
    ) GROUP BY chain, at, facilitator`;
}

function pairSql(pairs: Sql): Sql {
  const figures = line(
    'sum(settlement_count)',
    micros('sum(settled_usd)'),
    'sum(proven_count)',
    micros('sum(proven_usd)'),
    'toUnixTimestamp(min(first_time))',
    'toUnixTimestamp(max(last_time))',
  );
  return sql`SELECT ${trustedText(`${line(accountText('payer'), accountText('payee'), 'chain')}, ${figures}`)} FROM ${pairs} GROUP BY payer, payee, chain`;
}

/** All pairs from the table sorted by payee, which readers ask only for one payee. */
function pairsByPayee(coverage: RollupCoverage): Sql {
  return sql`(
    SELECT payer, payee, chain, settlement_count, proven_usd + other_usd AS settled_usd, proven_count, proven_usd,
      toDateTime(day, 'UTC') + first_second AS first_time, first_time + span AS last_time
    FROM pair_day_by_payee FINAL WHERE settlement_count > 0 AND ${closedSlices(coverage)}
    UNION ALL
    SELECT payer, payee, chain, toUInt64(1), toDecimal128(amount_usd, 6), toUInt64(method = 'facilitator_relay'),
      if(method = 'facilitator_relay', toDecimal128(amount_usd, 6), toDecimal128(0, 6)), block_time, block_time
    FROM settlements FINAL WHERE del = 0 AND kind = 'payment' AND ${openRows(coverage)})`;
}
