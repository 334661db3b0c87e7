import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Sql, sql } from '../../clickhouse/engine/sql.ts';
import { requestOf, send } from '../lab/api.ts';
import { rowsOf } from '../lab/engine.ts';
import { askEach, type Figure, inTurn, judged, median, quantile, shown, timed } from '../lab/measure.ts';
import { processFigures, sampleDuring } from '../lab/processes.ts';
import { at } from '../lab/questions.ts';
import { type BenchContext, runBench } from '../lab/run.ts';
import { measureFinish } from './finish.ts';
import { ENGINE_MEGABYTES, type SqlLab, sqlLab } from './lab.ts';
import { measureClickbench, measureScans } from './races.ts';
import { clickhouseInterface, streaming } from './streams.ts';

const ROUNDS = { full: 400, quick: 80 };
const WARM_UP = 20;
const FIRST_GOAL_MS = 3;
const AGAIN_GOAL_MS = 0.1;

const query = (number: number): string =>
  `SELECT payee, count() AS n, sum(amount_usd) AS usd, uniq(payer) FROM settlements WHERE block_time > now() - INTERVAL ${number} HOUR AND evidence_tier IN ('proven', 'probable') GROUP BY payee HAVING n > 3 ORDER BY usd DESC LIMIT 20`;

/** The time that the inspection adds to a query: for a new text, and for a known one. */
async function measureInspection(context: BenchContext): Promise<Figure[]> {
  const { sandbox } = await sqlLab(context);
  const inspect = async (round: number): Promise<number> => {
    const text = query(round + 1);
    const { ms, result } = await timed(() => sandbox.inspect({ text, parameters: {}, caller: 'bench' }));
    if ('refused' in result) throw new Error(result.refused.detail);
    return ms;
  };
  const effort = { rounds: context.sized(ROUNDS), warmUp: WARM_UP };
  const { first, again } = await inTurn({ first: inspect, again: inspect }, effort);
  return [
    judged('inspection-first-p50', median(first), 'ms', '<=', FIRST_GOAL_MS),
    shown('inspection-first-p99', quantile(first, 0.99), 'ms'),
    judged('inspection-cached-p50', median(again), 'ms', '<=', AGAIN_GOAL_MS),
  ];
}

const SHARE_GOAL_PERCENT = 2;
const NOBODY = `0x${'ab'.repeat(20)}`;
/** Payers by their number of rows. Each row costs its granule and the neighbouring ones, so many rows are many granules. */
const KINDS: readonly { readonly name: string; readonly having: Sql | null; readonly isJudged: boolean }[] = [
  { name: 'absent', having: null, isJudged: true },
  { name: 'median', having: sql`events = (SELECT quantileExact(0.5)(n) FROM counts)`, isJudged: true },
  { name: 'upper-decile', having: sql`events = (SELECT quantileExact(0.9)(n) FROM counts)`, isJudged: false },
  { name: 'busiest', having: sql`events = (SELECT max(n) FROM counts)`, isJudged: false },
];

/** The rows that an analyst's `WHERE payer = '0x…'` reads, by the answer's own figure. */
async function measurePredicates(context: BenchContext): Promise<Figure[]> {
  const lab = await sqlLab(context);
  return askEach(KINDS, context.say, async ({ name, having, isJudged }) => {
    const read: number[] = [];
    for (const [wallet, events] of having === null ? [[NOBODY, 0]] : await pickPayers(lab, having)) {
      const text = `SELECT count() AS n, sum(amount_usd) AS usd FROM settlements WHERE payer = '${wallet}'`;
      const answer: unknown = JSON.parse(
        (await send(`${lab.url}/v0/sql`, lab.nextKey(), { sql: text })).text,
      );
      const paid = Number(at(answer, 'rows.0.n'));
      if (paid !== Number(events)) throw new Error(`${wallet} paid ${events} times, SQL says ${paid}`);
      read.push(Number(at(answer, 'statistics.rows_read')));
    }
    const percent = (Math.max(...read) / lab.rows) * 100;
    const goal = isJudged && !context.quick ? SHARE_GOAL_PERCENT : undefined;
    return [judged(`where-payer-${name}-read-of-table`, percent, '%', '<', goal)];
  });
}

async function pickPayers({ engine }: SqlLab, having: Sql): Promise<readonly (readonly unknown[])[]> {
  const payers = await rowsOf(
    engine,
    sql`WITH counts AS (SELECT payer, count() AS n FROM (SELECT payer, del FROM settlements FINAL) WHERE del = 0 GROUP BY payer)
      SELECT concat('0x', lower(hex(payer))), n AS events FROM counts WHERE ${having} ORDER BY cityHash64(payer) LIMIT 10`,
  );
  if (payers.length === 0) throw new Error('no payer of this kind');
  return payers;
}

/** Point reads while callers send the most expensive queries that the sandbox admits. */

const QUIET_MS = { full: 20_000, quick: 4_000 };
const BOMBED_MS = { full: 60_000, quick: 12_000 };
const READ_EVERY_MS = 50;
const BOMBERS = 4;
const P99_GOAL = 3;
const RSS_EVERY_MS = 100;

