import { type Sql, sql, text } from '../../../clickhouse/engine/sql.ts';
import type { ListedSettlement } from '../../../clickhouse/tables/settlements.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { Position } from '../../../core/domain/settlement.ts';

/** A page as read. `nextBefore` is where the next one starts; undefined at the end of the list. */
export interface SettlementPage {
  readonly rows: readonly ListedSettlement[];
  readonly nextBefore: Position | undefined;
}

/** Below every real row of its second: lets a walk continue under a timestamp that was read to its end. */
export function floorOfSecond(blockTime: number): Position {
  return { blockTime, chain: 'eip155:0', blockNumber: 0, logIndex: 0 };
}

/** The condition for one chain, or none. `chain` is in the sort key, so it may be applied before versions are merged. */
export function onChain(chain: Chain | undefined): Sql[] {
  return chain === undefined ? [] : [sql`chain = ${text(chain)}`];
}
