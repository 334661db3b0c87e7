import { dateTime, sql } from '../../clickhouse/engine/sql.ts';
import { shown } from '../scale/index-size.ts';
import type { Figure } from '../support/figure.ts';
import { median } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { recompute } from './close-days.ts';
import type { Lab } from './lab.ts';
import type { PostgresSession } from './postgres-session.ts';
import { pickRelayer, regradeRelayer } from './regrade.ts';
import { bytea } from './settlement-page-question.ts';

const DAY_SECONDS = 86_400;
const ROUNDS = 5;
const ROUNDS_PEER = 3;
const COUNT_SECONDS_MAX = 60;

/**
 * The cost of the workers: closing the history, recomputing one day, and naming one relayer. The last one leaves days dirty, so
 * this runs after every question.
 */
export async function measureUpkeep(
  lab: Lab,
  postgres: PostgresSession | undefined,
  { say }: Pick<BenchContext, 'say'>,
): Promise<Figure[]> {
  const { engine, closing, todayStart } = lab;
  const dayStart = todayStart - DAY_SECONDS;
  const rowsOfDay = await countRows(lab, dayStart);
  say(`computing a day of ${rowsOfDay} rows anew`);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++)
    times.push(await recompute(engine.writer, { dayStart, hour: null }));
  const peerDay = postgres === undefined ? [] : await recomputeInPostgres(postgres, dayStart);
  const relayer = await pickRelayer(engine.writer);
  say('naming one relayer');
  const regraded = await regradeRelayer(engine.writer, relayer, 'bench');
  const peerRegrade =
    postgres === undefined ? [] : [await regradeInPostgres(postgres, relayer, regraded.rows)];
  return [
    shown('close-all-days', closing.ms / 1_000, 's'),
    shown('close-slice', closing.ms / closing.slices, 'ms'),
    shown('recompute-day', median(times), 'ms'),
    shown('recompute-day-rows', (rowsOfDay / median(times)) * 1_000, 'rows/s'),
    ...peerDay.map((ms) => shown('recompute-day-postgres', ms, 'ms')),
    shown('regrade-relayer', regraded.ms, 'ms'),
    shown('regrade-relayer-changed', regraded.rows, 'rows'),
    shown('regrade-relayer-rows', (regraded.rows / regraded.ms) * 1_000, 'rows/s'),
    ...peerRegrade.map((ms) => shown('regrade-relayer-postgres', ms, 'ms')),
  ];
}

async function countRows({ engine }: Lab, dayStart: number): Promise<number> {
  const { rows } = await engine.reader.rows({
    name: 'bench-day-rows',
    maxSeconds: COUNT_SECONDS_MAX,
    maxRows: 1,
    sql: sql`SELECT count() FROM settlements
      WHERE block_time >= ${dateTime(dayStart)} AND block_time < ${dateTime(dayStart + DAY_SECONDS)}`,
  });
  return Number(rows[0]?.[0]);
}

/** The same four sums of a day, into temporary tables; exact distinct counts where our rollups keep mergeable states. */
async function recomputeInPostgres(postgres: PostgresSession, dayStart: number): Promise<number[]> {
  const during = `FROM settlements WHERE block_time >= to_timestamp(${dayStart}) AND block_time < to_timestamp(${dayStart + DAY_SECONDS})`;
  const sums =
    'count(*) AS n, sum(micros) AS total, min(block_time) AS first_time, max(block_time) AS last_time';
  const parts =
    'count(*) FILTER (WHERE payer = payee) AS self_n, sum(micros) FILTER (WHERE payer = payee) AS self_total, count(*) FILTER (WHERE method = 6) AS proven_n, sum(micros) FILTER (WHERE method = 6) AS proven_total';
  const statements = [
    `SELECT payee, chain, ${sums}, ${parts}, count(DISTINCT payer) AS payers ${during} GROUP BY 1, 2`,
    `SELECT payer, chain, ${sums}, ${parts}, count(DISTINCT payee) AS payees ${during} GROUP BY 1, 2`,
    `SELECT chain, relayer, ${sums}, count(DISTINCT payer) AS payers, count(DISTINCT payee) AS payees ${during} GROUP BY 1, 2`,
    `SELECT chain, date_trunc('hour', block_time) AS hour, facilitator, count(*) AS n, sum(micros) AS total ${during} GROUP BY 1, 2, 3`,
  ];
  const times: number[] = [];
  for (let round = 0; round < ROUNDS_PEER; round++) {
    let ms = 0;
    for (const [index, statement] of statements.entries()) {
      ms += (await postgres.ask(`CREATE TEMPORARY TABLE rollup_${index} AS ${statement}`)).ms;
      await postgres.ask(`DROP TABLE rollup_${index}`);
    }
    times.push(ms);
  }
  return [median(times)];
}

/** Names the relayer's rows, whose number must equal that of our own regrade. */
async function regradeInPostgres(
  postgres: PostgresSession,
  relayer: { readonly chain: string; readonly address: string },
  expected: number,
): Promise<number> {
  const condition = `relayer = ${bytea(relayer.address)} AND chain = (SELECT max(chain) FROM settlements)`;
  const { rows, ms } = await postgres.ask(
    `WITH changed AS (UPDATE settlements SET facilitator = 99, method = 6, seen = seen | 2048 WHERE ${condition} RETURNING 1) SELECT count(*) FROM changed`,
  );
  if (Number(rows[0]?.[0]) !== expected)
    throw new Error(`${expected} rows were regraded, in PostgreSQL ${rows[0]?.[0]}`);
  return ms;
}
