import { requestOf, send } from '../lab/api.ts';
import { loadFor } from '../lab/load.ts';
import { askEach, attempt, type Figure, inTurn, judged, median, shown } from '../lab/measure.ts';
import { type BenchContext, once, runBench } from '../lab/run.ts';
import { measureCapacity } from './capacity.ts';
import { measureConsole } from './console.ts';
import { measureEightTimes, measureStorm } from './overload.ts';
import { openStage, type Stage } from './stage.ts';
import { type Mix, mixesOf } from './traffic.ts';
import { requireWrk } from './wrk.ts';

/** Answers that are made once and given often: the result of an equal query, and a saved query whose result is warm. */

const QUERY =
  'SELECT payee, count() AS payments, sum(amount_usd) AS usd FROM settlements GROUP BY payee ORDER BY usd DESC LIMIT 20';
const MAX_AGE_SECONDS = 86_400;
/** For one key: a tier has 30 queries a minute, also where a kept result answers them. */
const REPEATS = { full: 25, quick: 10 };
/** Of the keys: until V8 has compiled the path of a request, it takes several times as long. */
const WARM_UP_SHARE = 0.5;
const ROUND_MS = { full: 5_000, quick: 1_500 };
const ROUNDS = 3;
const KEPT_GOAL_MS = 5;
const SAVED_GOAL_PER_SECOND = 1_000;
const HANDLE = 'bench-author';
const SLUG = 'top-payees';

async function measureKept(context: BenchContext, { url, keys }: Stage): Promise<Figure[]> {
  const [author = '', buyer = '', ...others] = keys.kept;
  const questions = [
    { name: 'kept-result', measure: () => measureAgain(context, url, others) },
    { name: 'saved-query', measure: () => measureSaved(context, url, { author, buyer }) },
  ];
  return askEach(questions, context.say, ({ measure }) => measure());
}

/** The median time of one query after the other that is answered from the kept result, by a process that has answered some before. */
async function measureAgain(
  { sized }: BenchContext,
  url: string,
  keys: readonly string[],
): Promise<Figure[]> {
  const ask = (key: string) => send(`${url}/v0/sql`, key, { sql: QUERY, max_age: MAX_AGE_SECONDS });
  let costs: { readonly totalMs: number; readonly apiMs: number }[] = [];
  for (const [index, key] of keys.entries()) {
    await ask(key); // the first makes the result, those of the others are charged for it
    if (index === Math.ceil(keys.length * WARM_UP_SHARE)) costs = [];
    for (let repeat = 0; repeat < sized(REPEATS); repeat++) costs.push(await ask(key));
  }
  const ms = median(costs.map(({ totalMs }) => totalMs));
  const apiMs = median(costs.map((cost) => cost.apiMs));
  return [judged('kept-result-p50', ms, 'ms', '<=', KEPT_GOAL_MS), shown('kept-result-api-p50', apiMs, 'ms')];
}

/** Answers a second of a warm saved query: for the keys of its organization, which pay nothing, and for another one, charged each time. */
async function measureSaved(
  { sized }: BenchContext,
  url: string,
  { author, buyer }: { readonly author: string; readonly buyer: string },
): Promise<Figure[]> {
  await put(`${url}/v0/account/handle`, author, { handle: HANDLE });
  await put(`${url}/v0/queries/${SLUG}`, author, {
    ...{ sql: QUERY, visibility: 'public', price_qu: 1, freshness_seconds: MAX_AGE_SECONDS },
  });
  const rateFor = async (key: string): Promise<number> => {
    const target = { url: `${url}/v0/q/${HANDLE}/${SLUG}`, key };
    const load = () => loadFor(target, sized(ROUND_MS));
    const { speeds } = await inTurn({ speeds: load }, { rounds: ROUNDS, warmUp: 1 }); // the first one makes the result
    return median(speeds.map(({ rate }) => rate));
  };
  return [
    judged('saved-query-rate', await rateFor(author), 'answers/s', '>=', SAVED_GOAL_PER_SECOND),
    shown('saved-query-sold-rate', await rateFor(buyer), 'answers/s'),
  ];
}

async function put(url: string, key: string, body: object): Promise<void> {
  const answer = await fetch(url, { ...requestOf(key, body), method: 'PUT' });
  if (!answer.ok) throw new Error(`${url} is answered ${answer.status}: ${await answer.text()}`);
}

const stageOf = once(openStage);

/** Capacity and overload are one part: the throughput under overload compares with the capacity of the same machine, measured just before. */
async function load(context: BenchContext): Promise<Figure[]> {
  requireWrk();
  const stage = await stageOf(context);
  const [mix, ...others] = await mixesOf(stage);
  const within = async (other: Mix) => (await measureCapacity(context, stage, other)).figures;
  const figures = await askEach(others, context.say, within);
  const capacity = await attempt(mix.name, { figures, say: context.say }, () =>
    measureCapacity(context, stage, mix),
  );
  if (capacity === undefined) return figures;
  const overloads = [
    { name: 'eight-times', measure: measureEightTimes },
    { name: 'storm', measure: measureStorm },
  ];
  const overloaded = await askEach(overloads, context.say, ({ name, measure }) => {
    context.say(name);
    return measure(context, stage, { mix, capacity });
  });
  return [...figures, ...capacity.figures, ...overloaded];
}

await runBench({
  name: 'load',
  description:
    'One API process at capacity, with eight times that, and with a crowd that never waits. Needs wrk.',
  parts: [
    {
      name: 'kept',
      summary: 'answers that are kept: a result again, and a saved query',
      run: async (context) => measureKept(context, await stageOf(context)),
    },
    {
      name: 'console',
      summary: 'what a visitor of the console waits for (needs chromium)',
      run: async (context) => measureConsole(context, await stageOf(context)),
    },
    { name: 'load', summary: 'three mixes at capacity, then far above it', run: load },
  ],
});
