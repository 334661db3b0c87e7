import { IS_COUNTED } from '../../../clickhouse/engine/counted-rows.ts';
import { allOf, type Sql, sql, text } from '../../../clickhouse/engine/sql.ts';
import type { Address } from '../../../core/domain/address.ts';
import type { Chain } from '../../../core/domain/chain.ts';
import { type FinalBlock, onFinalChain, onlyFinal } from '../index-state/finality.ts';
import { closedSlices, type RollupCoverage } from '../index-state/rollup-coverage.ts';
import { onChain } from '../settlements/row.ts';

/** Whose settlements a profile is about, and which of them count. */
export interface ProfileScope {
  readonly wallet: Address;
  readonly chain: Chain | undefined;
  /** Only rows up to these blocks count; undefined: rows at the tip count too. */
  readonly final: readonly FinalBlock[] | undefined;
}

/** The resource that a 503 names. */
export const PROFILE_RESOURCE = 'wallets';

/**
 * FROM and WHERE of the wallet's rows that count, one for each role, from the table ordered by wallet. Versions are merged before
 * `del` and `method` are looked at: the engine filters rows earlier only by the sort key, which every version of a row shares.
 */
export function fromWalletRows(scope: ProfileScope, when: Sql): Sql {
  return sql`FROM wallet_log FINAL WHERE ${allOf([...keyConditions(scope), when])} AND ${IS_COUNTED}`;
}

/** Conditions on the sort key of wallet_log: which rows are of this wallet (the first one) and count. */
export function keyConditions({ wallet, chain, final }: ProfileScope): [Sql, ...Sql[]] {
  return [sql`wallet = ${text(wallet)}`, ...onChain(chain), ...onlyFinal(final)];
}

/**
 * FROM and WHERE of what the rollups hold of the wallet as a payee and as a payer. A key that vanished stays there with a count
 * of zero.
 */
export function fromClosedRows(
  { wallet, chain, final }: ProfileScope,
  coverage: RollupCoverage,
): { readonly received: Sql; readonly paid: Sql } {
  const conditions = allOf([...onChain(chain), ...onFinalChain(final), closedSlices(coverage)]);
  return {
    received: sql`FROM payee_day FINAL WHERE payee = ${text(wallet)} AND ${conditions} AND settlement_count > 0`,
    paid: sql`FROM payer_day FINAL WHERE payer = ${text(wallet)} AND ${conditions} AND settlement_count > 0`,
  };
}

export function unionAll(parts: readonly Sql[]): Sql {
  const [first, ...rest] = parts;
  if (first === undefined) throw new Error('a union of nothing');
  return rest.reduce((all, next) => sql`${all} UNION ALL ${next}`, first);
}
