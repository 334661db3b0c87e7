import { randomInt } from 'node:crypto';
import type { Writer } from '../engine/engine.ts';
import { sql, trustedText, uint64 } from '../engine/sql.ts';

/**
 * Tables that are computed anew as a whole: each pass writes its rows under a generation of its own (`gen`, which is also their
 * partition) and is seen once a row of the table of passes publishes it.
 */
export interface GenerationTables {
  readonly rows: 'relayer_totals' | 'wallet_rings';
  readonly passes: 'relayer_total_passes' | 'ring_passes';
}

const MAX_SECONDS = 60;
/** There are more than a handful only where workers died again and again. */
const GENERATIONS_MAX = 10_000;

/**
 * A generation above `newest`, of any pass, whose clock may have been ahead of ours; at least `fresh`. It is drawn from `spread` numbers,
 * because the pass of another worker may be running unseen, and under one generation the rows of both would count as one pass.
 */
export function ownGeneration({
  fresh,
  newest,
  spread,
}: {
  readonly fresh: bigint;
  readonly newest: bigint;
  readonly spread: number;
}): bigint {
  return (fresh > newest ? fresh : newest + 1n) + BigInt(randomInt(spread));
}

/**
 * Drops the generations below the published one, but for the `kept` newest published ones, which readers may still be reading.
 * Generations above the published one belong to a pass that another worker is writing.
 */
export async function dropOldGenerations(
  writer: Writer,
  { rows, passes }: GenerationTables,
  kept: number,
): Promise<void> {
  const [table, published] = [trustedText(rows), trustedText(passes)];
  const name = rows.replaceAll('_', '-');
  const old = await writer.rows({
    name: `${name}-old`,
    maxSeconds: MAX_SECONDS,
    maxRows: GENERATIONS_MAX,
    sql: sql`SELECT DISTINCT gen FROM ${table}
      WHERE gen < (SELECT max(gen) FROM ${published})
        AND gen NOT IN (SELECT gen FROM ${published} ORDER BY gen DESC LIMIT ${uint64(kept)})`,
  });
  for (const [gen] of old.rows) {
    await writer.dropPartition({
      name: `${name}-drop`,
      table: rows,
      partition: BigInt(String(gen)),
      maxSeconds: MAX_SECONDS,
    });
  }
}
