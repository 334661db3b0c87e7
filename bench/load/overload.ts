import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../support/figure.ts';
import { median, quantile } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import type { Capacity } from './capacity.ts';
import { type Met, startPatientCaller } from './patient-caller.ts';
import type { Stage } from './stage.ts';
import { heavyQueries, KINDS, type Kind } from './traffic.ts';
import { type MemoryUse, watchMemory } from './watch-memory.ts';
import { type Answers, type Asked, countOf, rateOf, runWrk } from './wrk.ts';

/**
 * Many times the load that the machine can serve, from callers who never wait: hundreds of connections that repeat a refused request
 * at once, and heavy SQL from several organizations. A request that cannot be served must be refused with a retry time, every answer
 * must be right, and refusals must not exhaust the machine.
 */

/** Thirty times the connections that keep the machine busy. */
const CONNECTIONS: Readonly<Record<Kind, number>> = {
  feed: 240,
  wallet: 120,
  profile: 60,
  leaderboard: 60,
  sql: 60,
};
const HEAVY_CONNECTIONS_PER_CUSTOMER = 12;
const SECONDS = 20;
const SECONDS_QUICK = 6;
/** Share of the good answers a second that the same machine gives without overload; refusals cost work, too. */
const GOODPUT_SHARE_MIN = 0.5;
/** A late answer is as bad as none: an admitted caller waits for its turn and then for the engine. */
const PATIENT_P99_MAX_MS = 5_000;
const RECOVERY_MAX_MS = 5_000;
const RECOVERED_OVER_QUIET = 3;
const RECOVERY_LOOK_EVERY_MS = 100;
/** Good answers in a row, each as fast as before the overload. */
const RECOVERED_ANSWERS = 5;

export async function measureOverload(
  context: BenchContext,
  stage: Stage,
  {
    traffic,
    capacity,
  }: { readonly traffic: Readonly<Record<Kind, readonly Asked[]>>; readonly capacity: Capacity },
): Promise<Figure[]> {
  const paths = traffic.feed.map(({ path }) => path).filter((path) => path.includes('before='));
  const caller = await startPatientCaller(stage, paths);
  const { result, use } = await watchMemory(stage, crowd(context, stage, traffic));
  const recoveryMs = await untilRecovered(stage, capacity.feedP50Ms);
  const met = await caller.stop();
  for (const { name, answers } of result)
    context.say(
      `${name}: ${JSON.stringify(answers.statuses)} p50 ${answers.p50Ms} ms, p99 ${answers.p99Ms} ms ${answers.odd}`,
    );
  for (const wrong of [...met.wrong, ...met.undocumented].slice(0, 5))
    context.say(`not as it must be: ${wrong}`);
  return [...crowdFigures(result, capacity), ...callerFigures(met), ...afterFigures(recoveryMs, use)];
}

interface Crowd {
  readonly name: string;
  readonly answers: Answers;
}

function crowd(
  { workspace, quick }: BenchContext,
  { url, keys }: Stage,
  traffic: Readonly<Record<Kind, readonly Asked[]>>,
): Promise<Crowd[]> {
  const seconds = quick ? SECONDS_QUICK : SECONDS;
  const heavy = heavyQueries();
  const ask = async (
    name: string,
    options: { keys: readonly string[]; requests: readonly Asked[]; connections: number },
  ) => ({
    name,
    answers: await runWrk(workspace, { url, seconds, ...options }),
  });
  return Promise.all([
    ...KINDS.map((kind) =>
      ask(kind, {
        keys: kind === 'sql' ? keys.queries : [keys.crowd],
        requests: traffic[kind],
        connections: CONNECTIONS[kind],
      }),
    ),
    ...keys.heavy.map((one, index) =>
      ask(`heavy-${index + 1}`, {
        keys: [one],
        requests: heavy,
        connections: HEAVY_CONNECTIONS_PER_CUSTOMER,
      }),
    ),
  ]);
}

/** Milliseconds until the feed is as fast as it was. */
async function untilRecovered({ url, keys }: Stage, quietMs: number): Promise<number> {
  const began = performance.now();
  let good = 0;
  while (good < RECOVERED_ANSWERS) {
    const asked = performance.now();
    const answer = await fetch(`${url}/v0/flows?limit=50`, { headers: { 'x-api-key': keys.patient } });
    await answer.arrayBuffer();
    const isFast = performance.now() - asked <= quietMs * RECOVERED_OVER_QUIET;
    good = answer.ok && isFast ? good + 1 : 0;
    if (performance.now() - began > RECOVERY_MAX_MS * 4) return Number.POSITIVE_INFINITY;
    await sleep(RECOVERY_LOOK_EVERY_MS);
  }
  return performance.now() - began - RECOVERED_ANSWERS * RECOVERY_LOOK_EVERY_MS;
}

