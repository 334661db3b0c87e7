import type { Figure } from '../support/figure.ts';
import { median } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import type { Stage } from './stage.ts';
import { KINDS, type Kind } from './traffic.ts';
import { type MemoryUse, watchMemory } from './watch-memory.ts';
import { type Answers, type Asked, countOf, rateOf, runWrk } from './wrk.ts';

/** As much as the machine can serve, for a minute: every connection asks again as soon as it is answered, and no request may be refused. */

/** Enough to keep two cores busy without a queue anywhere. */
const CONNECTIONS: Readonly<Record<Kind, number>> = {
  feed: 8,
  wallet: 4,
  profile: 2,
  leaderboard: 2,
  sql: 2,
};
/** So that the queries of a minute stay within what the plans of their customers allow. */
const QUERY_PAUSE_MS = 100;
/** The first third warms caches up, the others are compared. */
const THIRDS = 3;
const THIRD_SECONDS = 20;
const THIRD_SECONDS_QUICK = 4;
const FEED_P99_OVER_P50_MAX = 10;
/** How much larger the last third may be than the second: a leak of a KiB a request would be tens of MiB. */
const GROWTH_MAX = 1.1;
const HEAP_SLACK_MIB = 4;
const API_SLACK_MIB = 16;
const ENGINE_SLACK_MIB = 96;

export interface Capacity {
  /** Good answers a second, by kind. */
  readonly rates: Readonly<Record<Kind, number>>;
  readonly feedP50Ms: number;
  readonly figures: readonly Figure[];
}

type Third = { readonly answers: Readonly<Record<Kind, Answers>>; readonly use: MemoryUse };

export async function measureCapacity(
  context: BenchContext,
  stage: Stage,
  traffic: Readonly<Record<Kind, readonly Asked[]>>,
): Promise<Capacity> {
  const thirds: Third[] = [];
  for (let third = 1; third <= THIRDS; third++) {
    const seconds = context.quick ? THIRD_SECONDS_QUICK : THIRD_SECONDS;
    const { result, use } = await watchMemory(stage, loadAll(context, stage, { traffic, seconds }));
    thirds.push({ answers: result, use });
    for (const { odd } of Object.values(result)) if (odd !== '') context.say(odd);
    const total = KINDS.reduce((sum, kind) => sum + rateOf(result[kind], isGood), 0);
    context.say(
      `third ${third}: ${total.toFixed(0)} answers a second; API ${use.apiRss.toFixed(0)} MiB (heap ${use.apiHeap.toFixed(1)}), engine ${use.engineRss.toFixed(0)} MiB`,
    );
  }
  const counted = thirds.slice(1);
  const mean = (kind: Kind): number =>
    counted.reduce((sum, { answers }) => sum + rateOf(answers[kind], isGood), 0) / counted.length;
  const rates = Object.fromEntries(KINDS.map((kind) => [kind, mean(kind)])) as Record<Kind, number>; // every kind is there
  const feedP50Ms = median(counted.map(({ answers }) => answers.feed.p50Ms));
  return { rates, feedP50Ms, figures: [...trafficFigures(thirds, rates), ...memoryFigures(thirds)] };
}

async function loadAll(
  { workspace }: BenchContext,
  { url, keys }: Stage,
  {
    traffic,
    seconds,
  }: { readonly traffic: Readonly<Record<Kind, readonly Asked[]>>; readonly seconds: number },
): Promise<Record<Kind, Answers>> {
  const answers = await Promise.all(
    KINDS.map(async (kind) => {
      const isQuery = kind === 'sql';
      const options = {
        url,
        seconds,
        keys: isQuery ? keys.queries : [keys.crowd],
        requests: traffic[kind],
        connections: CONNECTIONS[kind],
        pauseMs: isQuery ? QUERY_PAUSE_MS : 0,
      };
      return [kind, await runWrk(workspace, options)] as const;
    }),
  );
  return Object.fromEntries(answers) as Record<Kind, Answers>; // every kind is there
}

const isGood = (status: number): boolean => status === 200;

function trafficFigures(thirds: readonly Third[], rates: Capacity['rates']): Figure[] {
  const shown = { goal: '-', ok: true };
  const all = thirds.flatMap(({ answers }) => Object.values(answers));
  const count = (wanted: (status: number) => boolean): number =>
    all.reduce((sum, { statuses }) => sum + countOf(statuses, wanted), 0);
  const none = (name: string, value: number): Figure => ({
    name,
    value,
    unit: 'answers',
    goal: '=0',
    ok: value === 0,
  });
  const counted = thirds.slice(1).map(({ answers }) => answers);
  const ratio = Math.max(...counted.map(({ feed }) => feed.p99Ms / feed.p50Ms));
  return [
    ...KINDS.map((kind) => ({ name: `${kind}-rate`, value: rates[kind], unit: 'answers/s', ...shown })),
    ...KINDS.flatMap((kind) => [
      { name: `${kind}-p50`, value: median(counted.map((one) => one[kind].p50Ms)), unit: 'ms', ...shown },
      {
        name: `${kind}-p99`,
        value: Math.max(...counted.map((one) => one[kind].p99Ms)),
        unit: 'ms',
        ...shown,
      },
    ]),
    {
      name: 'feed-p99-over-p50',
      value: ratio,
      unit: 'x',
      goal: `<${FEED_P99_OVER_P50_MAX}`,
      ok: ratio < FEED_P99_OVER_P50_MAX,
    },
    none(
      'capacity-5xx',
      count((status) => status >= 500),
    ),
    none(
      'capacity-other-refusals',
      count((status) => status !== 200 && status < 500),
    ),
    none(
      'capacity-broken-connections',
      all.reduce((sum, { broken, timeouts }) => sum + broken + timeouts, 0),
    ),
  ];
}

function memoryFigures(thirds: readonly Third[]): Figure[] {
  const [, second, last] = thirds;
  if (second === undefined || last === undefined) throw new Error('there are three thirds');
  const growth = (name: string, part: 'apiRss' | 'apiHeap' | 'engineRss', slack: number): Figure[] => {
    const most = second.use[part] * GROWTH_MAX + slack;
    const value = last.use[part];
    return [
      { name, value, unit: 'MiB', goal: `<=${most.toFixed(0)}`, ok: value <= most },
      { name: `${name}-before`, value: second.use[part], unit: 'MiB', goal: '-', ok: true },
    ];
  };
  return [
    ...growth('api-heap', 'apiHeap', HEAP_SLACK_MIB),
    ...growth('api-rss', 'apiRss', API_SLACK_MIB),
    ...growth('engine-rss', 'engineRss', ENGINE_SLACK_MIB),
    { name: 'api-event-loop-p99', value: last.use.loopP99Ms, unit: 'ms', goal: '-', ok: true },
    { name: 'api-event-loop-max', value: last.use.loopMaxMs, unit: 'ms', goal: '-', ok: true },
  ];
}