const BOMBS = [
  'SELECT count() FROM numbers(1000000000000)',
  'SELECT number, count() FROM numbers(1000000000) GROUP BY number',
  "SELECT groupArray(repeat('x', 1000)) FROM numbers(100000000)",
  'SELECT a.number FROM numbers(100000) a CROSS JOIN numbers(100000) b ORDER BY cityHash64(a.number, b.number) LIMIT 1',
  'SELECT payer, payee, count() FROM settlements GROUP BY payer, payee ORDER BY 3 DESC LIMIT 10',
  'SELECT uniqExact(tx_hash), uniqExact(payer) FROM settlements',
  'SELECT s.payer, count() FROM settlements s JOIN wallet_settlements w ON s.tx_hash = w.tx_hash GROUP BY s.payer LIMIT 5',
  "SELECT max(length(arrayStringConcat(range(100000), ','))) FROM numbers(100000)",
  'SELECT * FROM settlements ORDER BY tx_hash DESC LIMIT 10 OFFSET 1000000',
  'WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t',
] as const;

/** What one caller alone runs with every idle core. */
const SCANS = [
  'SELECT payer, payee, count() AS c FROM settlements GROUP BY payer, payee ORDER BY c DESC LIMIT 10',
  'SELECT relayer, uniqExact(payer), sum(amount_usd) FROM settlements GROUP BY relayer ORDER BY relayer LIMIT 10',
] as const;

async function measureBombs(context: BenchContext): Promise<Figure[]> {
  const lab = await sqlLab(context);
  const quietMs = context.sized(QUIET_MS);
  const quiet = quantile(await readFor(lab, quietMs), 0.99);
  const scanned = await readDuring(lab, SCANS, { callers: 1, ms: quietMs });
  const bombing = readDuring(lab, BOMBS, { callers: BOMBERS, ms: context.sized(BOMBED_MS) });
  const { result: bombed, samples } = await sampleDuring(bombing, RSS_EVERY_MS, () => residentMib(lab));
  for (const [what, { ended }] of Object.entries({ scans: scanned, bombs: bombed }))
    context.say(`${what} ended as: ${[...ended].map(([code, count]) => `${code} ${count}`).join(', ')}`);
  const after = await bomb(lab, 'SELECT 1');
  const during = (name: string, { p99 }: { readonly p99: number }): Figure[] => [
    shown(`reads-during-${name}-p99`, p99, 'ms'),
    judged(`reads-during-${name}-against-quiet-p99`, p99 / quiet, 'x', '<=', P99_GOAL),
  ];
  return [
    shown('reads-quiet-p99', quiet, 'ms'),
    ...during('scans', scanned),
    ...during('bombs', bombed),
    judged('engine-memory-during-bombs', Math.max(...samples), 'MiB', '<=', ENGINE_MEGABYTES),
    judged('next-query-served', after === 'answered' ? 1 : 0, 'queries', '=', 1),
  ];
}

/** Of the engine's process; 0 while one that was killed starts again. */
function residentMib({ engine }: SqlLab): number {
  const pid = engine.pid();
  return pid !== undefined && existsSync(`/proc/${pid}`) ? processFigures(pid).residentMib : 0;
}

/** Point reads while callers send these texts one after another; the 99th percentile, and how the queries ended. */
async function readDuring(
  lab: SqlLab,
  texts: readonly string[],
  { callers, ms }: { readonly callers: number; readonly ms: number },
) {
  let isOver = false;
  const ended = new Map<string, number>();
  const calls = Array.from({ length: callers }, async (_, caller) => {
    for (let turn = caller; !isOver; turn++) {
      const code = await bomb(lab, texts[turn % texts.length] ?? '');
      ended.set(code, (ended.get(code) ?? 0) + 1);
    }
  });
  const times = await readFor(lab, ms);
  isOver = true;
  await Promise.all(calls);
  return { p99: quantile(times, 0.99), ended };
}

async function readFor({ url, nextKey }: SqlLab, milliseconds: number): Promise<number[]> {
  const times: number[] = [];
  const until = performance.now() + milliseconds;
  while (performance.now() < until) {
    const { totalMs } = await send(`${url}/v0/flows?limit=50`, nextKey());
    times.push(totalMs);
    await sleep(Math.max(0, READ_EVERY_MS - totalMs));
  }
  return times;
}

/** How a query ended: `answered`, or the code and reason of its problem. */
async function bomb({ url, nextKey }: SqlLab, text: string): Promise<string> {
  const answer = await fetch(`${url}/v0/sql`, requestOf(nextKey(), { sql: text }));
  const body = await answer.text();
  if (answer.ok) return 'answered';
  const problem = JSON.parse(body) as { code: string; reason?: string }; // RFC 9457, ours
  if (problem.code === 'rate_limited') await sleep(1_000);
  return [problem.code, problem.reason].filter(Boolean).join(':');
}

await runBench({
  name: 'sql',
  description:
    'SQL over millions of settlements: what judging, streaming and the views cost, and what bombs do.',
  parts: [
    { name: 'inspection', summary: 'what judging a query adds', run: measureInspection },
    streaming,
    clickhouseInterface,
    { name: 'predicates', summary: 'what WHERE payer = … reads', run: measurePredicates },
    { name: 'aggregates', summary: 'full scans through the view against a plain copy', run: measureScans },
    { name: 'duckdb', summary: 'the ClickBench-shaped questions against DuckDB', run: measureClickbench },
    {
      name: 'finish',
      summary: 'that each of these questions is answered, ten times in a row',
      run: measureFinish,
    },
    { name: 'bombs', summary: 'point reads while the sandbox is under attack', run: measureBombs },
  ],
});
