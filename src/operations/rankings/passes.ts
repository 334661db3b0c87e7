import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { bigintField, integerField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, type Sql, sql, text, texts, uint64 } from '../../../clickhouse/engine/sql.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { JudgedRole } from '../../../core/domain/data-quality.ts';
import type { Resource } from '../../../core/domain/resources.ts';
import type { Window } from '../../../core/domain/window.ts';
import { ask } from '../ask.ts';

/** The newest finished pass over a window (ingest/rankings), and the wallets that it ranked. */

export interface RankedPass {
  readonly gen: bigint;
  readonly window: Window;
  /** Unix milliseconds: the moment that its windows end at. */
  readonly rankedAtMs: number;
}

const MAX_SECONDS = 5;
/** Begins the name of the statement; the window follows. src/asked-rankings.ts looks for it. */
export const RANKING_READ = 'ranking-pass ';

/** Null before the first one. `resource`: the resource that is missing where the engine does not answer. */
export async function readPass(
  reader: Reader,
  window: Window,
  resource: Resource,
): Promise<RankedPass | null> {
  const { rows } = await ask(reader, resource, {
    name: `${RANKING_READ}${window}`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT gen, toUnixTimestamp(ranked_at) FROM ranking_passes WHERE span = ${text(window)} ORDER BY gen DESC LIMIT 1`,
  });
  const [row] = rows;
  return row === undefined
    ? null
    : { gen: bigintField(row[0]), window, rankedAtMs: integerField(row[1]) * 1_000 };
}

interface RankedWallets {
  readonly role: JudgedRole;
  readonly chains: readonly Chain[];
  /** Whether chains are kept apart; else all of them together are ranked. */
  readonly byChain: boolean;
}

/** Rows of `ranked_wallets`, to be put behind FROM. */
export function rankedWallets(
  { gen, window }: RankedPass,
  { role, chains, byChain }: RankedWallets,
  conditions: readonly Sql[] = [],
): Sql {
  const ranked = byChain || chains.length === 1 ? sql`chain IN ${texts(chains)}` : sql`chain = ''`;
  return sql`(SELECT * FROM ranked_wallets
    WHERE ${allOf([sql`gen = ${uint64(gen)}`, sql`span = ${text(window)}`, sql`role = ${text(role)}`, ranked, ...conditions])})`;
}
