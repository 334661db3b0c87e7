import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { GUEST_FULL_BLOCK_ROWS } from '../../clickhouse/guest/settings.ts';
import { basic } from '../lab/engine.ts';
import { askEach, type Figure, inTurn, judged, median, shown } from '../lab/measure.ts';
import { startLineProcess, watchEventLoop } from '../lab/processes.ts';
import { type BenchContext, type BenchPart, once } from '../lab/run.ts';
import { PUBLIC_DATABASE, type SqlLab, sqlLab } from './lab.ts';
import type { StreamReply, StreamRequest } from './stream-client.ts';

/** Rows to a client, through the service and straight from the engine's own port: the same text, user, format and limits, the same client. */
interface Stream {
  readonly name: string;
  readonly route: Route;
  /** As the route calls it, and the engine. */
  readonly formats: readonly [ours: string, theirs: string];
  /** Of the engine's own speed. */
  readonly goal: number;
}

/** A way to the rows, and the same words for the engine. */
interface Route {
  ours(lab: SqlLab, text: string, format: string): StreamRequest;
  readonly engineWords: Readonly<Record<string, string>>;
  /** Whether both answers have as many bytes. */
  readonly isLike: boolean;
}

const ROWS = { full: 1_000_000, quick: 100_000 };
const ROUNDS = { full: 7, quick: 3 };
const SMALL_ROUNDS = { full: 200, quick: 40 };
const BEHIND_GOAL_MS = 3;
const MEMORY_GOAL_MIB = 150;
const MIB = 1024 * 1024;
/** Blocks have heads of their own in Native, and threads decide where a block ends. */
const LIKE_WITHIN = 0.01;
/** Short names and few columns: the time of a million rows is measured, not that of long texts. */
const QUESTION = 'SELECT block_number AS b, log_index AS i, amount_usd AS usd FROM settlements';
/** Answered from one granule. */
const SMALL = 'SELECT log_index, amount_usd FROM settlements ORDER BY block_time DESC LIMIT 1';

const API: Route = {
  ours: ({ url, nextKey }, text, format) => ({
    url: `${url}/v0/sql`,
    headers: { 'content-type': 'application/json', 'x-api-key': nextKey() },
    body: JSON.stringify({ sql: text, format }),
  }),
  engineWords: { max_execution_time: '60' },
  isLike: false,
};

const CLICKHOUSE_INTERFACE: Route = {
  ours: ({ url, nextKey }, text, format) => ({
    url: `${url}/clickhouse/?default_format=${format}`,
    headers: { 'x-clickhouse-key': nextKey() },
    body: text,
  }),
  // The forms that the interface writes by default.
  engineWords: {
    max_execution_time: '15',
    max_block_size: String(GUEST_FULL_BLOCK_ROWS),
    max_threads: String(cpus().length),
    output_format_json_quote_64bit_integers: '0',
    output_format_json_quote_decimals: '0',
    date_time_output_format: 'simple',
  },
  isLike: true,
};

const API_STREAMS: readonly Stream[] = [
  { name: 'stream-ndjson', route: API, formats: ['ndjson', 'JSONEachRow'], goal: 0.8 },
  { name: 'stream-parquet', route: API, formats: ['parquet', 'Parquet'], goal: 0.8 },
];
const INTERFACE_STREAMS = Object.entries({ Native: 0.9, RowBinary: 0.9, JSONEachRow: 0.7 }).map(
  ([format, goal]): Stream => ({
    ...{ name: `clickhouse-${format.toLowerCase()}`, route: CLICKHOUSE_INTERFACE },
    ...{ formats: [format, format], goal },
  }),
);

export const streaming: BenchPart = {
  name: 'streaming',
  summary: 'a million rows against the engine itself',
  run: (context) => askEach(API_STREAMS, context.say, (stream) => measureStream(context, stream)),
};

