import { fileURLToPath } from 'node:url';
import { watchEventLoop } from '../support/event-loop.ts';
import type { Figure } from '../support/figure.ts';
import { type LineProcess, startLineProcess } from '../support/line-process.ts';
import { median } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { type SqlLab, sqlLab } from './lab.ts';
import type { StreamReply, StreamRequest } from './stream-client.ts';

/** A million rows to a client, through the API and straight from the engine: the same text, user, format and limits. */

const ROWS = 1_000_000;
const ROWS_QUICK = 100_000;
const ROUNDS = 7;
const ROUNDS_QUICK = 3;
const SPEED_GOAL = 0.8;
const MEMORY_GOAL_MIB = 150;
const MIB = 1024 * 1024;

/** Short names and few columns: the time of a million rows is measured, not that of long texts. */
export const QUESTION = 'SELECT block_number AS b, log_index AS i, amount_usd AS usd FROM settlements';

const FORMATS = [
  { name: 'ndjson', ours: 'ndjson', theirs: 'JSONEachRow' },
  { name: 'parquet', ours: 'parquet', theirs: 'Parquet' },
] as const;

export async function measureStreaming(context: BenchContext): Promise<Figure[]> {
  const lab = await sqlLab(context);
  const client = startClient(context);
  const rows = context.quick ? ROWS_QUICK : ROWS;
  const figures: Figure[] = [];
  for (const format of FORMATS)
    figures.push(...(await compare(lab, client, { ...format, rows, quick: context.quick })));
  return figures;
}

interface Comparison {
  readonly name: string;
  readonly ours: string;
  readonly theirs: string;
  readonly rows: number;
  readonly quick: boolean;
}

async function compare(
  lab: SqlLab,
  client: LineProcess,
  { name, ours, theirs, rows, quick }: Comparison,
): Promise<Figure[]> {
  const times = { ours: [] as number[], theirs: [] as number[] };
  globalThis.gc?.();
  const idleMib = process.memoryUsage.rss() / MIB;
  const watch = watchEventLoop();
  for (let round = 0; round <= (quick ? ROUNDS_QUICK : ROUNDS); round++) {
    const direct = await client.ask<StreamReply>(engineRequest(lab, theirs, rows));
    const served = await client.ask<StreamReply>(apiRequest(lab, ours, rows));
    requireRows(direct, name, rows);
    requireRows(served, name, rows);
    if (round === 0) continue; // both warm
    times.theirs.push(direct.ms);
    times.ours.push(served.ms);
  }
  const loop = watch.stop();
  const share = median(times.theirs) / median(times.ours);
  const grown = loop.rssMaxMib - idleMib;
  return [
    { name: `stream-${name}-engine-p50`, value: median(times.theirs), unit: 'ms', goal: '-', ok: true },
    { name: `stream-${name}-p50`, value: median(times.ours), unit: 'ms', goal: '-', ok: true },
    {
      name: `stream-${name}-speed-of-engine`,
      value: share,
      unit: 'x',
      goal: `>=${SPEED_GOAL}`,
      ok: share >= SPEED_GOAL,
    },
    {
      name: `stream-${name}-api-memory-over-idle`,
      value: grown,
      unit: 'MiB',
      goal: `<${MEMORY_GOAL_MIB}`,
      ok: grown < MEMORY_GOAL_MIB,
    },
    { name: `stream-${name}-api-event-loop-max`, value: loop.maxMs, unit: 'ms', goal: '-', ok: true },
  ];
}

function engineRequest({ engine }: SqlLab, format: string, rows: number): StreamRequest {
  const { guest, url } = engine.access;
  const target = new URL(url);
  target.searchParams.set('database', 'settlement_index_public');
  target.searchParams.set('default_format', format);
  target.searchParams.set('max_execution_time', '60');
  const authorization = `Basic ${Buffer.from(`${guest.user}:${guest.password}`).toString('base64')}`;
  return { url: String(target), headers: { authorization }, body: `${QUESTION} LIMIT ${rows}` };
}

function apiRequest({ url, nextKey }: SqlLab, format: string, rows: number): StreamRequest {
  return {
    url: `${url}/v0/sql`,
    headers: { 'content-type': 'application/json', 'x-api-key': nextKey() },
    body: JSON.stringify({ sql: `${QUESTION} LIMIT ${rows}`, format }),
  };
}

function requireRows({ status, lines, bytes, start }: StreamReply, format: string, rows: number): void {
  const whole = status === 200 && (format === 'ndjson' ? lines === rows : bytes > rows);
  if (!whole) throw new Error(`${format} answered ${status}, ${lines} lines, ${bytes} bytes: ${start}`);
}

export function startClient({ workspace }: BenchContext): LineProcess {
  const script = fileURLToPath(new URL('./stream-client.ts', import.meta.url));
  return startLineProcess(workspace, ['--import', 'tsx', script, 'serve']);
}
