import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql, text, texts, trustedText, uint8, uint64 } from '../../clickhouse/engine/sql.ts';
import type { Address } from '../../core/domain/account.ts';
import type { AgentCard } from '../../core/domain/agent.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { deriveDue } from '../../ingest/agents/derive.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { testLog } from './engine.ts';
import { insertAgentEvents, registration } from './registry-rows.ts';
import { BASE, NOON, nextVer, wallet } from './rows.ts';

/** Agents with cards, written the way ingest writes them. */

export interface TestAgent {
  readonly chain: Chain;
  readonly agentId: bigint;
  readonly owner: Address;
  readonly uri: string;
  readonly blockNumber: number;
  readonly card: (Partial<AgentCard> & { readonly capabilities?: readonly string[] }) | null;
}

/** Registers an agent and gives it its card; call `deriveAll` afterwards. */
export async function registerAgent(writer: Writer, fields: Partial<TestAgent> = {}): Promise<void> {
  const {
    chain = BASE,
    agentId = 0n,
    owner = wallet(0xa1),
    uri = 'https://agent.example/card.json',
  } = fields;
  const { blockNumber = 1_000 + Number(agentId), card = null } = fields;
  await insertAgentEvents(writer, registration({ chain, agentId, account: owner, text: uri, blockNumber }));
  if (card !== null) await writeCard(writer, { chain, agentId, uri, card });
}

async function writeCard(
  writer: Writer,
  {
    chain,
    agentId,
    uri,
    card,
  }: Pick<TestAgent, 'chain' | 'agentId' | 'uri'> & { readonly card: NonNullable<TestAgent['card']> },
): Promise<void> {
  const {
    name = '',
    description = '',
    image = '',
    services = [],
    supportedTrust = [],
    capabilities = [],
  } = card;
  const { x402Support = false, active = true } = card;
  await writer.run({
    name: 'test-agent-card',
    maxSeconds: 10,
    sql: sql`INSERT INTO agent_cards (chain, agent_id, uri, status, tried_at, next_try_at, good_uri, good_at,
        name, description, image, services, supported_trust, x402_support, active, capabilities, ver, del)
      SELECT ${text(chain)}, toUInt256(${text(String(agentId))}), ${text(uri)}, 'good', toDateTime(${trustedText(String(NOON))}, 'UTC'),
        toDateTime(4000000000, 'UTC'), ${text(uri)}, toDateTime(${trustedText(String(NOON))}, 'UTC'),
        ${text(name)}, ${text(description)}, ${text(image)}, ${text(JSON.stringify(services))}, ${texts(supportedTrust)},
        ${uint8(Number(x402Support))}, ${uint8(Number(active))}, ${texts(capabilities)}, ${uint64(nextVer())}, 0`,
  });
}

const versions = createVersions(0n);

/** Derives whatever is due. */
export async function deriveAll(writer: Writer): Promise<void> {
  const deps = { writer, versions, log: testLog, signal: new AbortController().signal };
  while ((await deriveDue(deps)) > 0);
}
