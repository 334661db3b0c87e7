import { type Sql, sql } from '../../clickhouse/engine/sql.ts';
import type { Figure } from '../support/figure.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { type SqlLab, sqlLab } from './lab.ts';

/** The rows that an analyst's `WHERE payer = '0x…'` reads, by the answer's own figure. */

const SHARE_GOAL_PERCENT = 2;
const WALLETS = 10;
const PICK_SECONDS_MAX = 300;
const NOBODY = `0x${'ab'.repeat(20)}`;

/** Payers by their number of rows. Each row costs its granule and the neighbouring ones, so many rows are many granules. */
const KINDS: Readonly<Record<string, { readonly having: Sql | null; readonly goal: boolean }>> = {
  absent: { having: null, goal: true },
  median: { having: sql`events = (SELECT quantileExact(0.5)(n) FROM counts)`, goal: true },
  'upper-decile': { having: sql`events = (SELECT quantileExact(0.9)(n) FROM counts)`, goal: false },
  busiest: { having: sql`events = (SELECT max(n) FROM counts)`, goal: false },
};

interface SqlBody {
  readonly rows: readonly Readonly<Record<string, string>>[];
  readonly statistics: { readonly rows_read: number };
}

export async function measurePredicates(context: BenchContext): Promise<Figure[]> {
  const lab = await sqlLab(context);
  const figures: Figure[] = [];
  for (const [kind, { having, goal }] of Object.entries(KINDS)) {
    const wallets = having === null ? [{ wallet: NOBODY, events: 0 }] : await pickPayers(lab, having);
    const read: number[] = [];
    for (const { wallet, events } of wallets) {
      const { rows, statistics } = await ask(
        lab,
        `SELECT count() AS n, sum(amount_usd) AS usd FROM settlements WHERE payer = '${wallet}'`,
      );
      if (Number(rows[0]?.['n']) !== events)
        throw new Error(`${wallet} paid ${events} times, SQL says ${JSON.stringify(rows)}`);
      read.push(statistics.rows_read);
    }
    context.say(`${kind}: payers of ${wallets[0]?.events ?? 0} settlements`);
    const percent = (Math.max(...read) / lab.rows) * 100;
    const hasGoal = goal && !context.quick;
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

async function pickPayers({ engine }: SqlLab, having: Sql): Promise<{ wallet: string; events: number }[]> {
  const { rows } = await engine.reader.rows({
    name: 'bench-payers',
    maxSeconds: PICK_SECONDS_MAX,
    maxRows: WALLETS,
    sql: sql`WITH counts AS (SELECT payer, count() AS n FROM (SELECT payer, del FROM settlements FINAL) WHERE del = 0 GROUP BY payer)
      SELECT concat('0x', lower(hex(payer))), n AS events FROM counts WHERE ${having} ORDER BY cityHash64(payer) LIMIT 10`,
  });
  if (rows.length === 0) throw new Error('no payer of this kind');
  return rows.map(([wallet, events]) => ({ wallet: String(wallet), events: Number(events) }));
}

async function ask({ url, nextKey }: SqlLab, text: string): Promise<SqlBody> {
  const answer = await fetch(`${url}/v0/sql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': nextKey() },
    body: JSON.stringify({ sql: text }),
  });
  const body = await answer.text();
  if (!answer.ok) throw new Error(`${text} answered ${answer.status}: ${body.slice(0, 300)}`);
  return JSON.parse(body) as SqlBody; // what the route answers
}
