import type { Reader } from '../../clickhouse/engine/engine.ts';
import { sql } from '../../clickhouse/engine/sql.ts';
import { listed, micros } from './facts.ts';
import type { Ask } from './question.ts';
import { bytea } from './settlement-page-question.ts';

/** Questions about one wallet, one pair or one transaction, and the newest page: what a market asks most. */

const LIMIT = 50;
const NEWEST_FIRST = 'block_time DESC, chain DESC, block_number DESC, log_index DESC';

interface Rows {
  readonly flows: readonly { readonly tx_hash: string; readonly log_index: number }[];
}

/** The newest page of all. Our answer comes from the memory of the API process, PostgreSQL's from the end of an index. */
export const NEWEST_FLOWS: Ask = {
  source: `/v0/flows?limit=${LIMIT}`,
  peer: {
    statements: [
      {
        text: `SELECT tx_hash, log_index, block_time, chain, block_number, payer, payee, relayer, asset, amount, micros, facilitator, method, seen
          FROM settlements ORDER BY ${NEWEST_FIRST} LIMIT ${LIMIT + 1}`,
        literals: [],
      },
    ],
    ours: (body) => ({
      exact: listed(
        'row',
        (body as Rows).flows.map((row) => [row.tx_hash, row.log_index]), // what the route answers
      ),
    }),
    theirs: ([rows = []]) => ({
      exact: listed(
        'row',
        rows.slice(0, LIMIT).map(([hash = '', logIndex = '']) => [`0x${hash.slice(2)}`, logIndex]),
      ),
    }),
  },
};

interface SummaryBody {
  readonly received: { readonly settlement_count: number; readonly usd: number; readonly proven_usd: number };
}

/** Whether to pay an address. PostgreSQL is asked for the sums alone, a part of our answer. */
export function summary(wallet: string): Ask {
  return {
    source: `/v0/entities/${wallet}/summary?chain=all`,
    peer: {
      statements: [
        {
          text: `SELECT sum(n), sum(total), sum(self_total), sum(proven_total), min(first_time), max(last_time) FROM payee_day WHERE payee = $1`,
          literals: [bytea(wallet)],
        },
      ],
      ours: (body) => {
        const { received } = body as SummaryBody; // what the route answers
        return {
          exact: {
            received: `${received.settlement_count} ${micros(received.usd)} ${micros(received.proven_usd)}`,
          },
        };
      },
      theirs: ([[[count = '', total = '', , proven = ''] = []] = []]) => ({
        exact: { received: `${count} ${total} ${proven}` },
      }),
    },
  };
}

interface Sums {
  readonly inbound_usd: number;
  readonly inbound_count: number;
  readonly outbound_usd: number;
  readonly outbound_count: number;
}

interface CounterpartiesBody {
  readonly counterparties: readonly (Sums & { readonly wallet: string; readonly days_active: number })[];
}

/** Counterparties over all of time, most dollars first. PostgreSQL adds up the pairs by day. */
export function counterparties(wallet: string): Ask {
  return {
    source: `/v0/entities/${wallet}/counterparties?window=all&chain=all&limit=${LIMIT}`,
    peer: {
      statements: [
        {
          text: `SELECT other, sum(total) FILTER (WHERE inbound), sum(n) FILTER (WHERE inbound), sum(total) FILTER (WHERE NOT inbound),
              sum(n) FILTER (WHERE NOT inbound), count(DISTINCT day), min(first_time), max(last_time)
            FROM (SELECT payer AS other, true AS inbound, day, n, total, first_time, last_time FROM pair_day WHERE payee = $1 AND payer <> $1
              UNION ALL SELECT payee, false, day, n, total, first_time, last_time FROM pair_day WHERE payer = $1 AND payee <> $1) AS pairs
            GROUP BY other ORDER BY sum(total) DESC, other DESC LIMIT ${LIMIT + 1}`,
          literals: [bytea(wallet)],
        },
      ],
      ours: (body) => ({
        exact: listed(
          'counterparty',
          (body as CounterpartiesBody).counterparties.map((row) => [
            row.wallet,
            micros(row.inbound_usd),
            row.inbound_count,
            micros(row.outbound_usd),
            row.outbound_count,
            row.days_active,
          ]), // what the route answers
        ),
      }),
      theirs: ([rows = []]) => ({
        exact: listed(
          'counterparty',
          rows
            .slice(0, LIMIT)
            .map(([other = '', ...sums]) => [
              `0x${other.slice(2)}`,
              ...sums.slice(0, 5).map((sum) => (sum === '' ? '0' : sum)),
            ]),
        ),
      }),
    },
  };
}

