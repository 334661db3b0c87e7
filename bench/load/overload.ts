import { setTimeout as sleep } from 'node:timers/promises';
import { requestOf } from '../lab/api.ts';
import { type Figure, judged, median, quantile, shown } from '../lab/measure.ts';
import { at } from '../lab/questions.ts';
import type { BenchContext } from '../lab/run.ts';
import type { Capacity } from './capacity.ts';
import { type Stage, watchUse } from './stage.ts';
import { heavyQueries, KINDS, type Kind, type Mix } from './traffic.ts';
import { type Answers, brokenOf, countOf, isGood, rateOf, runWrk, type Stream } from './wrk.ts';

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
const SECONDS = { full: 20, quick: 6 };
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

interface Crowd {
  readonly name: string;
  readonly answers: Answers;
}

/** Eight times the requests a second that the machine serves, each kind of them, from callers who ask at their own pace. */
export async function measureEightTimes(
  context: BenchContext,
  { url, keys }: Stage,
  { mix, capacity }: Overload,
): Promise<Figure[]> {
  const target = { url, seconds: context.sized(SECONDS), keys: keys.crowd };
  const crowds = await Promise.all(
    KINDS.map(async (kind): Promise<Crowd> => {
      const wantedPerMs = (capacity.rates[kind] * TIMES) / 1_000;
      const wanted = Math.ceil(wantedPerMs * CYCLE_MS);
      const connections = Math.min(CONNECTIONS_MAX, Math.max(CONNECTIONS_MIN, wanted));
      const pauseMs = Math.round(connections / wantedPerMs);
      const { requests } = mix.kinds[kind];
      const stream = { requests, connections, pauseMs };
      return { name: kind, answers: await runWrk(context.workspace, target, stream) };
    }),
  );
  sayAll(crowds, context);
  const sent = crowds.reduce((sum, { answers }) => sum + rateOf(answers, () => true), 0);
  const times = sent / Object.values(capacity.rates).reduce((sum, rate) => sum + rate, 0);
  return [
    judged('eight-times-sent', times, 'x', '>=', SENT_TIMES_MIN),
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
  const { result, use } = await watchUse(stage, storm(context, stage, mix));
  const recoveryMs = await untilRecovered(stage, capacity.feedP50Ms);
  const { answersMs, refusals, wrong, undocumented } = await caller.stop();
  sayAll(result, context);
  for (const what of [...wrong, ...undocumented].slice(0, 5)) context.say(`not as it must be: ${what}`);
  return [
    ...crowdFigures('storm', result, { capacity, goodputMin: STORM_GOODPUT_MIN }),
    judged('patient-caller-answers', answersMs.length, 'answers', '>', 0),
    shown('patient-caller-refusals', refusals.length, 'answers'),
    shown('patient-caller-p50', median(answersMs), 'ms'),
    judged('patient-caller-p99', quantile(answersMs, 0.99), 'ms', '<=', PATIENT_P99_MAX_MS),
    judged('overload-wrong-answers', wrong.length, 'answers', '=', 0),
    judged('overload-undocumented-refusals', undocumented.length, 'answers', '=', 0),
    judged('recovery-after-overload', recoveryMs, 'ms', '<=', RECOVERY_MAX_MS),
    ...Object.entries(use).map(([what, value]) =>
      shown(`overload-${what.replace('heap', 'heap-after')}`, value, what.startsWith('event') ? 'ms' : 'MiB'),
    ),
  ];
}

function sayAll(crowds: readonly Crowd[], { say }: BenchContext): void {
  for (const { name, answers } of crowds) {
    const { statuses, p50Ms, p99Ms, odd } = answers;
    say(`${name}: ${JSON.stringify(statuses)} p50 ${p50Ms} ms, p99 ${p99Ms} ms ${odd}`);
  }
}

function storm({ workspace, sized }: BenchContext, { url, keys }: Stage, mix: Mix): Promise<Crowd[]> {
  const ask = async (name: string, own: readonly string[], stream: Stream): Promise<Crowd> => ({
    name,
    answers: await runWrk(workspace, { url, seconds: sized(SECONDS), keys: own }, stream),
  });
  const heavy = { requests: heavyQueries(), connections: HEAVY_CONNECTIONS_PER_CUSTOMER };
  return Promise.all([
    ...KINDS.map((kind) => {
      const { requests } = mix.kinds[kind];
      const own = kind === 'sql' ? keys.crowd : [keys.storm];
      return ask(kind, own, { requests, connections: STORM_CONNECTIONS[kind] });
    }),
    ...keys.heavy.map((key, index) => ask(`heavy-${index + 1}`, [key], heavy)),
  ]);
}

/** Milliseconds until the feed is as fast as it was. */
async function untilRecovered(stage: Stage, quietMs: number): Promise<number> {
  const began = performance.now();
  let good = 0;
  while (good < RECOVERED_ANSWERS) {
    const { status, ms } = await askPatiently(stage, '/v0/flows?limit=50');
    good = isGood(status) && ms <= quietMs * RECOVERED_OVER_QUIET ? good + 1 : 0;
    if (performance.now() - began > RECOVERY_MAX_MS * 4) return Number.POSITIVE_INFINITY;
    await sleep(RECOVERY_LOOK_EVERY_MS);
  }
  return performance.now() - began - RECOVERED_ANSWERS * RECOVERY_LOOK_EVERY_MS;
}

/** Codes that say "later". */
const SHED_CODES: readonly string[] = ['429 rate_limited', '503 overloaded', '503 upstream_unavailable'];
const PATIENT_PAGES = 8;
const PATIENT_PAUSE_MS = 50;

/**
 * A caller that heeds `Retry-After` and checks each answer: it must equal the one that it got before the overload. It asks for deep pages
 * of the feed, because those do not change. `stop` ends its walk and returns its observations.
 */
async function startPatientCaller(stage: Stage, paths: readonly string[]) {
  const asked = paths.slice(-PATIENT_PAGES);
  const expected = new Map<string, string>();
  for (const path of asked) expected.set(path, (await askPatiently(stage, path)).rows);
  const answersMs: number[] = []; // of good answers, refusals before them not counted
  const wrong: string[] = []; // pages that differ from those before the overload
  const refusals: string[] = [];
  const undocumented: string[] = []; // refusals that the catalogue of errors does not allow
  let isOver = false;
  const walking = (async () => {
    for (let turn = 0; !isOver; turn++) {
      const path = asked[turn % asked.length] ?? '';
      const { status, code, rows, retryAfter, ms } = await askPatiently(stage, path);
      if (isGood(status)) {
        answersMs.push(ms);
        if (rows !== expected.get(path)) wrong.push(path);
        await sleep(PATIENT_PAUSE_MS);
        continue;
      }
      refusals.push(code);
      if (!SHED_CODES.includes(code) || retryAfter === null) undocumented.push(code);
      await sleep(Number(retryAfter ?? 1) * 1_000);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await walking;
      return { answersMs, wrong, refusals, undocumented };
    },
  };
}

async function askPatiently({ url, keys }: Stage, path: string) {
  const began = performance.now();
  const answer = await fetch(`${url}${path}`, requestOf(keys.patient));
  const text = await answer.text();
  const ms = performance.now() - began;
  const body: unknown = JSON.parse(text); // our own API, problem documents included
  return {
    ...{ status: answer.status, ms, code: `${answer.status} ${at(body, 'code')}` },
    retryAfter: answer.headers.get('retry-after'),
    // The rows of a page that can no longer change, without the fields that depend on the time.
    rows: JSON.stringify(at(body, 'flows')),
  };
}

const isShed = (status: number): boolean => status === 429 || status === 503;
/** A query that its tier's time ended is answered with 400 `query_failed`: it ran. */
const isOdd = (status: number): boolean => !isGood(status) && status !== 400 && !isShed(status);
const READS = KINDS.filter((kind) => kind !== 'sql');

function crowdFigures(
  stage: string,
  crowds: readonly Crowd[],
  { capacity, goodputMin }: { readonly capacity: Capacity; readonly goodputMin: number },
): Figure[] {
  const all = crowds.map(({ answers }) => answers);
  const sum = (what: 'withoutRetryAfter' | 'withoutProblem'): number =>
    all.reduce((total, answers) => total + answers[what], 0);
  const none = (name: string, value: number, unit = 'answers'): Figure =>
    judged(`${stage}-${name}`, value, unit, '=', 0);
  const goodput = (name: string, kinds: readonly Kind[]): Figure => {
    const before = kinds.reduce((total, kind) => total + capacity.rates[kind], 0);
    const now = crowds.filter(({ name: of }) => kinds.some((kind) => kind === of));
    const share = now.reduce((total, { answers }) => total + rateOf(answers, isGood), 0) / before;
    return judged(`${stage}-${name}`, share, 'x', '>=', goodputMin);
  };
  return [
    goodput('goodput-of-capacity', KINDS),
    goodput('reads-goodput-of-capacity', READS),
    judged(`${stage}-shed`, countOf(all, isShed), 'answers', '>', 0),
    none('other-statuses', countOf(all, isOdd)),
    none('without-retry-after', sum('withoutRetryAfter')),
    none('without-problem', sum('withoutProblem')),
    none('broken-connections', brokenOf(all), 'connections'),
  ];
}
