import { accountText } from '../../clickhouse/engine/account.ts';
import { IS_COUNTED, IS_DUST } from '../../clickhouse/engine/counted-rows.ts';
import type { Reader } from '../../clickhouse/engine/engine.ts';
import { dateTime, sql, text, uint32 } from '../../clickhouse/engine/sql.ts';
import { microsFromDecimal } from '../../core/domain/amount.ts';
import type { RingLimits } from './find.ts';
import type { PaymentEdge } from './graph.ts';

/** What one pass looks at and keeps. Tests narrow it; docs/methodology.md documents the thresholds. */
export interface PassLimits extends RingLimits {
  /** Closed UTC days, today excluded. */
  readonly windowDays: number;
  /** An edge counts from these on, dust left out: a single payment back is a refund. */
  readonly edgeUsdMicrosMin: bigint;
  readonly edgePaymentsMin: number;
  /** Edges read, strongest first. 200,000 take about 100 MB here. */
  readonly edgesMax: number;
  /** Bounds of the one statement that reads them. */
  readonly readMaxSeconds: number;
  /** Groups beyond this go to the engine's disk. */
  readonly readSpillBytes: number;
  /** Rows encoded into one buffer. */
  readonly rowsPerBuffer: number;
  /** From how many generations a pass takes its own: of two workers that begin in the same moment only so many in one meet. */
  readonly generationSpread: number;
}

export const PASS_LIMITS: PassLimits = {
  windowDays: 30,
  edgeUsdMicrosMin: 1_000_000n,
  edgePaymentsMin: 2,
  edgesMax: 200_000,
  readMaxSeconds: 300,
  readSpillBytes: 256 * 1024 * 1024,
  rowsPerBuffer: 10_000,
  generationSpread: 1_000_000,
  degreeMax: 64,
  ringsPerWalletMax: 16,
  stepsMax: 100_000_000,
  stepsPerTurn: 100_000,
};

/** Changes whenever the same payments could give other rings. */
export const RING_METHOD_VERSION = 'rings-2';

/** Unix seconds, from included, to excluded: whole UTC days. */
export interface RingWindow {
  readonly from: number;
  readonly to: number;
}

const DAY_SECONDS = 86_400;

/** The last whole UTC days before the day of `nowMs`: their rows do not change under the reader, reorgs at midnight apart. */
export function ringWindow(nowMs: number, windowDays: number): RingWindow {
  const today = Math.floor(nowMs / 1_000 / DAY_SECONDS) * DAY_SECONDS;
  return { from: today - windowDays * DAY_SECONDS, to: today };
}

export interface ReadEdges {
  readonly edges: readonly PaymentEdge[];
  /** Whether weaker edges were left out. */
  readonly isCapped: boolean;
}

/**
 * What each wallet paid each other in the window, exact, strongest first; only between wallets that both pay and are paid,
 * which leaves a few per cent of them. The sets that choose those are read without merging versions: a tombstoned row may add
 * a candidate, never an edge.
 *
 * One thread and a spill to disk: no request waits for this, and every request waits for the engine.
 */
export async function readEdges(
  reader: Reader,
  window: RingWindow,
  limits: PassLimits,
  signal?: AbortSignal,
): Promise<ReadEdges> {
  const during = sql`block_time >= ${dateTime(window.from)} AND block_time < ${dateTime(window.to)}`;
  const { rows } = await reader.rows(
    {
      name: 'ring-edges',
      maxSeconds: limits.readMaxSeconds,
      maxRows: limits.edgesMax + 1,
      settings: {
        do_not_merge_across_partitions_select_final: 1,
        max_threads: 1,
        max_bytes_before_external_group_by: limits.readSpillBytes,
      },
      sql: sql`SELECT ${accountText('payer')}, ${accountText('payee')}, toString(sum(amount_usd) AS usd)
        FROM
        (
            SELECT payer, payee, amount_usd, method, kind, del FROM settlements FINAL
            WHERE ${during} AND payer != payee
              AND payer IN (SELECT payee FROM settlements WHERE ${during} AND payer != payee)
              AND payee IN (SELECT payer FROM settlements WHERE ${during} AND payer != payee)
        )
        WHERE ${IS_COUNTED} AND NOT ${IS_DUST}
        GROUP BY payer, payee
        HAVING usd >= toDecimal128(${text(decimalText(limits.edgeUsdMicrosMin))}, 6)
          AND count() >= ${uint32(limits.edgePaymentsMin)}
        ORDER BY usd DESC, payer, payee LIMIT ${uint32(limits.edgesMax + 1)}`,
    },
    signal,
  );
  const edges = rows.slice(0, limits.edgesMax).map(([payer, payee, usd]) => ({
    payer: String(payer),
    payee: String(payee),
    usdMicros: microsFromDecimal(String(usd)),
  }));
  return { edges, isCapped: rows.length > limits.edgesMax };
}

function decimalText(micros: bigint): string {
  return `${micros / 1_000_000n}.${String(micros % 1_000_000n).padStart(6, '0')}`;
}
