import { listed, micros } from './facts.ts';
import type { Ask } from './question.ts';
import { bytea } from './settlement-page-question.ts';

interface GraphBody {
  readonly complete: boolean;
  readonly edges: readonly {
    readonly payer: string;
    readonly payee: string;
    readonly usd: number;
    readonly count: number;
    readonly first_seen: string;
    readonly last_seen: string;
  }[];
  readonly meta: {
    readonly excluded: { readonly self_payments: number; readonly self_payment_usd: number };
  };
}

const EDGES = 1_000;
const DAY_SECONDS = 86_400;
const COLUMNS = 'payer, payee, n, total, first_time, last_time';

/** The newest settlements of all wallets. */
export function graphOfWindow(rows: number): Ask {
  const newest = `SELECT payer, payee, 1 AS n, micros AS total, block_time AS first_time, block_time AS last_time FROM settlements
    ORDER BY block_time DESC, chain DESC, block_number DESC, log_index DESC LIMIT ${rows}`;
  return graphAsk(`window=${rows}`, newest, []);
}

/** Whole days before today, of all wallets. */
export function graphOfDays(days: number, todayStart: number): Ask {
  const during = duringDays(days, todayStart);
  return graphAsk(`days=${days}`, `SELECT ${COLUMNS} FROM pair_day WHERE ${during}`, []);
}

/** Whole days before today, around one wallet: a range of each of two indexes of the pairs by day. */
export function graphOfWallet(wallet: string, days: number, todayStart: number): Ask {
  const during = duringDays(days, todayStart);
  const parties = `SELECT ${COLUMNS} FROM pair_day WHERE payee = $1 AND ${during}
    UNION ALL SELECT ${COLUMNS} FROM pair_day WHERE payer = $1 AND payee <> $1 AND ${during}`;
  return graphAsk(`days=${days}&wallet=${wallet}`, parties, [bytea(wallet)]);
}

function duringDays(days: number, todayStart: number): string {
  const from = todayStart - days * DAY_SECONDS;
  return `day >= to_timestamp(${from}) AND day < to_timestamp(${todayStart})`;
}

/** PostgreSQL adds up by pair in one pass, payments to oneself in one group, as our statement does. */
function graphAsk(query: string, settlements: string, literals: readonly string[]): Ask {
  const source = (edges: number): string => `/v0/graph?${query}&chain=all&max_edges=${edges}`;
  return {
    source: source(EDGES),
    // A graph of whole days is kept until something is written to them.
    reworded: (round) => source(EDGES - 1 - round),
    peer: {
      statements: [
        {
          literals,
          text: `SELECT CASE WHEN payer = payee THEN ''::bytea ELSE payer END AS a, CASE WHEN payer = payee THEN ''::bytea ELSE payee END AS b,
              sum(total) AS total, sum(n), extract(epoch FROM min(first_time))::bigint, extract(epoch FROM max(last_time))::bigint
            FROM (${settlements}) AS counted GROUP BY 1, 2 ORDER BY bool_or(payer = payee) DESC, total DESC, 1, 2 LIMIT ${EDGES + 2}`,
        },
      ],
      ours: (body) => {
        const { edges, meta } = body as GraphBody; // what the route answers
        const { self_payments: count, self_payment_usd: usd } = meta.excluded;
        return {
          exact: {
            self: `${count} ${micros(usd)}`,
            ...listed(
              'edge',
              edges.map((edge) => [
                edge.payer,
                edge.payee,
                micros(edge.usd),
                edge.count,
                Date.parse(edge.first_seen) / 1_000,
                Date.parse(edge.last_seen) / 1_000,
              ]),
            ),
          },
        };
      },
      theirs: ([rows = []]) => {
        const self = rows.find(([payer]) => payer === '\\x');
        const edges = rows.filter(([payer]) => payer !== '\\x').slice(0, EDGES);
        return {
          exact: {
            self: `${self?.[3] ?? 0} ${self?.[2] ?? 0}`,
            ...listed(
              'edge',
              edges.map(([payer = '', payee = '', ...sums]) => [
                `0x${payer.slice(2)}`,
                `0x${payee.slice(2)}`,
                ...sums,
              ]),
            ),
          },
        };
      },
    },
  };
}
