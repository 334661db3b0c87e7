import type { Writer } from '../../clickhouse/engine/engine.ts';
import { loadConfig } from '../../core/config/load.ts';
import { dollarTokens } from '../../ingest/endpoints/item.ts';
import { WHOLE } from '../../ingest/endpoints/list.ts';
import { syncSource } from '../../ingest/endpoints/sync.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { deriveAll, registerAgent } from './agents.ts';
import { listedItem } from './bazaar.ts';
import { testLog } from './engine.ts';
import { BUYER, RIVAL, SHOP } from './market.ts';
import { attestation, insertAttestations } from './registry-rows.ts';
import { wallet } from './rows.ts';

/** Who the shops of the market are to ERC-8004 and to the endpoint directory: two agents, their ratings, two listings. */

export const SHOP_AGENT = { agentId: 1n, name: 'Weather by the call', wallet: SHOP } as const;
export const RIVAL_AGENT = { agentId: 2n, name: 'Rival', wallet: RIVAL } as const;
/** Never paid anything. */
const STRANGER = wallet(0x9999);
export const RATINGS = {
  [String(SHOP_AGENT.agentId)]: [
    { author: BUYER, value: 90n },
    { author: BUYER, value: 80n },
    { author: STRANGER, value: 10n },
  ],
  [String(RIVAL_AGENT.agentId)]: [{ author: STRANGER, value: 30n }],
} as const;
/** The shop lists another price than it charges, the rival lists the one that it charges. */
export const LISTED = {
  shop: { service: 'Weather', resource: 'https://shop.example/weather', payTo: SHOP, micros: 15_000n },
  rival: { service: 'Rival', resource: 'https://rival.example/weather', payTo: RIVAL, micros: 50_000n },
} as const;

export async function fillIdentities(writer: Writer): Promise<void> {
  for (const { agentId, name, wallet: owner } of [SHOP_AGENT, RIVAL_AGENT])
    await registerAgent(writer, { agentId, owner, card: { name } });
  const ratings = Object.entries(RATINGS).flatMap(([agentId, given]) =>
    given.map((rating, nth) => ({ ...rating, agentId: BigInt(agentId), feedbackIndex: BigInt(nth + 1) })),
  );
  await insertAttestations(
    writer,
    ratings.map(({ author, ...fields }, at) =>
      attestation({ ...fields, author, client: author, blockNumber: 5_000 + at }),
    ),
  );
  await deriveAll(writer);
}

export async function fillEndpoints(writer: Writer, nowSeconds: number): Promise<void> {
  const items = Object.values(LISTED).map(({ service, resource, payTo, micros }) =>
    listedItem(resource, { payTo, amount: String(micros), item: { serviceName: service } }),
  );
  const tokens = dollarTokens(loadConfig({ env: {} }));
  const { signal } = new AbortController();
  await syncSource(
    { writer, versions: createVersions(0n), tokens, nowMs: () => nowSeconds * 1_000, log: testLog, signal },
    { id: 'file', kind: 'file', host: '', mark: '', read: (take) => take(items).then(() => WHOLE) },
  );
}