const isGood = (status: number): boolean => status === 200;
/** A query that its tier's time ended is answered with 400 `query_failed`: it ran. */
const isShedOrServed = (status: number): boolean => [200, 400, 429, 503].includes(status);

function crowdFigures(crowds: readonly Crowd[], capacity: Capacity): Figure[] {
  const sum = (one: (answers: Answers) => number): number =>
    crowds.reduce((total, { answers }) => total + one(answers), 0);
  const none = (name: string, value: number, unit = 'answers'): Figure => ({
    name,
    value,
    unit,
    goal: '=0',
    ok: value === 0,
  });
  const shed = sum(({ statuses }) => countOf(statuses, (status) => status === 429 || status === 503));
  const share = (kinds: readonly Kind[]): number => {
    const before = kinds.reduce((total, kind) => total + capacity.rates[kind], 0);
    const now = crowds.filter(({ name }) => kinds.some((kind) => kind === name));
    return now.reduce((total, { answers }) => total + rateOf(answers, isGood), 0) / before;
  };
  const goodput = (name: string, value: number): Figure => ({
    name,
    value,
    unit: 'x',
    goal: `>=${GOODPUT_SHARE_MIN}`,
    ok: value >= GOODPUT_SHARE_MIN,
  });
  return [
    goodput('overload-goodput-of-capacity', share(KINDS)),
    goodput('overload-reads-goodput-of-capacity', share(KINDS.filter((kind) => kind !== 'sql'))),
    { name: 'overload-shed', value: shed, unit: 'answers', goal: '>0', ok: shed > 0 },
    none(
      'overload-other-statuses',
      sum(({ statuses }) => countOf(statuses, (status) => !isShedOrServed(status))),
    ),
    none(
      'overload-without-retry-after',
      sum(({ withoutRetryAfter }) => withoutRetryAfter),
    ),
    none(
      'overload-without-problem',
      sum(({ withoutProblem }) => withoutProblem),
    ),
    none(
      'overload-broken-connections',
      sum(({ broken, timeouts }) => broken + timeouts),
      'connections',
    ),
  ];
}

function callerFigures({ answersMs, refusals, wrong, undocumented }: Met): Figure[] {
  const p99 = quantile(answersMs, 0.99);
  return [
    {
      name: 'patient-caller-answers',
      value: answersMs.length,
      unit: 'answers',
      goal: '>0',
      ok: answersMs.length > 0,
    },
    { name: 'patient-caller-refusals', value: refusals, unit: 'answers', goal: '-', ok: true },
    { name: 'patient-caller-p50', value: median(answersMs), unit: 'ms', goal: '-', ok: true },
    {
      name: 'patient-caller-p99',
      value: p99,
      unit: 'ms',
      goal: `<=${PATIENT_P99_MAX_MS}`,
      ok: p99 <= PATIENT_P99_MAX_MS,
    },
    {
      name: 'overload-wrong-answers',
      value: wrong.length,
      unit: 'answers',
      goal: '=0',
      ok: wrong.length === 0,
    },
    {
      name: 'overload-undocumented-refusals',
      value: undocumented.length,
      unit: 'answers',
      goal: '=0',
      ok: undocumented.length === 0,
    },
  ];
}

function afterFigures(recoveryMs: number, use: MemoryUse): Figure[] {
  return [
    {
      name: 'recovery-after-overload',
      value: recoveryMs,
      unit: 'ms',
      goal: `<=${RECOVERY_MAX_MS}`,
      ok: recoveryMs <= RECOVERY_MAX_MS,
    },
    { name: 'overload-api-rss', value: use.apiRss, unit: 'MiB', goal: '-', ok: true },
    { name: 'overload-api-heap-after', value: use.apiHeap, unit: 'MiB', goal: '-', ok: true },
    { name: 'overload-engine-rss', value: use.engineRss, unit: 'MiB', goal: '-', ok: true },
    { name: 'overload-event-loop-p99', value: use.loopP99Ms, unit: 'ms', goal: '-', ok: true },
    { name: 'overload-event-loop-max', value: use.loopMaxMs, unit: 'ms', goal: '-', ok: true },
  ];
}
