import type { Figure } from '../support/figure.ts';
import { quantile, timed } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { sqlLab } from './lab.ts';

/** The time that the inspection adds to a query: for a new text, and for a known one. */

const ROUNDS = 400;
const ROUNDS_QUICK = 80;
const WARM_UP = 20;
const FIRST_GOAL_MS = 3;
const AGAIN_GOAL_MS = 0.1;

const query = (number: number): string =>
  `SELECT payee, count() AS n, sum(amount_usd) AS usd, uniq(payer) FROM settlements WHERE block_time > now() - INTERVAL ${number} HOUR AND evidence_tier IN ('proven', 'probable') GROUP BY payee HAVING n > 3 ORDER BY usd DESC LIMIT 20`;

export async function measureInspection(context: BenchContext): Promise<Figure[]> {
  const { sandbox } = await sqlLab(context);
  const rounds = context.quick ? ROUNDS_QUICK : ROUNDS;
  const first: number[] = [];
  const again: number[] = [];
  for (let round = 0; round < rounds + WARM_UP; round++) {
    const text = query(round + 1);
    const unseen = await timed(() => sandbox.inspect({ text, parameters: {}, caller: 'bench' }));
    if ('refused' in unseen.result) throw new Error(unseen.result.refused.detail);
    const seen = await timed(() => sandbox.inspect({ text, parameters: {}, caller: 'bench' }));
    if (round < WARM_UP) continue;
    first.push(unseen.ms);
    again.push(seen.ms);
  }
  const figure = (name: string, value: number, goal: number | null): Figure => ({
    name,
    value,
    unit: 'ms',
    goal: goal === null ? '-' : `<=${goal}`,
    ok: goal === null || value <= goal,
  });
  return [
    figure('inspection-first-p50', quantile(first, 0.5), FIRST_GOAL_MS),
    figure('inspection-first-p99', quantile(first, 0.99), null),
    figure('inspection-cached-p50', quantile(again, 0.5), AGAIN_GOAL_MS),
  ];
}
