import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, commaList, type Sql, sql, text, texts, uint64 } from '../../../clickhouse/engine/sql.ts';
import { openFrom, type RollupCoverage } from '../../../clickhouse/tables/coverage.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { ask } from '../ask.ts';
import type { ChainStatus } from './chain-status.ts';

/**
 * `finality=finalized`: only rows at or below the newest block that their own chain called final. A chain that has not stated
 * one contributes nothing, so finality is never claimed on a guess.
 */

export type FinalityFilter = 'finalized' | 'any';

export interface FinalBlock {
  readonly chain: Chain;
  readonly block: number;
}

/** Every chain that has stated a final block, served or not: the same rows that lists label `finalized`. */
export function finalBlocks(statuses: ReadonlyMap<Chain, ChainStatus>): FinalBlock[] {
  return [...statuses.values()].flatMap(({ chain, finalizedBlock }) =>
    finalizedBlock === null ? [] : [{ chain, block: finalizedBlock }],
  );
}

/** What a read must keep to; undefined: every row. Made from the statuses that also label the rows, so that both agree. */
export function finalOnly(
  finality: FinalityFilter,
  statuses: ReadonlyMap<Chain, ChainStatus>,
): readonly FinalBlock[] | undefined {
  return finality === 'finalized' ? finalBlocks(statuses) : undefined;
}

/**
 * Condition on `chain` and `block_number`: the row is final. Both are in the sort key of `settlements` and `wallet_rows`, so it
 * may be applied before versions are merged.
 */
function isFinal(blocks: readonly FinalBlock[]): Sql {
  const [first, ...rest] = blocks.map(
    ({ chain, block }) => sql`(chain = ${text(chain)} AND block_number <= ${uint64(block)})`,
  );
  return first === undefined ? sql`0` : sql`(${rest.reduce((all, next) => sql`${all} OR ${next}`, first)})`;
}

/** `isFinal` as an optional condition. */
export function onlyFinal(blocks: readonly FinalBlock[] | undefined): Sql[] {
  return blocks === undefined ? [] : [isFinal(blocks)];
}

/** Condition on `chain` alone: for rollup rows of slices that hold final rows only. */
export function onFinalChain(blocks: readonly FinalBlock[] | undefined): Sql[] {
  return blocks === undefined ? [] : [sql`chain IN ${texts(blocks.map(({ chain }) => chain))}`];
}

/** The condition for one chain, or none. `chain` is in the sort key, so it may be applied before versions are merged. */
export function onChain(chain: Chain | undefined): Sql[] {
  return chain === undefined ? [] : [sql`chain = ${text(chain)}`];
}

const RESOURCE = 'settlements';
const MAX_SECONDS = 10;

/**
 * The coverage for figures over final rows: rollups do not know finality, so every day from that of the oldest row that is
 * not final is read live. Combine `onFinalChain` with `closedSlices`, and `onlyFinal` with `openRows`.
 */
export async function finalCoverage(
  reader: Reader,
  coverage: RollupCoverage,
  blocks: readonly FinalBlock[],
): Promise<RollupCoverage> {
  if (blocks.length === 0) return coverage;
  const unfinal = sql`NOT ${isFinal(blocks)}`;
  const { rows } = await ask(reader, RESOURCE, {
    name: 'oldest-unfinal',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    // Without an unfinal row the newest one stands in: a row that is written a moment later is not older.
    sql: sql`SELECT toUnixTimestamp(if(countIf(${unfinal}) > 0, minIf(block_time, ${unfinal}), max(block_time))), count()
      FROM settlements WHERE block_time >= ${oldestFinalTime(blocks)} AND ${allOf(onFinalChain(blocks))}`,
  });
  const [time, count] = rows[0] ?? [];
  return integerField(count) === 0 ? coverage : openFrom(coverage, integerField(time));
}

/**
 * No row below this time can be unfinal: on each chain, the newest block remembered that is final. 1970 where a chain has no
 * such block, which reads more than it must and is never wrong.
 */
function oldestFinalTime(blocks: readonly FinalBlock[]): Sql {
  const times = blocks.map(
    ({ chain, block }) => sql`(SELECT max(time) FROM (SELECT time FROM blocks WHERE chain = ${text(chain)}
      AND number <= ${uint64(block)} ORDER BY number DESC LIMIT 1))`,
  );
  return sql`arrayMin([${commaList(times)}])`;
}
