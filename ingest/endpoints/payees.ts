import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql, texts, uint32, uint64 } from '../../clickhouse/engine/sql.ts';
import type { PayeeConfig } from '../../core/config/catalogue.ts';
import { address } from '../../core/domain/address.ts';
import { type Chain, isChain } from '../../core/domain/chains.ts';
import { VERSION_UNITS_PER_MS } from '../../core/domain/settlement.ts';

/**
 * The addresses that listed offers are paid to, as payees of the catalogue: a relayed payment to one of them is the payment of
 * a catalogued payee. A listing is a claim, so they lie below the file and the configuration, and their number is bounded: those
 * that were listed first stay, whatever is listed after them.
 */

/** A regrade reads the rows of every one of them, and the catalogue is held in memory. */
export const LISTED_PAYEES_MAX = 50_000;
const MAX_SECONDS = 60;
/**
 * How long an address stays after its last offer is gone from a source that is still read: a payee that leaves the catalogue
 * loses its bare transfers for good, and listings flicker.
 */
export const LISTED_PAYEE_GRACE_MS = 7 * 86_400_000;

/** By the time at which they were first listed, then by chain and address. */
export async function loadListedPayees(
  writer: Writer,
  {
    chains,
    nowMs,
    payeesMax = LISTED_PAYEES_MAX,
  }: { readonly chains: readonly Chain[]; readonly nowMs: number; readonly payeesMax?: number },
): Promise<PayeeConfig[]> {
  const graceFrom = BigInt(Math.max(0, nowMs - LISTED_PAYEE_GRACE_MS)) * VERSION_UNITS_PER_MS;
  const { rows } = await writer.rows({
    name: 'listed-payees',
    sql: sql`SELECT chain, pay_to, argMin((service_name, resource), (first_seen, resource, method, source)) AS named
      FROM (SELECT chain, pay_to, service_name, resource, first_seen, method, source FROM endpoint_offers FINAL
        WHERE chain IN ${texts(chains)} AND (del = 0 OR (ver >= ${uint64(graceFrom)}
          AND source IN (SELECT source FROM endpoint_sources FINAL WHERE del = 0))))
      GROUP BY chain, pay_to ORDER BY min(first_seen), chain, pay_to LIMIT ${uint32(payeesMax)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: payeesMax,
  });
  return rows.map(([chain, payTo, named]) => {
    const on = String(chain);
    if (!isChain(on)) throw new Error(`endpoint_offers names a chain that is none: ${on}`);
    const [serviceName = '', resource = ''] = Array.isArray(named) ? named.map(String) : [];
    return { chain: on, address: address(String(payTo)), name: serviceName || hostOf(resource), resource };
  });
}

function hostOf(resource: string): string {
  return URL.canParse(resource) ? new URL(resource).host : '';
}

/** The payees that a catalogue is built with; the same list as long as nothing changed. */
export interface ListedPayees {
  current(): readonly PayeeConfig[];
  /** True when it is another list than before. */
  replace(next: readonly PayeeConfig[]): boolean;
}

export function createListedPayees(initial: readonly PayeeConfig[] = []): ListedPayees {
  let current = initial;
  return {
    current: () => current,
    replace(next) {
      if (JSON.stringify(next) === JSON.stringify(current)) return false;
      current = next;
      return true;
    },
  };
}
