import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, numberField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import type { BackfillSource, ChainState } from '../../../clickhouse/tables/ingest-state.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { ask } from '../ask.ts';

/** What ingest last reported of a chain (table `chain_status`). Times are Unix seconds, null where never set. */
export interface ChainStatus {
  readonly chain: Chain;
  readonly state: string;
  readonly indexedBlock: number | null;
  readonly indexedTime: number | null;
  readonly headBlock: number | null;
  readonly headSeenAt: number | null;
  readonly finalizedBlock: number | null;
  readonly backfillBlocksDone: number;
  readonly backfillBlocksTotal: number;
  /** Null while nothing was backfilled. */
  readonly backfillSource: BackfillSource | null;
  readonly rowsPerSecond: number;
  readonly blocksPerSecond: number;
  readonly rowsWritten: number;
  readonly reorgs: number;
  readonly deepestReorg: number;
  readonly retries: number;
  readonly contradictions: number;
  readonly deadLetters: number;
  /** A public short code, '' when there is none. */
  readonly lastError: string;
  readonly lastWrittenAt: number | null;
  /** Hours with transactions whose fees are not read yet; null where no receipts are read. */
  readonly feeHoursOpen: number | null;
  readonly feeOldestOpen: number | null;
  readonly updatedAt: number | null;
}

/** A chain without a node: it has no head, and neither lags nor has to start. */
const IMPORTED = 'imported';

export function isImported(status: ChainStatus | undefined): boolean {
  return status?.state === IMPORTED;
}

/** What `state` can be, and what it says. */
export const CHAIN_STATE_MEANS = {
  not_started: 'no worker has reported the chain yet',
  starting: 'the worker has not seen its tip yet',
  backfilling: 'older blocks are being read',
  following: 'everything up to the tip is indexed',
  incomplete:
    'everything up to the tip is read, and logs of it could not become rows (dead letters): they are tried again',
  imported: 'the chain is read from no node',
  contradicting: 'its nodes answer, and their answers contradict the chain or each other: none is used',
  unreachable: 'no node answers',
  stopped: 'ingest waits for the operator',
} as const satisfies Record<ChainState | 'not_started', string>;
export const CHAIN_STATES = Object.keys(CHAIN_STATE_MEANS);

/** What the backfill still has to read. `etaSeconds` is at the present rate, null while there is none. */
export function backfillLeft(status: ChainStatus): {
  readonly blocks: number;
  readonly etaSeconds: number | null;
} {
  const { backfillBlocksDone, backfillBlocksTotal, blocksPerSecond } = status;
  const blocks = Math.max(0, backfillBlocksTotal - backfillBlocksDone);
  if (blocks === 0) return { blocks, etaSeconds: 0 };
  return { blocks, etaSeconds: blocksPerSecond > 0 ? Math.ceil(blocks / blocksPerSecond) : null };
}

const MAX_SECONDS = 5;
/** Far above the number of EVM chains a deployment can list. */
const CHAINS_MAX = 1_000;

export async function readChainStatus(reader: Reader): Promise<ReadonlyMap<Chain, ChainStatus>> {
  const { rows } = await ask(reader, 'chains', {
    name: 'chain-status',
    maxSeconds: MAX_SECONDS,
    maxRows: CHAINS_MAX,
    sql: sql`SELECT chain, state, indexed_block, toUnixTimestamp(indexed_time), head_block, toUnixTimestamp(head_seen_at),
      finalized_block, backfill_blocks_done, backfill_blocks_total, rows_per_second, blocks_per_second, rows_written,
      reorgs, deepest_reorg, retries, contradictions, dead_letters, last_error, toUnixTimestamp(last_written_at),
      toUnixTimestamp(updated_at), fee_hours_open, toUnixTimestamp(fee_oldest_open), backfill_source FROM chain_status FINAL ORDER BY chain`,
  });
  return new Map(rows.map(decodeStatus).map((status) => [status.chain, status]));
}

function decodeStatus(row: readonly unknown[]): ChainStatus {
  return {
    chain: textField(row[0]) as Chain, // written by ingest from `Chain` values only
    state: textField(row[1]),
    ...decodeProgress(row, textField(row[1])),
    backfillBlocksDone: integerField(row[7]),
    backfillBlocksTotal: integerField(row[8]),
    rowsPerSecond: numberField(row[9]),
    blocksPerSecond: numberField(row[10]),
    rowsWritten: integerField(row[11]),
    reorgs: integerField(row[12]),
    deepestReorg: integerField(row[13]),
    retries: integerField(row[14]),
    contradictions: integerField(row[15]),
    deadLetters: integerField(row[16]),
    lastError: textField(row[17]),
    lastWrittenAt: timeField(row[18]),
    updatedAt: timeField(row[19]),
    feeHoursOpen: row[20] === null ? null : integerField(row[20]),
    feeOldestOpen: timeField(row[21]),
    backfillSource: sourceField(textField(row[22])),
  };
}

/** The engine's columns are not nullable: a time of zero says that nothing was indexed or seen yet, so its block is unknown. */
function decodeProgress(row: readonly unknown[], state: string) {
  const indexedTime = timeField(row[3]);
  const headSeenAt = timeField(row[5]);
  const finalizedBlock = integerField(row[6]);
  // Imported blocks are final, and no node was ever asked.
  const isUnknown = headSeenAt === null && state !== IMPORTED;
  return {
    indexedBlock: indexedTime === null ? null : integerField(row[2]),
    indexedTime,
    headBlock: headSeenAt === null ? null : integerField(row[4]),
    headSeenAt,
    finalizedBlock: isUnknown || finalizedBlock === 0 ? null : finalizedBlock,
  };
}

function sourceField(text: string): BackfillSource | null {
  return text === 'portal' || text === 'rpc' ? text : null;
}

function timeField(field: unknown): number | null {
  const seconds = integerField(field);
  return seconds === 0 ? null : seconds;
}
