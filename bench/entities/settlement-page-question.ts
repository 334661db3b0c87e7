import { listed } from './facts.ts';
import type { Ask } from './question.ts';

interface PageBody {
  readonly settlements: readonly { readonly tx_hash: string; readonly log_index: number }[];
}

const LIMIT = 50;
const ORDER = 'block_time DESC, chain DESC, block_number DESC, log_index DESC';
const COLUMNS =
  'block_time, chain, block_number, log_index, tx_hash, payer, payee, relayer, asset, amount, micros, facilitator, method, seen';

/** The newest page of a wallet's settlements. PostgreSQL takes the page from each of two indexes and merges them. */
export function settlementPage(wallet: string): Ask {
  return {
    source: `/v0/entities/${wallet}/settlements?limit=${LIMIT}`,
    peer: {
      statements: [
        {
          text: `SELECT ${COLUMNS} FROM (
            (SELECT * FROM settlements WHERE payee = $1 ORDER BY ${ORDER} LIMIT ${LIMIT + 1}) UNION ALL
            (SELECT * FROM settlements WHERE payer = $1 AND payee <> $1 ORDER BY ${ORDER} LIMIT ${LIMIT + 1})) AS parties
            ORDER BY ${ORDER} LIMIT ${LIMIT + 1}`,
          literals: [bytea(wallet)],
        },
      ],
      ours: (body) => ({
        exact: listed(
          'row',
          (body as PageBody).settlements.map((row) => [row.tx_hash, row.log_index]), // what the route answers
        ),
      }),
      theirs: ([rows = []]) => ({
        exact: listed(
          'row',
          rows.slice(0, LIMIT).map((row) => [`0x${String(row[4]).slice(2)}`, String(row[3])]),
        ),
      }),
    },
  };
}

/** An address as a literal of PostgreSQL. */
export function bytea(address: string): string {
  return `'\\x${address.slice(2)}'::bytea`;
}
