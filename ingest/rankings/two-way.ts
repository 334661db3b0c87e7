import { type Sql, sql, text, uint64 } from '../../clickhouse/engine/sql.ts';
import type { Window } from '../../core/domain/window.ts';
import { type FlowScope, flows } from './flows.ts';
import { RING_COUNTS } from './rings.ts';
import { type WalletRange, within } from './wallet-ranges.ts';

/**
 * Payments that are not organic have both ends among a few wallets: those that pay and are paid, and members of rings. The pairs of these
 * alone are compared, a twentieth of all pairs. To find them takes a look at all pairs, so a pass keeps them for its statements.
 */

/** Writes the two-way wallets of a range under the generation. */
export function twoWayInto(
  staged: bigint,
  of: { readonly window: Window; readonly scope: FlowScope; readonly among: WalletRange },
): Sql {
  const { window, scope, among } = of;
  // There are far fewer payees than payers, and the rows are sorted by payee in a table of their own.
  const payees = sql`(SELECT payee FROM (${flows(scope, 'payee', [within(sql`payee`, among)])}))`;
  return sql`INSERT INTO two_way_wallets (span, wallet, gen)
    SELECT ${text(window)}, wallet, ${uint64(staged)} FROM (
      SELECT payer AS wallet FROM (${flows(scope, 'payer', [within(sql`payer`, among), sql`payer IN ${payees}`])})
      UNION DISTINCT SELECT ringed FROM ${RING_COUNTS} WHERE ${within(sql`ringed`, among)})`;
}

/** The wallets of the generation, to be put behind IN. */
export function twoWay(staged: bigint): Sql {
  return sql`(SELECT wallet FROM two_way_wallets WHERE gen = ${uint64(staged)})`;
}
