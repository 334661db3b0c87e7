import { pickWallets, WALLET_KINDS } from '../entities/wallets.ts';
import type { Figure } from '../support/figure.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { type SqlLab, sqlLab } from './lab.ts';

/** What an analyst's `WHERE payer = '0x…'` reads, as the answer itself says. */

const SHARE_GOAL_PERCENT = 2;
const WALLETS = 5;

interface SqlBody {
  readonly rows: readonly Readonly<Record<string, string>>[];
  readonly statistics: { readonly rows_read: number };
  readonly duration_ms: number;
}

export async function measurePredicates(context: BenchContext): Promise<Figure[]> {
  const lab = await sqlLab(context);
  const { payers } = await pickWallets(lab.engine.reader);
  const figures: Figure[] = [];
  for (const kind of WALLET_KINDS) {
    const read: number[] = [];
    for (const wallet of payers[kind].slice(0, WALLETS)) {
      const { rows, statistics } = await ask(
        lab,
        `SELECT count() AS n, sum(amount_usd) AS usd FROM settlements WHERE payer = '${wallet}'`,
      );
      if (Number(rows[0]?.['n']) === 0) throw new Error(`${wallet} paid nothing`);
      read.push(statistics.rows_read);
    }
    const percent = (Math.max(...read) / lab.rows) * 100;
    // The busiest pay in nearly every granule: nothing can be left out for them, so theirs is only shown.
    const hasGoal = kind !== 'hot' && !context.quick;
    figures.push({
      name: `where-payer-${kind}-read-of-table`,
      value: percent,
      unit: '%',
      goal: hasGoal ? `<${SHARE_GOAL_PERCENT}` : '-',
      ok: !hasGoal || percent < SHARE_GOAL_PERCENT,
    });
  }
  return figures;
}

async function ask({ url, nextKey }: SqlLab, sql: string): Promise<SqlBody> {
  const answer = await fetch(`${url}/v0/sql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': nextKey() },
    body: JSON.stringify({ sql }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${sql} answered ${answer.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text) as SqlBody; // what the route answers
}
