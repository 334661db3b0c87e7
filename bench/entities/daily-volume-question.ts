import { dateTime, sql } from '../../clickhouse/engine/sql.ts';
import { listed } from './facts.ts';
import type { Question } from './question.ts';

const MAX_SECONDS = 60;
const ROWS_MAX = 10_000;

/** Settlements and dollars by day and chain over everything. No route serves totals of all wallets; the public SQL tables will. */
export function dailyVolume(todayStart: number): Question {
  return {
    name: 'daily-volume',
    kind: 'days',
    bounded: false,
    asks: [
      {
        source: {
          name: 'bench-daily-volume',
          maxSeconds: MAX_SECONDS,
          maxRows: ROWS_MAX,
          settings: { do_not_merge_across_partitions_select_final: 1 },
          sql: sql`SELECT toString(day), chain, sum(settlements), toString(sum(usd)) FROM (
              SELECT toDate(hour) AS day, chain, settlement_count AS settlements, settled_usd AS usd FROM chain_hour FINAL
              WHERE hour < ${dateTime(todayStart)} AND settlement_count > 0
              UNION ALL
              SELECT toDate(block_time), chain, 1, toDecimal128(amount_usd, 6)
              FROM (SELECT block_time, chain, amount_usd, del FROM settlements FINAL WHERE block_time >= ${dateTime(todayStart)})
              WHERE del = 0)
            GROUP BY day, chain ORDER BY day, chain`,
        },
        peer: {
          statements: [
            {
              text: 'SELECT day, chain, n, total FROM chain_day ORDER BY 1, 2',
              literals: [],
            },
          ],
          ours: (rows) => ({
            exact: listed(
              'group',
              (rows as readonly (readonly string[])[]).map(([day = '', , count = '', usd = '0']) => [
                day,
                count,
                String(Math.round(Number(usd) * 1e6)),
              ]), // what the statement selects
            ),
          }),
          theirs: ([rows = []]) => ({
            exact: listed(
              'group',
              rows.map(([day = '', , count = '', micros = '']) => [day.slice(0, 10), count, micros]),
            ),
          }),
        },
      },
    ],
  };
}
