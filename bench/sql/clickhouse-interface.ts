import { cpus } from 'node:os';
import { GUEST_FULL_BLOCK_ROWS } from '../../clickhouse/guest/settings.ts';
import { watchEventLoop } from '../support/event-loop.ts';
import type { Figure } from '../support/figure.ts';
import type { LineProcess } from '../support/line-process.ts';
import { median } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { type SqlLab, sqlLab } from './lab.ts';
import type { StreamReply, StreamRequest } from './stream-client.ts';
import { QUESTION, startClient } from './streaming.ts';

/** The ClickHouse interface against the engine's own HTTP port: the same text, format and words, the same client. */

const ROWS = 1_000_000;
const ROWS_QUICK = 100_000;
const ROUNDS = 7;
const ROUNDS_QUICK = 3;
const SMALL_ROUNDS = 200;
const SMALL_ROUNDS_QUICK = 40;
const BEHIND_GOAL_MS = 3;
const MEMORY_GOAL_MIB = 150;
const MIB = 1024 * 1024;

const FORMATS = [
  { format: 'Native', goal: 0.9 },
  { format: 'RowBinary', goal: 0.9 },
  { format: 'JSONEachRow', goal: 0.7 },
] as const;

/** Answered from one granule. */
const SMALL = 'SELECT log_index, amount_usd FROM settlements ORDER BY block_time DESC LIMIT 1';

export async function measureClickhouseInterface(context: BenchContext): Promise<Figure[]> {
  const lab = await sqlLab(context);
  const client = startClient(context);
  const { quick } = context;
  const figures = await smallQueries(lab, client, quick ? SMALL_ROUNDS_QUICK : SMALL_ROUNDS);
  for (const { format, goal } of FORMATS)
    figures.push(...(await streamed(lab, client, { format, goal, quick })));
  return figures;
}

interface Times {
  readonly ours: number[];
  readonly theirs: number[];
}

/** The same rows. */
const LIKE_WITHIN = 0.01;

async function timed(
  lab: SqlLab,
  client: LineProcess,
  asked: { readonly text: string; readonly format: string; readonly rounds: number },
): Promise<Times> {
  const times: Times = { ours: [], theirs: [] };
  for (let round = 0; round <= asked.rounds; round++) {
    const direct = await client.ask<StreamReply>(toEngine(lab, asked));
    const served = await client.ask<StreamReply>(toInterface(lab, asked));
    // Blocks have heads of their own in Native, and threads decide where a block ends.
    const isLike = Math.abs(direct.bytes / served.bytes - 1) < LIKE_WITHIN;
    if (direct.status !== 200 || served.status !== 200 || !isLike)
      throw new Error(
        `${asked.format}: ${direct.status} with ${direct.bytes} bytes and ${served.status} with ${served.bytes}: ${served.start}`,
      );
    if (round === 0) continue; // both warm
    times.theirs.push(direct.ms);
    times.ours.push(served.ms);
  }
  return times;
}

async function smallQueries(lab: SqlLab, client: LineProcess, rounds: number): Promise<Figure[]> {
  const { ours, theirs } = await timed(lab, client, { text: SMALL, format: 'TabSeparated', rounds });
  const behind = median(ours) - median(theirs);
  return [
    { name: 'clickhouse-small-engine-p50', value: median(theirs), unit: 'ms', goal: '-', ok: true },
    { name: 'clickhouse-small-p50', value: median(ours), unit: 'ms', goal: '-', ok: true },
    {
      name: 'clickhouse-small-behind-engine',
      value: behind,
      unit: 'ms',
      goal: `<=${BEHIND_GOAL_MS}`,
      ok: behind <= BEHIND_GOAL_MS,
    },
  ];
}

async function streamed(
  lab: SqlLab,
  client: LineProcess,
  { format, goal, quick }: { readonly format: string; readonly goal: number; readonly quick: boolean },
): Promise<Figure[]> {
  globalThis.gc?.();
  const idleMib = process.memoryUsage.rss() / MIB;
  const watch = watchEventLoop();
  const text = `${QUESTION} LIMIT ${quick ? ROWS_QUICK : ROWS}`;
  const { ours, theirs } = await timed(lab, client, { text, format, rounds: quick ? ROUNDS_QUICK : ROUNDS });
  const grown = watch.stop().rssMaxMib - idleMib;
  const share = median(theirs) / median(ours);
  const name = `clickhouse-${format.toLowerCase()}`;
  return [
    { name: `${name}-engine-p50`, value: median(theirs), unit: 'ms', goal: '-', ok: true },
    { name: `${name}-p50`, value: median(ours), unit: 'ms', goal: '-', ok: true },
    { name: `${name}-speed-of-engine`, value: share, unit: 'x', goal: `>=${goal}`, ok: share >= goal },
    {
      name: `${name}-memory-over-idle`,
      value: grown,
      unit: 'MiB',
      goal: `<${MEMORY_GOAL_MIB}`,
      ok: grown < MEMORY_GOAL_MIB,
    },
  ];
}

interface Asked {
  readonly text: string;
  readonly format: string;
}

/** As the guest, with the forms that the interface writes by default. */
function toEngine({ engine }: SqlLab, { text, format }: Asked): StreamRequest {
  const { guest, url } = engine.access;
  const target = new URL(url);
  const words = {
    database: 'settlement_index_public',
    default_format: format,
    max_execution_time: '15',
    max_block_size: String(GUEST_FULL_BLOCK_ROWS),
    max_threads: String(cpus().length),
    output_format_json_quote_64bit_integers: '0',
    output_format_json_quote_decimals: '0',
    date_time_output_format: 'simple',
  };
  for (const [name, value] of Object.entries(words)) target.searchParams.set(name, value);
  const authorization = `Basic ${Buffer.from(`${guest.user}:${guest.password}`).toString('base64')}`;
  return { url: String(target), headers: { authorization }, body: text };
}

function toInterface({ url, nextKey }: SqlLab, { text, format }: Asked): StreamRequest {
  return {
    url: `${url}/clickhouse/?default_format=${format}`,
    headers: { 'x-clickhouse-key': nextKey() },
    body: text,
  };
}
