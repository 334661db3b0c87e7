import type { Settlement } from '../../clickhouse/tables/settlements.ts';
import type { Address } from '../../core/domain/account.ts';
import { BASE, NOON, settlement, wallet } from './rows.ts';

/** A month of payments of the same agents to the same sellers through a named relayer and through others. */

/** The relayer that `nameFacilitator` of rows.ts names. */
export const NAMED = wallet(0xd4);
/** Does what the named one does. */
export const RIVAL = wallet(0xe5);
/** Pays the same people for one employer. */
export const PAYROLL = wallet(0xe6);

const [AGENTS, SELLERS] = [12, 9];
const HOUR = 3_600;

/** Each agent once to each seller. */
export function relayedBy(relayer: Address, firstBlock: number): Settlement[] {
  return Array.from({ length: AGENTS * SELLERS }, (_, at) =>
    settlement({
      chain: BASE,
      relayer,
      payer: wallet(0x1000 + (at % AGENTS)),
      payee: wallet(0x2000 + Math.floor(at / AGENTS)),
      blockNumber: firstBlock + at,
      blockTime: NOON - 3 * 86_400 + at * HOUR * 0.5,
    }),
  );
}

export function proposalWorld(): Settlement[] {
  const payroll = Array.from({ length: 60 }, (_, at) =>
    settlement({
      relayer: PAYROLL,
      payer: wallet(at < 56 ? 0x3000 : 0x3000 + at),
      payee: wallet(0x4000 + at),
      blockNumber: 9_000 + at,
      blockTime: NOON - 86_400 + at,
    }),
  );
  return [...relayedBy(NAMED, 2_000), ...relayedBy(RIVAL, 4_000), ...payroll];
}
