import { requestOf } from '../lab/api.ts';
import { type Figure, judged, shown, timeLeft } from '../lab/measure.ts';
import type { BenchContext } from '../lab/run.ts';
import { type SqlLab, sqlLab } from './lab.ts';
import { clickbenchQuestions, withIds } from './races.ts';

/** Whether every ClickBench-shaped question ends with an answer, by address and by id, one at a time and two at once. */

const ROUNDS = { full: 10, quick: 1 };
/** From here on with the tier that is for such tables. */
const EXTENDED_FROM_ROWS = 20_000_000;
/** In turn with their own organization, so that no rate limit answers. */
const TOGETHER = 2;

interface Asked {
  readonly name: string;
  readonly sql: string;
}

export async function measureFinish(context: BenchContext): Promise<Figure[]> {
  const lab = await sqlLab(context);
  const tier = lab.rows < EXTENDED_FROM_ROWS ? 'standard' : 'extended';
  const texts = clickbenchQuestions().flatMap(({ id, sql }) => {
    const ids = withIds(sql);
    return ids === sql
      ? [{ name: id, sql }]
      : [
          { name: id, sql },
          { name: `${id}-by-ids`, sql: ids },
        ];
  });
  const rounds = context.sized(ROUNDS);
  const alone = await askAll(context, { lab, tier, texts, rounds, together: 1 });
  const beside = await askAll(context, { lab, tier, texts, rounds: 1, together: TOGETHER });
  return [
    shown(`finish-${tier}-asked`, alone.asked, 'queries'),
    judged(`finish-${tier}-not-answered`, alone.failed, 'queries', '=', 0),
    shown(`finish-${tier}-longest`, alone.longestMs / 1_000, 's'),
    judged(`finish-${tier}-two-at-once-not-answered`, beside.failed, 'queries', '=', 0),
    shown(`finish-${tier}-two-at-once-longest`, beside.longestMs / 1_000, 's'),
  ];
}

async function askAll(
  { say }: BenchContext,
  {
    lab,
    tier,
    texts,
    rounds,
    together,
  }: {
    readonly lab: SqlLab;
    readonly tier: string;
    readonly texts: readonly Asked[];
    readonly rounds: number;
    readonly together: number;
  },
): Promise<{ readonly asked: number; readonly failed: number; readonly longestMs: number }> {
  const began = performance.now();
  const seen = { asked: 0, failed: 0, longestMs: 0 };
  const queue = Array.from({ length: rounds }, () => texts).flat();
  const askNext = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const askedMs = performance.now();
      const body = { sql: next.sql, tier };
      const answer = await fetch(`${lab.url}/v0/sql`, requestOf(lab.nextKey(), body));
      const text = await answer.text();
      seen.asked += 1;
      seen.longestMs = Math.max(seen.longestMs, performance.now() - askedMs);
      if (!answer.ok) {
        seen.failed += 1;
        say(`${next.name} is answered ${answer.status}: ${text.slice(0, SHOWN_CHARS)}`);
      }
      if (seen.asked % texts.length === 0)
        say(`${seen.asked} asked, ${together} at once${timeLeft(began, seen.asked, rounds * texts.length)}`);
    }
  };
  await Promise.all(Array.from({ length: together }, askNext));
  return seen;
}

const SHOWN_CHARS = 400;