export const clickhouseInterface: BenchPart = {
  name: 'clickhouse',
  summary: 'the ClickHouse interface against the engine’s own port',
  async run(context) {
    // A query of one row, again and again.
    const small = { route: CLICKHOUSE_INTERFACE, formats: ['TabSeparated', 'TabSeparated'] } as const;
    const rounds = context.sized(SMALL_ROUNDS);
    const { ours, engine } = await raceStream(context, small, { text: SMALL, rows: 1, rounds });
    return [
      shown('clickhouse-small-engine-p50', engine, 'ms'),
      shown('clickhouse-small-p50', ours, 'ms'),
      judged('clickhouse-small-behind-engine', ours - engine, 'ms', '<=', BEHIND_GOAL_MS),
      ...(await askEach(INTERFACE_STREAMS, context.say, (stream) => measureStream(context, stream))),
    ];
  },
};

async function measureStream(context: BenchContext, stream: Stream): Promise<Figure[]> {
  const { name, route, goal } = stream;
  await sqlLab(context);
  globalThis.gc?.();
  const idleMib = process.memoryUsage.rss() / MIB;
  const watch = watchEventLoop();
  const memory = route === API ? 'api-memory' : 'memory';
  const [rows, rounds] = [context.sized(ROWS), context.sized(ROUNDS)];
  const text = `${QUESTION} LIMIT ${rows}`;
  const { ours, engine } = await raceStream(context, stream, { text, rows, rounds });
  const { rssMaxMib, maxMs } = watch.stop();
  return [
    shown(`${name}-engine-p50`, engine, 'ms'),
    shown(`${name}-p50`, ours, 'ms'),
    judged(`${name}-speed-of-engine`, engine / ours, 'x', '>=', goal),
    judged(`${name}-${memory}-over-idle`, rssMaxMib - idleMib, 'MiB', '<', MEMORY_GOAL_MIB),
    shown(`${name}-api-event-loop-max`, maxMs, 'ms'),
  ];
}

const streamClient = once(async ({ workspace }) => {
  const script = fileURLToPath(new URL('./stream-client.ts', import.meta.url));
  return startLineProcess(workspace, ['--import', 'tsx', script, 'serve']);
});

/** Median milliseconds of both sides; the first round of each only warms up. */
async function raceStream(
  context: BenchContext,
  { route, formats: [ourFormat, theirFormat] }: Pick<Stream, 'route' | 'formats'>,
  { text, rows, rounds }: { readonly text: string; readonly rows: number; readonly rounds: number },
) {
  const lab = await sqlLab(context);
  const client = await streamClient(context);
  const ask = async (request: StreamRequest, format: string): Promise<StreamReply> => {
    const reply = await client.ask<StreamReply>(request);
    const { status, lines, bytes, start } = reply;
    const hasLines = /json|Tab/i.test(format);
    if (status !== 200 || (hasLines ? lines !== rows : bytes <= rows))
      throw new Error(`${format} answered ${status}, ${lines} lines, ${bytes} bytes: ${start}`);
    return reply;
  };
  const sides = {
    engine: () => ask(toEngine(lab, route.engineWords, { text, format: theirFormat }), theirFormat),
    ours: () => ask(route.ours(lab, text, ourFormat), ourFormat),
  };
  const race = await inTurn(sides, { rounds, warmUp: 1 });
  for (const [round, { bytes }] of race.ours.entries()) {
    const direct = race.engine[round]?.bytes ?? 0;
    if (route.isLike && Math.abs(direct / bytes - 1) >= LIKE_WITHIN)
      throw new Error(`${ourFormat}: ${bytes} bytes, straight from the engine ${direct}`);
  }
  const ms = (replies: readonly StreamReply[]): number => median(replies.map((reply) => reply.ms));
  return { ours: ms(race.ours), engine: ms(race.engine) };
}

function toEngine(
  { engine }: SqlLab,
  words: Route['engineWords'],
  { text, format }: { readonly text: string; readonly format: string },
): StreamRequest {
  const { guest, url } = engine.access;
  const query = new URLSearchParams({ database: PUBLIC_DATABASE, default_format: format, ...words });
  return { url: `${url}?${query}`, headers: { authorization: basic(guest) }, body: text };
}