interface PairBody {
  readonly paid: {
    readonly settlement_count: number;
    readonly settled_usd: number;
    readonly days_active: number;
  };
}

export interface BenchPair {
  readonly payer: string;
  readonly payee: string;
}

/** What one wallet paid another, and what came back. */
export function pair({ payer, payee }: BenchPair): Ask {
  const days = `SELECT day, sum(n), sum(total), sum(proven_total), min(first_time), max(last_time) FROM pair_day`;
  return {
    source: `/v0/pairs/${payer}/${payee}?window=all&chain=all`,
    peer: {
      statements: [
        {
          text: `${days} WHERE payer = $1 AND payee = $2 GROUP BY day ORDER BY day`,
          literals: [bytea(payer), bytea(payee)],
        },
        {
          text: `${days} WHERE payer = $2 AND payee = $1 AND payer <> payee GROUP BY day ORDER BY day`,
          literals: [bytea(payer), bytea(payee)],
        },
      ],
      ours: (body) => {
        const { paid } = body as PairBody; // what the route answers
        return {
          exact: { paid: `${paid.settlement_count} ${micros(paid.settled_usd)} ${paid.days_active}` },
        };
      },
      theirs: ([rows = []]) => {
        const sum = (column: number): bigint =>
          rows.reduce((total, row) => total + BigInt(row[column] ?? 0), 0n);
        return { exact: { paid: `${sum(1)} ${sum(2)} ${rows.length}` } };
      },
    },
  };
}

interface TransactionBody {
  readonly settlements: readonly {
    readonly payer: string;
    readonly payee: string;
    readonly log_index: number;
  }[];
}

export function transaction(hash: string): Ask {
  return {
    source: `/v0/transactions/${hash}`,
    peer: {
      statements: [
        {
          text: `SELECT payer, payee, log_index, block_time, chain, block_number, relayer, asset, amount, micros, facilitator, method, seen
            FROM settlements WHERE tx_hash = $1 ORDER BY block_time, chain, block_number, log_index`,
          literals: [bytea(hash)],
        },
      ],
      ours: (body) => ({
        exact: listed(
          'row',
          (body as TransactionBody).settlements.map((row) => [row.payer, row.payee, row.log_index]), // what the route answers
        ),
      }),
      theirs: ([rows = []]) => ({
        exact: listed(
          'row',
          rows.map(([payer = '', payee = '', logIndex = '']) => [
            `0x${payer.slice(2)}`,
            `0x${payee.slice(2)}`,
            logIndex,
          ]),
        ),
      }),
    },
  };
}

/**
 * Merchants by organic dollars of 30 days. PostgreSQL leaves out payments of a wallet to itself, and need not find rings and
 * reciprocal payments, so its answer is not compared.
 */
export function merchantRanking(todayStart: number): Ask {
  const from = `to_timestamp(${todayStart - 30 * 86_400})`;
  const source = `/v0/leaderboard?of=merchants&by=organic_usd&window=30d&chain=all&limit=${LIMIT}`;
  return {
    source,
    // Rankings are kept by what is asked for.
    reworded: (round) => `${source}&min_counterparties=${round + 2}`,
    peer: {
      statements: [
        {
          text: `SELECT payee, sum(total - self_total) AS organic FROM payee_day WHERE day >= ${from}
            GROUP BY payee ORDER BY organic DESC, payee LIMIT ${LIMIT}`,
          literals: [],
        },
      ],
      ours: () => ({ exact: {} }),
      theirs: () => ({ exact: {} }),
    },
  };
}

const PICKED = 20;
const PICK_SECONDS_MAX = 300;

/** Some settlements of the merchants: their pairs, and their transactions. */
export async function pickSettlements(
  reader: Reader,
): Promise<{ readonly pairs: readonly BenchPair[]; readonly hashes: readonly string[] }> {
  const { rows } = await reader.rows({
    name: 'bench-settlements',
    maxSeconds: PICK_SECONDS_MAX,
    maxRows: PICKED,
    sql: sql`SELECT lower(hex(payer)), lower(hex(payee)), lower(hex(tx_hash))
      FROM (SELECT payer, payee, tx_hash, del FROM settlements FINAL) WHERE del = 0 AND payer != payee
      ORDER BY cityHash64(tx_hash) LIMIT 20`,
  });
  return {
    pairs: rows.map(([payer, payee]) => ({ payer: `0x${String(payer)}`, payee: `0x${String(payee)}` })),
    hashes: rows.map(([, , hash]) => `0x${String(hash)}`),
  };
}
