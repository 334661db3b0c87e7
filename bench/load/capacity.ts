import { type Figure, judged, median, shown } from '../lab/measure.ts';
import type { BenchContext } from '../lab/run.ts';
import { type Stage, type Use, watchUse } from './stage.ts';
import { KINDS, type Kind, type Mix } from './traffic.ts';
import { type Answers, brokenOf, countOf, isGood, rateOf, runWrk } from './wrk.ts';

/** As much as the machine can serve, for a minute: every connection asks again as soon as it is answered, and no request may be refused. */

/** The first third warms caches up, the others are compared. */
const THIRDS = 3;
const THIRD_SECONDS = { full: 20, quick: 4 };
const P99_OVER_P50_MAX = 10;
/** Answers of a kind in a third from which on its percentiles are judged. */
const ANSWERS_MIN = 100;
/** How much larger the last third may be than the second: a leak of a KiB a request would be tens of MiB. */
const GROWTH_MAX = 1.1;
const SLACK_MIB: Readonly<Record<string, number>> = { 'api-heap': 4, 'api-rss': 16, 'engine-rss': 96 };

export interface Capacity {
  /** Good answers a second, by kind. */
  readonly rates: Readonly<Record<Kind, number>>;
  readonly feedP50Ms: number;
  readonly figures: readonly Figure[];
}

type ByKind = Readonly<Record<Kind, Answers>>;
type Third = { readonly answers: ByKind; readonly use: Use };

export async function measureCapacity(context: BenchContext, stage: Stage, mix: Mix): Promise<Capacity> {
  const thirds: Third[] = [];
  for (let third = 1; third <= THIRDS; third++) {
    const { result, use } = await watchUse(stage, loadAll(context, stage, mix));
    thirds.push({ answers: result, use });
    for (const { odd } of Object.values(result)) if (odd !== '') context.say(odd);
    const total = KINDS.reduce((sum, kind) => sum + rateOf(result[kind], isGood), 0);
    context.say(
      `${mix.name} ${third} of ${THIRDS}: ${total.toFixed(0)} answers a second; ${JSON.stringify(use)}`,
    );
  }
  const counted = thirds.slice(1).map(({ answers }) => answers);
  const rates = byKind(
    (kind) => counted.reduce((sum, answers) => sum + rateOf(answers[kind], isGood), 0) / counted.length,
  );
  const feedP50Ms = median(counted.map(({ feed }) => feed.p50Ms));
  const figures = [...rateFigures(mix, counted, rates), ...refusalFigures(mix, thirds)];
  return { rates, feedP50Ms, figures: [...figures, ...useFigures(mix, thirds)] };
}

function byKind<T>(of: (kind: Kind) => T): Record<Kind, T> {
  return Object.fromEntries(KINDS.map((kind) => [kind, of(kind)])) as Record<Kind, T>; // every kind is there
}

async function loadAll({ workspace, sized }: BenchContext, { url, keys }: Stage, mix: Mix): Promise<ByKind> {
  const target = { url, seconds: sized(THIRD_SECONDS), keys: keys.crowd };
  const answers = await Promise.all(KINDS.map((kind) => runWrk(workspace, target, mix.kinds[kind])));
  return byKind((kind) => answers[KINDS.indexOf(kind)] as Answers); // in the order of KINDS
}

function rateFigures(mix: Mix, counted: readonly ByKind[], rates: Capacity['rates']): Figure[] {
  const total = Object.values(rates).reduce((sum, rate) => sum + rate, 0);
  return [
    judged(`${mix.name}-rate`, total, 'answers/s', '>=', mix.rateMin),
    ...KINDS.flatMap((kind) => {
      const answers = counted.map((one) => one[kind]);
      const ratio = Math.max(...answers.map(({ p99Ms, p50Ms }) => p99Ms / p50Ms));
      // Of a handful of answers the slowest one is no percentile.
      const isJudged = answers.every((one) => countOf([one], isGood) >= ANSWERS_MIN);
      const name = `${mix.name}-${kind}`;
      return [
        shown(`${name}-rate`, rates[kind], 'answers/s'),
        shown(`${name}-p50`, median(answers.map(({ p50Ms }) => p50Ms)), 'ms'),
        judged(`${name}-p99-over-p50`, ratio, 'x', '<', isJudged ? P99_OVER_P50_MAX : undefined),
      ];
    }),
  ];
}

function refusalFigures(mix: Mix, thirds: readonly Third[]): Figure[] {
  const all = thirds.flatMap(({ answers }) => Object.values(answers));
  const none = (name: string, count: number) => judged(`${mix.name}-${name}`, count, 'answers', '=', 0);
  const is5xx = (status: number): boolean => status >= 500;
  const isRefusal = (status: number): boolean => !isGood(status) && !is5xx(status);
  return [
    none('5xx', countOf(all, is5xx)),
    none('other-refusals', countOf(all, isRefusal)),
    none('broken-connections', brokenOf(all)),
  ];
}

function useFigures(mix: Mix, [, second, last]: readonly Third[]): Figure[] {
  return Object.entries(last?.use ?? {}).flatMap(([what, value]) => {
    const name = `${mix.name}-${what}`;
    const slack = SLACK_MIB[what];
    const before = second?.use[what as keyof Use] ?? Number.NaN; // of the same record
    if (slack === undefined) return [shown(name, value, 'ms')];
    const most = Math.round(before * GROWTH_MAX + slack);
    return [judged(name, value, 'MiB', '<=', most), shown(`${name}-before`, before, 'MiB')];
  });
}
