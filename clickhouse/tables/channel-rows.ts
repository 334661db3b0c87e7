import { expressions } from '../engine/account.ts';
import { LISTED_NAMES, SETTLEMENTS } from './settlements.ts';
import { definitionsOf, type Table } from './table.ts';

const NAMES: ReadonlySet<string> = new Set([...LISTED_NAMES, 'contract', 'ver', 'del']);
const COLUMNS = Object.entries(definitionsOf(SETTLEMENTS.columns)).filter(([name]) => NAMES.has(name));

/**
 * The rows of payment channels and escrowed payments, by channel: what a channel holds is the sum of its rows. A view fills it from
 * `settlements`. A payout covers all channels of a payee and is of none, so it is not here.
 */
export const CHANNEL_ROWS = {
  name: 'channel_rows',
  columns: {},
  filled: Object.fromEntries(COLUMNS),
  storage: {
    engine: 'ReplacingMergeTree(ver)',
    order: '(channel, chain, block_time, block_number, log_index)',
    indexes: {
      ix_time: 'block_time TYPE minmax GRANULARITY 1',
      ix_payer_text: `${expressions.accountText('payer')} TYPE bloom_filter(0.001) GRANULARITY 1`,
      ix_payee_text: `${expressions.accountText('payee')} TYPE bloom_filter(0.001) GRANULARITY 1`,
    },
    settings: { index_granularity: 1024 },
  },
  filledBy: {
    channel_rows_mv: `SELECT\n    ${COLUMNS.map(([name]) => name).join(',\n    ')}\nFROM settlements\nWHERE channel != ''`,
  },
  placement: { key: 'cityHash64(channel)', why: 'a channel asks one shard, whatever its time' },
  versions: ['ver'],
  retraction: { tombstones: 'byTime' },
} as const satisfies Table;

/**
 * Four sums over the rows of a channel, as a list of expressions: deposited, paid, returned, and what is out of it. A refund of an escrowed
 * payment is returned and not taken out: the operator pays it after the capture. `amount`: the column that is summed.
 */
export function channelSums(amount: string): string {
  return `sumIf(${amount}, kind = 'deposit'), sumIf(${amount}, kind = 'payment'),
    sumIf(${amount}, kind IN ('refund', 'withdrawal', 'void')),
    sumIf(${amount}, kind != 'deposit' AND NOT (scheme = 'auth-capture' AND kind = 'refund'))`;
}

/** What is returned, apart: refunds of the payee, withdrawals of the payer, and authorizations that an operator voided. */
export function returnedSums(amount: string): string {
  return `sumIf(${amount}, kind = 'refund'), sumIf(${amount}, kind = 'withdrawal'), sumIf(${amount}, kind = 'void')`;
}
