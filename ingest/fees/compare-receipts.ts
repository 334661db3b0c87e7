import type { Writer } from '../../clickhouse/engine/engine.ts';
import { commaList, sql, text, uint64 } from '../../clickhouse/engine/sql.ts';
import type { Log } from '../../core/log.ts';
import type { RawLog } from '../chain/block-source.ts';
import type { DecodeContext } from '../decode/context.ts';
import { logsWithRows } from '../decode/pair.ts';
import type { Repair } from '../follow/repair.ts';
import { untilAcknowledged } from '../write/batch-writer.ts';

/** Compares what receipts show with the rows: a payment that every other answer left out is found by the receipt that says what it cost. */
export interface ReceiptComparison {
  /** Reads again the blocks whose receipts show a payment that has no row. Returns their numbers. */
  compare(blocks: readonly ReceiptLogs[]): Promise<ReadonlySet<number>>;
}

/** The logs that the receipts of a block showed, as far as they were read. */
export interface ReceiptLogs {
  readonly number: number;
  readonly logs: readonly RawLog[];
}

export interface ComparisonDeps {
  readonly context: DecodeContext;
  readonly repair: Repair;
  readonly writer: Pick<Writer, 'rows'>;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const LOOK_MAX_SECONDS = 60;
/** Payments in the blocks of one comparison, with room: a block of a busy chain has some hundred. */
const ROWS_MAX = 100_000;

export function createReceiptComparison(deps: ComparisonDeps): ReceiptComparison {
  const { context, repair, log, signal } = deps;
  const { chain } = context;
  return {
    async compare(blocks) {
      const shown = blocks.map(({ number, logs }) => ({ number, payments: logsWithRows(logs, context) }));
      const numbers = shown.flatMap(({ number, payments }) => (payments.length > 0 ? [number] : []));
      const known = await untilAcknowledged(log, signal, () => readPlaces(deps, numbers));
      const lacking = shown.filter(({ payments }) => payments.some((one) => !known.has(placeOf(one))));
      for (const { number } of lacking) {
        log.warn(
          { chain, block: number },
          'receipts show a payment that has no row, the block is read again',
        );
        await repair.reread(number);
      }
      return new Set(lacking.map(({ number }) => number));
    },
  };
}

function placeOf({ blockNumber, logIndex }: Pick<RawLog, 'blockNumber' | 'logIndex'>): string {
  return `${blockNumber}/${logIndex}`;
}

/** The places of these blocks that have a row, or a dead letter: why one could not become a row is known then. */
async function readPlaces(
  { context: { chain }, writer }: ComparisonDeps,
  numbers: readonly number[],
): Promise<ReadonlySet<string>> {
  if (numbers.length === 0) return new Set();
  const listed = commaList(numbers.map(uint64));
  const within = sql`chain = ${text(chain)} AND block_number IN (${listed}) AND del = 0`;
  const { rows } = await writer.rows({
    name: `repair-places ${chain}`,
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: ROWS_MAX,
    sql: sql`SELECT block_number, log_index FROM settlements FINAL WHERE ${within}
      UNION ALL SELECT block_number, log_index FROM dead_letters FINAL WHERE ${within}`,
  });
  return new Set(
    rows.map(([block, index]) => placeOf({ blockNumber: Number(block), logIndex: Number(index) })),
  );
}
