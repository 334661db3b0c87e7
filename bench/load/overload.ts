import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../support/figure.ts';
import { median, quantile } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import type { Capacity } from './capacity.ts';
import { type Met, startPatientCaller } from './patient-caller.ts';
import type { Stage } from './stage.ts';
import { heavyQueries, KINDS, type Kind, type Mix } from './traffic.ts';
import { type MemoryUse, watchMemory } from './watch-memory.ts';
import { type Answers, type Asked, countOf, rateOf, runWrk } from './wrk.ts';

/**
 * Many times the load that the machine can serve: first eight times as many requests, then the storm, hundreds of connections that
 * repeat a refused request at once, and heavy SQL from several organizations. A request that cannot be served must be refused with a
 * retry time, every answer must be right, and refusals must not exhaust the machine.
 */

/** Thirty times the connections that keep the machine busy, none of which waits. */
const STORM_CONNECTIONS: Readonly<Record<Kind, number>> = {
  feed: 240,
  wallet: 120,
  profile: 60,
  leaderboard: 60,
  sql: 60,
};
const HEAVY_CONNECTIONS_PER_CUSTOMER = 12;
const SECONDS = 20;
const SECONDS_QUICK = 6;
const TIMES = 8;
/** A connection sends a request in as many milliseconds, so that most of them are not waiting for an answer. */
const CYCLE_MS = 1_000;
const CONNECTIONS_MIN = 8;
/** Of one kind; all of them together stay below what a process takes (`http.maxConnections`). */
const CONNECTIONS_MAX = 400;
/** Of the requests that were to be sent, those that must have been: callers who wait for an answer send none. */
const SENT_TIMES_MIN = 6;
/** Share of the good answers a second that the same machine gives without overload. */
const EIGHT_TIMES_GOODPUT_MIN = 0.8;
/** In the storm the heavy queries, which are no part of the capacity, take their share of the engine, too. */
const STORM_GOODPUT_MIN = 0.5;
/** A late answer is as bad as none: an admitted caller waits for its turn and then for the engine. */
const PATIENT_P99_MAX_MS = 5_000;
const RECOVERY_MAX_MS = 5_000;
const RECOVERED_OVER_QUIET = 3;
const RECOVERY_LOOK_EVERY_MS = 100;
/** Good answers in a row, each as fast as before the overload. */
const RECOVERED_ANSWERS = 5;

interface Overload {
  readonly mix: Mix;
  readonly capacity: Capacity;
}

/** Eight times the requests a second that the machine serves, each kind of them, from callers who ask at their own pace. */
export async function measureEightTimes(
  { workspace, quick, say }: BenchContext,
  { url, keys }: Stage,
  { mix, capacity }: Overload,
): Promise<Figure[]> {
  const seconds = quick ? SECONDS_QUICK : SECONDS;
  const crowds = await Promise.all(
    KINDS.map(async (kind): Promise<Crowd> => {
      const wantedPerMs = (capacity.rates[kind] * TIMES) / 1_000;
      const wanted = Math.ceil(wantedPerMs * CYCLE_MS);
      const connections = Math.min(CONNECTIONS_MAX, Math.max(CONNECTIONS_MIN, wanted));
      const { requests } = mix.kinds[kind];
      const pauseMs = Math.round(connections / wantedPerMs);
      const options = { url, seconds, keys: keys.crowd, requests, connections, pauseMs };
      return { name: kind, answers: await runWrk(workspace, options) };
    }),
  );
  sayAll(crowds, say);
  const sent = crowds.reduce((sum, { answers }) => sum + rateOf(answers, () => true), 0);
  const times = sent / Object.values(capacity.rates).reduce((sum, rate) => sum + rate, 0);
  return [
    {
      name: 'eight-times-sent',
      value: times,
      unit: 'x',
      goal: `>=${SENT_TIMES_MIN}`,
      ok: times >= SENT_TIMES_MIN,
    },
    ...crowdFigures('eight-times', crowds, { capacity, goodputMin: EIGHT_TIMES_GOODPUT_MIN }),
  ];
}

export async function measureStorm(
  context: BenchContext,
  stage: Stage,
  { mix, capacity }: Overload,
): Promise<Figure[]> {
  const paths = mix.kinds.feed.requests.map(({ path }) => path).filter((path) => path.includes('before='));
  const caller = await startPatientCaller(stage, paths);
  const { result, use } = await watchMemory(stage, storm(context, stage, mix));
  const recoveryMs = await untilRecovered(stage, capacity.feedP50Ms);
  const met = await caller.stop();
  sayAll(result, context.say);
  for (const wrong of [...met.wrong, ...met.undocumented].slice(0, 5))
    context.say(`not as it must be: ${wrong}`);
  return [
    ...crowdFigures('storm', result, { capacity, goodputMin: STORM_GOODPUT_MIN }),
    ...callerFigures(met),
    ...afterFigures(recoveryMs, use),
  ];
}

function sayAll(crowds: readonly Crowd[], say: BenchContext['say']): void {
  for (const { name, answers } of crowds)
    say(
      `${name}: ${JSON.stringify(answers.statuses)} p50 ${answers.p50Ms} ms, p99 ${answers.p99Ms} ms ${answers.odd}`,
    );
}

interface Crowd {
  readonly name: string;
  readonly answers: Answers;
}

function storm({ workspace, quick }: BenchContext, { url, keys }: Stage, mix: Mix): Promise<Crowd[]> {
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
        keys: kind === 'sql' ? keys.crowd : [keys.storm],
        requests: mix.kinds[kind].requests,
        connections: STORM_CONNECTIONS[kind],
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

function crowdFigures(
  stage: string,
  crowds: readonly Crowd[],
  { capacity, goodputMin }: { readonly capacity: Capacity; readonly goodputMin: number },
): Figure[] {
  const sum = (one: (answers: Answers) => number): number =>
    crowds.reduce((total, { answers }) => total + one(answers), 0);
  const none = (name: string, value: number, unit = 'answers'): Figure => ({
    name: `${stage}-${name}`,
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
    name: `${stage}-${name}`,
    value,
    unit: 'x',
    goal: `>=${goodputMin}`,
    ok: value >= goodputMin,
  });
  return [
    goodput('goodput-of-capacity', share(KINDS)),
    goodput('reads-goodput-of-capacity', share(KINDS.filter((kind) => kind !== 'sql'))),
    { name: `${stage}-shed`, value: shed, unit: 'answers', goal: '>0', ok: shed > 0 },
    none(
      'other-statuses',
      sum(({ statuses }) => countOf(statuses, (status) => !isShedOrServed(status))),
    ),
    none(
      'without-retry-after',
      sum(({ withoutRetryAfter }) => withoutRetryAfter),
    ),
    none(
      'without-problem',
      sum(({ withoutProblem }) => withoutProblem),
    ),
    none(
      'broken-connections',
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
