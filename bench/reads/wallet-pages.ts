import type { Reader } from '../../clickhouse/engine/engine.ts';
import { type Sql, sql } from '../../clickhouse/engine/sql.ts';
import type { Figure } from '../support/figure.ts';
import type { Cost, MeasuredApi } from '../support/measured-api.ts';
import { costFigures } from '../support/page-costs.ts';
import type { BenchContext } from '../support/run-bench.ts';

interface WalletBody {
  readonly settlements: readonly unknown[];
  readonly next_before: string | null;
}

/** Wallets by their number of settlements, and how many of each are asked for. */
const KINDS: readonly { readonly kind: string; readonly pick: Sql }[] = [
  { kind: 'hot', pick: sql`ORDER BY events DESC LIMIT 3` },
  { kind: 'mid', pick: sql`HAVING events BETWEEN 100 AND 400 ORDER BY cityHash64(wallet) LIMIT 20` },
  { kind: 'cold', pick: sql`HAVING events <= 3 ORDER BY cityHash64(wallet) LIMIT 20` },
];
const WALLETS_MAX = 20;
const LIMIT = 50;
const ROUNDS = 60;
const ROUNDS_QUICK = 20;
const ROWS_READ_GOAL = 150_000;
const PICK_SECONDS_MAX = 300;

/** First and second pages of busy, usual and rare wallets. */
export async function measureWalletPages(
  { quick, say }: Pick<BenchContext, 'quick' | 'say'>,
  reader: Reader,
  api: MeasuredApi,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { kind, pick } of KINDS) {
    const wallets = await findWallets(reader, pick);
    say(`wallets: ${wallets.length} ${kind} ones`);
    const costs: Cost[] = [];
    for (let round = 0; round < (quick ? ROUNDS_QUICK : ROUNDS); round++) {
      costs.push(...(await readTwoPages(api, wallets[round % wallets.length] ?? '')));
    }
    figures.push(...costFigures(`wallet-${kind}-page`, costs, ROWS_READ_GOAL));
  }
  return figures;
}

async function readTwoPages(api: MeasuredApi, wallet: string): Promise<Cost[]> {
  const path = `/v0/entities/${wallet}/settlements?limit=${LIMIT}`;
  const first = await api.get<WalletBody>(path);
  if (first.body.settlements.length === 0) throw new Error(`${wallet} has rows, but its page is empty`);
  if (first.body.next_before === null) return [first.cost];
  const second = await api.get<WalletBody>(`${path}&before=${first.body.next_before}`);
  return [first.cost, second.cost];
}

/** Counted over live rows, because a wallet whose only row is a tombstone has an empty page. */
async function findWallets(reader: Reader, pick: Sql): Promise<string[]> {
  const { rows } = await reader.rows({
    name: 'bench-wallets',
    maxSeconds: PICK_SECONDS_MAX,
    maxRows: WALLETS_MAX,
    sql: sql`SELECT wallet, count() AS events FROM (SELECT wallet, del FROM wallet_rows FINAL) WHERE del = 0 GROUP BY wallet ${pick}`,
  });
  if (rows.length === 0) throw new Error('no wallet of this kind');
  return rows.map(([wallet]) => String(wallet));
}
