import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../support/figure.ts';
import { quantile, timed } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { type SqlLab, sqlLab } from './lab.ts';

/** Point reads while callers send the most expensive queries that the sandbox admits. */

const QUIET_MS = 20_000;
const BOMBED_MS = 60_000;
const QUICK_DIVISOR = 5;
const READ_EVERY_MS = 50;
const BOMBERS = 4;
const P99_GOAL = 3;
const RSS_EVERY_MS = 100;
/** Of max_server_memory_usage: the engine's own figure leaves the allocator's slack out. */
const MEMORY_CAP_MIB = 4_096;

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

export async function measureBombs(context: BenchContext): Promise<Figure[]> {
  const lab = await sqlLab(context);
  const divisor = context.quick ? QUICK_DIVISOR : 1;
  const quiet = quantile(await readFor(lab, QUIET_MS / divisor), 0.99);
  const scanned = await readDuring(lab, { texts: SCANS, callers: 1, ms: QUIET_MS / divisor });
  const memory = watchMemory(lab);
  const bombed = await readDuring(lab, { texts: BOMBS, callers: BOMBERS, ms: BOMBED_MS / divisor });
  const rssMib = memory.stop();
  for (const [what, { ended }] of Object.entries({ scans: scanned, bombs: bombed }))
    context.say(`${what} ended as: ${[...ended].map(([code, count]) => `${code} ${count}`).join(', ')}`);
  const after = await bomb(lab, 'SELECT 1');
  return [
    { name: 'reads-quiet-p99', value: quiet, unit: 'ms', goal: '-', ok: true },
    ...besideFigures('reads-during-scans', scanned.p99, quiet),
    ...besideFigures('reads-during-bombs', bombed.p99, quiet),
    {
      name: 'engine-memory-during-bombs',
      value: rssMib,
      unit: 'MiB',
      goal: `<=${MEMORY_CAP_MIB}`,
      ok: rssMib <= MEMORY_CAP_MIB,
    },
    {
      name: 'next-query-served',
      value: after === 'answered' ? 1 : 0,
      unit: 'queries',
      goal: '=1',
      ok: after === 'answered',
    },
  ];
}

function besideFigures(name: string, p99: number, quiet: number): Figure[] {
  const ratio = p99 / quiet;
  return [
    { name: `${name}-p99`, value: p99, unit: 'ms', goal: '-', ok: true },
    {
      name: `${name}-against-quiet-p99`,
      value: ratio,
      unit: 'x',
      goal: `<=${P99_GOAL}`,
      ok: ratio <= P99_GOAL,
    },
  ];
}

interface Load {
  readonly texts: readonly string[];
  readonly callers: number;
  readonly ms: number;
}

/** Point reads while callers send these texts one after another; the 99th percentile, and how the queries ended. */
async function readDuring(lab: SqlLab, { texts, callers, ms }: Load) {
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
    const { ms, result } = await timed(() => readFlows(url, nextKey()));
    if (result !== 200) throw new Error(`a read answered ${result}`);
    times.push(ms);
    await sleep(Math.max(0, READ_EVERY_MS - ms));
  }
  return times;
}

async function readFlows(url: string, key: string): Promise<number> {
  const answer = await fetch(`${url}/v0/flows?limit=50`, { headers: { 'x-api-key': key } });
  await answer.arrayBuffer();
  return answer.status;
}

/** How a query ended: `answered`, or the code and reason of its problem. */
async function bomb({ url, nextKey }: SqlLab, sql: string): Promise<string> {
  const answer = await fetch(`${url}/v0/sql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': nextKey() },
    body: JSON.stringify({ sql }),
  });
  const text = await answer.text();
  if (answer.ok) return 'answered';
  const problem = JSON.parse(text) as { code: string; reason?: string }; // RFC 9457, ours
  if (problem.code === 'rate_limited') await sleep(1_000);
  return [problem.code, problem.reason].filter(Boolean).join(':');
}

/** Largest resident set of the engine's process. */
function watchMemory({ engine }: SqlLab): { stop(): number } {
  let largest = 0;
  const look = (): void => {
    const pid = engine.pid();
    if (pid === undefined) return;
    const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    largest = Math.max(largest, Number(kib) / 1024);
  };
  const timer = setInterval(look, RSS_EVERY_MS);
  return {
    stop: () => {
      clearInterval(timer);
      look();
      return largest;
    },
  };
}
