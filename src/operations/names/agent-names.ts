import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { sql, texts, uint32 } from '../../../clickhouse/engine/sql.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Address } from '../../../core/domain/address.ts';
import type { Chain } from '../../../core/domain/chain.ts';
import { ask } from '../read/ask.ts';
import { textField } from '../read/decode.ts';

/** What the ERC-8004 agent of a wallet is called on a chain. */
export interface AgentName {
  readonly chain: Chain;
  readonly name: string;
}

/** Names of agents by wallet, asked for as pages need them: there may be half a million, and a page shows two hundred. */
export interface AgentNames {
  /** Best first, one for each chain; a wallet without a named agent is missing. */
  of(wallets: readonly Address[]): Promise<ReadonlyMap<Address, readonly AgentName[]>>;
}

const RESOURCE = 'names';
const MAX_SECONDS = 5;
/** A wallet that has no agent is remembered too. About 30 MB when all of them have one. */
const REMEMBERED_MAX = 100_000;
const REMEMBERED_MS = 30_000;
/** Agents of one wallet that are looked at: the lowest ids of those that ever had it. */
const AGENTS_PER_WALLET_MAX = 100;
const NAMES_MAX = 100_000;
const NONE: readonly AgentName[] = [];

interface Remembered {
  readonly names: readonly AgentName[];
  readonly untilMs: number;
}

export function createAgentNames({
  reader,
  clock,
}: {
  readonly reader: Reader;
  readonly clock: Clock;
}): AgentNames {
  const remembered = new Map<Address, Remembered>();
  const remember = (wallet: Address, names: readonly AgentName[]): void => {
    remembered.delete(wallet);
    remembered.set(wallet, { names, untilMs: clock.nowMs() + REMEMBERED_MS });
    if (remembered.size <= REMEMBERED_MAX) return;
    const [oldest] = remembered.keys();
    if (oldest !== undefined) remembered.delete(oldest);
  };
  return {
    async of(wallets) {
      const nowMs = clock.nowMs();
      const asked = [...new Set(wallets)];
      const known = new Map(
        asked.flatMap((wallet) => {
          const one = remembered.get(wallet);
          return one !== undefined && one.untilMs > nowMs ? [[wallet, one.names] as const] : [];
        }),
      );
      const unknown = asked.filter((wallet) => !known.has(wallet));
      const found = unknown.length === 0 ? new Map<Address, AgentName[]>() : await readNames(reader, unknown);
      for (const wallet of unknown) {
        const names = found.get(wallet) ?? NONE;
        remember(wallet, names);
        known.set(wallet, names);
      }
      return known;
    },
  };
}

/**
 * Several agents of one wallet on a chain: the one with most feedback names it, then the one that registered first. A card whose
 * domain denies that the agent is its own names nobody.
 */
async function readNames(
  reader: Reader,
  wallets: readonly Address[],
): Promise<ReadonlyMap<Address, AgentName[]>> {
  const asked = sql`(SELECT toFixedString(unhex(arrayJoin(${texts(wallets.map((wallet) => wallet.slice(2)))})), 20))`;
  const { rows } = await ask(reader, RESOURCE, {
    name: 'agent-names',
    maxSeconds: MAX_SECONDS,
    maxRows: NAMES_MAX,
    sql: sql`SELECT lower(hex(wallet)), chain, name FROM (
        SELECT wallet, chain, agent_id, name, domain_proof, feedback_count, del FROM agents FINAL
        WHERE (chain, agent_id) IN (
          SELECT chain, agent_id FROM agent_wallets WHERE wallet IN ${asked} ORDER BY wallet, chain, agent_id
          LIMIT ${uint32(AGENTS_PER_WALLET_MAX)} BY wallet))
      WHERE del = 0 AND name != '' AND domain_proof != 'refuted' AND wallet IN ${asked}
      ORDER BY feedback_count DESC, agent_id, chain LIMIT 1 BY wallet, chain LIMIT ${uint32(NAMES_MAX)}`,
  });
  const names = new Map<Address, AgentName[]>();
  for (const [at, chain, name] of rows) {
    const wallet = `0x${textField(at)}` as Address; // decoder of our own column
    const entry = { chain: textField(chain) as Chain, name: textField(name) };
    names.set(wallet, [...(names.get(wallet) ?? []), entry]);
  }
  return names;
}
