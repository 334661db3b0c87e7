import type { Figure } from '../support/figure.ts';
import { median } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import type { Stage } from './stage.ts';
import { KINDS, type Kind, type Mix } from './traffic.ts';
import { type MemoryUse, watchMemory } from './watch-memory.ts';
import { type Answers, countOf, rateOf, runWrk } from './wrk.ts';

/** As much as the machine can serve, for a minute: every connection asks again as soon as it is answered, and no request may be refused. */

/** The first third warms caches up, the others are compared. */
const THIRDS = 3;
const THIRD_SECONDS = 20;
const THIRD_SECONDS_QUICK = 4;
const P99_OVER_P50_MAX = 10;
/** Answers of a kind in a third from which on its percentiles are judged. */
const ANSWERS_MIN = 100;
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

export async function measureCapacity(context: BenchContext, stage: Stage, mix: Mix): Promise<Capacity> {
  const thirds: Third[] = [];
  for (let third = 1; third <= THIRDS; third++) {
    const seconds = context.quick ? THIRD_SECONDS_QUICK : THIRD_SECONDS;
    const { result, use } = await watchMemory(stage, loadAll(context, stage, { mix, seconds }));
    thirds.push({ answers: result, use });
    for (const { odd } of Object.values(result)) if (odd !== '') context.say(odd);
    const total = KINDS.reduce((sum, kind) => sum + rateOf(result[kind], isGood), 0);
    context.say(
      `${mix.name} ${third} of ${THIRDS}: ${total.toFixed(0)} answers a second; API ${use.apiRss.toFixed(0)} MiB (heap ${use.apiHeap.toFixed(1)}), engine ${use.engineRss.toFixed(0)} MiB`,
    );
  }
  const counted = thirds.slice(1);
  const mean = (kind: Kind): number =>
    counted.reduce((sum, { answers }) => sum + rateOf(answers[kind], isGood), 0) / counted.length;
  const rates = Object.fromEntries(KINDS.map((kind) => [kind, mean(kind)])) as Record<Kind, number>; // every kind is there
  const feedP50Ms = median(counted.map(({ answers }) => answers.feed.p50Ms));
  return {
    rates,
    feedP50Ms,
    figures: [...trafficFigures(mix, thirds, rates), ...memoryFigures(mix, thirds)],
  };
}

async function loadAll(
  { workspace }: BenchContext,
  { url, keys }: Stage,
  { mix, seconds }: { readonly mix: Mix; readonly seconds: number },
): Promise<Record<Kind, Answers>> {
  const answers = await Promise.all(
    KINDS.map(
      async (kind) =>
        [kind, await runWrk(workspace, { url, seconds, keys: keys.crowd, ...mix.kinds[kind] })] as const,
    ),
  );
  return Object.fromEntries(answers) as Record<Kind, Answers>; // every kind is there
}

const isGood = (status: number): boolean => status === 200;

function trafficFigures(mix: Mix, thirds: readonly Third[], rates: Capacity['rates']): Figure[] {
  const shown = { goal: '-', ok: true };
  const all = thirds.flatMap(({ answers }) => Object.values(answers));
  const count = (wanted: (status: number) => boolean): number =>
    all.reduce((sum, { statuses }) => sum + countOf(statuses, wanted), 0);
  const none = (name: string, value: number): Figure => ({
    name: `${mix.name}-${name}`,
    value,
    unit: 'answers',
    goal: '=0',
    ok: value === 0,
  });
  const counted = thirds.slice(1).map(({ answers }) => answers);
  const total = Object.values(rates).reduce((sum, rate) => sum + rate, 0);
  const { rateMin } = mix;
  return [
    {
      name: `${mix.name}-rate`,
      value: total,
      unit: 'answers/s',
      goal: rateMin === undefined ? '-' : `>=${rateMin}`,
      ok: rateMin === undefined || total >= rateMin,
    },
    ...KINDS.flatMap((kind) => {
      const p50 = median(counted.map((one) => one[kind].p50Ms));
      const ratio = Math.max(...counted.map((one) => one[kind].p99Ms / one[kind].p50Ms));
      const name = `${mix.name}-${kind}`;
      return [
        { name: `${name}-rate`, value: rates[kind], unit: 'answers/s', ...shown },
        { name: `${name}-p50`, value: p50, unit: 'ms', ...shown },
        {
          name: `${name}-p99-over-p50`,
          value: ratio,
          unit: 'x',
          // Of a handful of answers the slowest one is no percentile.
          ...(counted.every((one) => countOf(one[kind].statuses, isGood) >= ANSWERS_MIN)
            ? { goal: `<${P99_OVER_P50_MAX}`, ok: ratio < P99_OVER_P50_MAX }
            : shown),
        },
      ];
    }),
    none(
      '5xx',
      count((status) => status >= 500),
    ),
    none(
      'other-refusals',
      count((status) => status !== 200 && status < 500),
    ),
    none(
      'broken-connections',
      all.reduce((sum, { broken, timeouts }) => sum + broken + timeouts, 0),
    ),
  ];
}

function memoryFigures(mix: Mix, thirds: readonly Third[]): Figure[] {
  const [, second, last] = thirds;
  if (second === undefined || last === undefined) throw new Error('there are three thirds');
  const growth = (what: string, part: 'apiRss' | 'apiHeap' | 'engineRss', slack: number): Figure[] => {
    const name = `${mix.name}-${what}`;
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
    { name: `${mix.name}-event-loop-p99`, value: last.use.loopP99Ms, unit: 'ms', goal: '-', ok: true },
    { name: `${mix.name}-event-loop-max`, value: last.use.loopMaxMs, unit: 'ms', goal: '-', ok: true },
  ];
}
