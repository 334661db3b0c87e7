import { currentDatabaseOf } from '../../engine/databases.ts';
import type { TableConstants } from '../../engine/engine.ts';
import { type Sql, sql } from '../../engine/sql.ts';
import type { WalletIdKey } from '../../tables/wallet-ids.ts';
import { viewStatementOf } from './body.ts';
import type { PublicFacts } from './facts.ts';
import { settlementsBody, settlementsOf } from './settlements.ts';

/**
 * The public table `settlements` for statements that bring along what the view would have to look up: which months are in a copy, and which
 * blocks are final. Looking them up takes several times as long as planning the rest. As in a snapshot (as-of.ts), the engine gets them as
 * filters on the stored tables for one statement, and prunes by them while it plans. Without the filters the view shows versions of public
 * rows twice, and nothing that is not public.
 */

/** One row: copies as (from, until, generation), final blocks as (chain, block). */
export const CONSTANTS_QUERY: Sql = sql`SELECT
  (SELECT groupArrayIf((toUnixTimestamp(toDateTime(month, 'UTC')), toUnixTimestamp(until), toString(gen)), is_plain) FROM plain_coverage),
  (SELECT groupArray((toString(chain), toString(finalized_block))) FROM chain_status FINAL)`;

/** Of the answer to CONSTANTS_QUERY. */
export function readConstants([copies, finalBlocks]: readonly unknown[]): TableConstants {
  const listOf = (value: unknown): readonly (readonly unknown[])[] => (Array.isArray(value) ? value : []);
  return {
    copies: listOf(copies).map(([from, until, generation]) => ({
      from: Number(from),
      until: Number(until),
      generation: digits(generation),
    })),
    finalBlocks: listOf(finalBlocks)
      .map(([chain, block]) => ({ chain: String(chain), block: digits(block) }))
      .filter(({ chain }) => CHAIN.test(chain)),
  };
}

/** CAIP-2. Anything else is not written into a setting, and its blocks count as not final. */
const CHAIN = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/;

function digits(value: unknown): string {
  return BigInt(String(value)).toString();
}

/** The settings of one statement of the guest. Numbers and names of chains alone: nothing of a caller's is in them. */
export function currentSettings(database: string, { copies, finalBlocks }: TableConstants) {
  const generations = copies.map(({ generation }) => `'${generation}'`).join(', ');
  const filters = {
    [`${database}.plain_settlements`]: copies.length === 0 ? '0' : `_partition_id IN (${generations})`,
    [`${database}.settlements`]: notCopied(copies),
    // No table: what the view reads as FINAL_BLOCKS.
    final_blocks: finalBlocks.map(({ chain, block }) => `<${chain}=${block}>`).join(''),
  };
  const written = Object.entries(filters).map(
    ([name, text]) => `'${name}':'${text.replaceAll(/[\\']/g, '\\$&')}'`,
  );
  return { database: currentDatabaseOf(database), additional_table_filters: `{${written.join(',')}}` };
}

/** Every other time, also of hours that had no rows when the constants were read. Months that follow each other are one range. */
function notCopied(copies: TableConstants['copies']): string {
  const ranges: { from: number; until: number }[] = [];
  for (const { from, until } of copies.toSorted((one, other) => one.from - other.from)) {
    const last = ranges.at(-1);
    if (last !== undefined && from <= last.until) last.until = Math.max(last.until, until);
    else ranges.push({ from, until });
  }
  if (ranges.length === 0) return '1';
  return ranges.map(({ from, until }) => `(block_time < ${from} OR block_time >= ${until})`).join(' AND ');
}

const GIVEN = "toString(getSetting('additional_table_filters'))";
/** Chains and blocks as two arrays, which must not be empty: '' is no chain. */
const FINAL_BLOCKS = [
  `arrayPushBack(extractAll(${GIVEN}, '<([^<=>]+)=[0-9]+>'), '')`,
  `arrayPushBack(arrayMap(block -> toUInt64(block), extractAll(${GIVEN}, '<[^<=>]+=([0-9]+)>')), toUInt64(0))`,
] as const;

export function currentViewStatement(database: string, idKey: WalletIdKey, facts: PublicFacts): string {
  const body = settlementsBody({ database, finalBlocks: FINAL_BLOCKS, facts, idKey });
  const from = settlementsOf(database, idKey, { copies: '1', others: 'del = 0' });
  return viewStatementOf(currentDatabaseOf(database), 'settlements', { ...body, from });
}
