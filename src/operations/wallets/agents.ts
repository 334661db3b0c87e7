import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { allOf, sql, text, uint32 } from '../../../clickhouse/engine/sql.ts';
import type { Address } from '../../../core/domain/address.ts';
import type { Chain } from '../../../core/domain/chain.ts';
import { AGENTS_RESOURCE, readAgents } from '../agents/read-list.ts';
import type { AgentRow } from '../agents/row.ts';
import { ask } from '../read/ask.ts';
import { bigintField, integerField, textField } from '../read/decode.ts';
import { onChain } from '../settlements/row.ts';

/** The agents that pay and are paid with a wallet. */
export interface WalletAgents {
  /** The most recently rated first, then by chain and the lowest id. */
  readonly shown: readonly AgentRow[];
  /** Counted among the first `WALLET_AGENTS_COUNTED_MAX` that ever had the wallet. */
  readonly total: number;
}

/** Of a wallet: the rest is on `/agents`, by owner. */
export const WALLET_AGENTS_SHOWN_MAX = 20;
/** A wallet can register agents for as long as it pays for blocks: the first by chain and id are looked at. */
export const WALLET_AGENTS_COUNTED_MAX = 10_000;
const MAX_SECONDS = 5;

/** An agent that had the wallet once is in agent_wallets for good, so `agents` is asked whether it still has it. */
export async function readWalletAgents(
  reader: Reader,
  { wallet, chain }: { readonly wallet: Address; readonly chain: Chain | undefined },
): Promise<WalletAgents> {
  const isWallet = sql`wallet = toFixedString(unhex(${text(wallet.slice(2))}), 20)`;
  const { rows } = await ask(reader, AGENTS_RESOURCE, {
    name: 'wallet-agents',
    maxSeconds: MAX_SECONDS,
    maxRows: WALLET_AGENTS_SHOWN_MAX,
    sql: sql`SELECT chain, toString(agent_id), count() OVER () FROM (
        SELECT chain, agent_id, wallet, last_feedback_at, del FROM agents FINAL WHERE (chain, agent_id) IN (
          SELECT chain, agent_id FROM agent_wallets WHERE ${allOf([isWallet, ...onChain(chain)])}
          ORDER BY wallet, chain, agent_id LIMIT 1 BY wallet, chain, agent_id LIMIT ${uint32(WALLET_AGENTS_COUNTED_MAX)}))
      WHERE del = 0 AND ${isWallet}
      ORDER BY last_feedback_at DESC, chain, agent_id LIMIT ${uint32(WALLET_AGENTS_SHOWN_MAX)}`,
  });
  // Chains are written by ingest from `Chain` values only.
  const keys = rows.map((row) => ({ chain: textField(row[0]) as Chain, agentId: bigintField(row[1]) }));
  const found = await readAgents(reader, keys, { conditions: [isWallet], limit: keys.length });
  const byKey = new Map(found.map((row) => [`${row.chain} ${row.agentId}`, row]));
  return {
    shown: keys.flatMap((key) => byKey.get(`${key.chain} ${key.agentId}`) ?? []),
    total: rows.length === 0 ? 0 : integerField(rows[0]?.[2]),
  };
}
