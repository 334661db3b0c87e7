import type { Reader } from '../../clickhouse/engine/engine.ts';
import { type Sql, sql } from '../../clickhouse/engine/sql.ts';

/** Wallets by their number of settlements; the same ones are asked for after the index has grown. */
export interface BenchWallets {
  /** Paid most; at rank 1,000; paid least. */
  readonly merchants: Readonly<Record<WalletKind, readonly string[]>>;
  /** Paying most; a few hundred times; at most three times. */
  readonly payers: Readonly<Record<WalletKind, readonly string[]>>;
}

export type WalletKind = 'hot' | 'mid' | 'cold';
export const WALLET_KINDS = ['hot', 'mid', 'cold'] as const;

const PICK_SECONDS_MAX = 300;
const WALLETS_MAX = 20;

/** Counted over the settlements themselves, live rows only: rows of undone blocks are no activity of a wallet. */
export async function pickWallets(reader: Reader): Promise<BenchWallets> {
  const pick = async (party: Sql, choice: Sql): Promise<string[]> => {
    const { rows } = await reader.rows({
      name: 'bench-wallets',
      maxSeconds: PICK_SECONDS_MAX,
      maxRows: WALLETS_MAX,
      sql: sql`SELECT concat('0x', lower(hex(${party}))), count() AS events
        FROM (SELECT payer, payee, del FROM settlements FINAL) WHERE del = 0 GROUP BY ${party} ${choice}`,
    });
    if (rows.length === 0) throw new Error('no wallet of this kind');
    return rows.map(([wallet]) => String(wallet));
  };
  const hot = sql`ORDER BY events DESC LIMIT 3`;
  const midRank = sql`ORDER BY events DESC, cityHash64(payee) LIMIT 20 OFFSET 1000`;
  const [payee, payer] = [sql`payee`, sql`payer`];
  return {
    merchants: {
      hot: await pick(payee, hot),
      mid: await pick(payee, midRank),
      cold: await pick(payee, sql`ORDER BY events, cityHash64(payee) LIMIT 20`),
    },
    payers: {
      hot: await pick(payer, hot),
      mid: await pick(payer, sql`ORDER BY abs(toInt64(events) - 250), cityHash64(payer) LIMIT 20`),
      cold: await pick(payer, sql`HAVING events <= 3 ORDER BY cityHash64(payer) LIMIT 20`),
    },
  };
}
