import { randomUUID } from 'node:crypto';
import type { Guest } from '../../clickhouse/engine/engine.ts';
import { createGuest } from '../../clickhouse/guest/engine.ts';
import type { Figure } from '../support/figure.ts';
import { median } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { PLAIN_TABLE, sqlLab } from './lab.ts';

/** Full scans through the public view against the same question on a plain copy of its rows, both as the guest. */

const RATIO_GOAL = 1.5;
const ROUNDS = 5;
const ROUNDS_QUICK = 3;
const SECONDS_MAX = 120;

const QUESTIONS = {
  'usd-by-chain': 'SELECT chain, count(), sum(amount_usd) FROM {} GROUP BY chain ORDER BY chain',
  'usd-by-day': 'SELECT toDate(block_time) AS day, sum(amount_usd) FROM {} GROUP BY day ORDER BY day',
  'proven-share':
    'SELECT evidence_tier, count(), round(avg(evidence_probability), 6) FROM {} GROUP BY evidence_tier ORDER BY evidence_tier',
  'top-payees':
    'SELECT payee, sum(amount_usd) AS usd FROM {} GROUP BY payee ORDER BY usd DESC, payee LIMIT 10',
  'unique-payers': 'SELECT uniqExact(payer) FROM {}',
  'self-payments':
    'SELECT facilitator, countIf(is_self_payment), max(amount_usd) FROM {} GROUP BY facilitator ORDER BY facilitator',
} as const;

export async function measureAggregates(context: BenchContext): Promise<Figure[]> {
  const { engine } = await sqlLab(context);
  const guest = createGuest(engine.access);
  context.workspace.defer(() => guest.close());
  const rounds = context.quick ? ROUNDS_QUICK : ROUNDS;
  const figures: Figure[] = [];
  for (const [name, question] of Object.entries(QUESTIONS)) {
    const view = question.replace('{}', 'settlements');
    const plain = question.replace('{}', PLAIN_TABLE);
    const times = { view: [] as number[], plain: [] as number[] };
    for (let round = 0; round <= rounds; round++) {
      const [seen, copied] = [await ask(guest, view), await ask(guest, plain)];
      if (seen.text !== copied.text)
        throw new Error(
          `${name}: the view says ${seen.text.slice(0, 200)}, the copy ${copied.text.slice(0, 200)}`,
        );
      if (round === 0) continue; // both warm
      times.view.push(seen.ms);
      times.plain.push(copied.ms);
    }
    const ratio = median(times.view) / median(times.plain);
    figures.push(
      { name: `scan-${name}-p50`, value: median(times.view), unit: 'ms', goal: '-', ok: true },
      {
        name: `scan-${name}-against-plain`,
        value: ratio,
        unit: 'x',
        goal: `<=${RATIO_GOAL}`,
        ok: ratio <= RATIO_GOAL,
      },
    );
  }
  return figures;
}

async function ask(guest: Guest, text: string): Promise<{ ms: number; text: string }> {
  const { body, figures } = await guest.query(
    {
      name: 'bench-scan',
      text,
      queryId: randomUUID(),
      format: 'TSV',
      maxRows: 10_000,
      maxSeconds: SECONDS_MAX,
    },
    new AbortController().signal,
  );
  let answer = '';
  for await (const chunk of body) answer += String(chunk);
  return { ms: figures.elapsedMs, text: answer };
}
