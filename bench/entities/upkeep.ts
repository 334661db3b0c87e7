import { dateTime, sql } from '../../clickhouse/sql.ts';
import type { Figure } from '../support/figure.ts';
import { median } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { recompute } from './close-days.ts';
import type { Lab } from './lab.ts';

const DAY_SECONDS = 86_400;
const ROUNDS = 5;

/** What the workers pay: closing the history, computing one day anew. */
export async function measureUpkeep(lab: Lab, stage: string, { say }: BenchContext): Promise<Figure[]> {
  const { engine, closing, rows } = lab;
  const dayStart = lab.todayStart - DAY_SECONDS;
  const { rows: counted } = await engine.reader.rows({
    name: 'bench-day-rows',
    maxSeconds: 60,
    maxRows: 1,
    sql: sql`SELECT count() FROM settlements WHERE block_time >= ${dateTime(dayStart)} AND block_time < ${dateTime(lab.todayStart)}`,
  });
  const rowsOfDay = Number(counted[0]?.[0]);
  say(`computing a day of ${rowsOfDay} rows anew`);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++)
    times.push(await recompute(engine.writer, { dayStart, hour: null }));
  const shown = (name: string, value: number, unit: string): Figure => ({
    name: `${name}${stage}`,
    value,
    unit,
    goal: '-',
    ok: true,
  });
  return [
    shown('close-all-days', closing.ms / 1_000, 's'),
    shown('close-all-days-rows', (rows / closing.ms) * 1_000, 'rows/s'),
    shown('recompute-day', median(times), 'ms'),
    shown('recompute-day-rows', (rowsOfDay / median(times)) * 1_000, 'rows/s'),
  ];
}
