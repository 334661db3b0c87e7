import { mkdirSync } from 'node:fs';
import { type ApiKey, keyDigest, mintApiKey } from '../core/domain/caller.ts';
import type { Chain } from '../core/domain/chains.ts';
import { skeletonOf } from '../core/domain/saved-query.ts';
import type { Log } from '../core/log.ts';
import { STANDSTILL_MS, waitWhileItProgresses } from '../core/process/standstill.ts';
import { openControlStore } from '../src/accounts/open.ts';
import type { SpawnedService } from './service.ts';

/** The few questions that the demo asks the service, as any client would, over HTTP. */
export interface ApiClient {
  /** One page, newest first, of every chain or of one. */
  transactions(before: string | null, limit: number, chain?: Chain): Promise<Page>;
  /** One page, newest registration first. */
  agents(before: string | null, limit: number): Promise<AgentPage>;
  /** Ids of the first hundred agents, best first. */
  bestAgents(by: 'score' | 'paid_score'): Promise<string[]>;
  telemetry(chain: Chain): Promise<Telemetry>;
}

export interface AgentPage {
  readonly agents: readonly ServedAgent[];
  readonly next_before: string | null;
}

/** The parts of an agent that the registries can contradict, and its name. */
export interface ServedAgent {
  readonly agent_id: string;
  readonly owner: string;
  readonly wallet: string | null;
  readonly name: string | null;
  readonly agent_uri: string | null;
  readonly score: number | null;
  readonly feedback_count: number;
  readonly distinct_clients: number;
}

export interface Page {
  readonly transactions: readonly ServedRow[];
  readonly next_before: string | null;
}

/** The parts of a settlement row that the chain can contradict. */
export interface ServedRow {
  readonly chain: string;
  readonly block_number: number;
  readonly block_time: string;
  readonly tx_hash: string;
  readonly log_index: number;
  readonly payer: string;
  readonly payee: string;
  readonly amount: string;
  readonly amount_usd: number | null;
  readonly kind: string;
  readonly channel: string | null;
  readonly relayer: string;
  readonly evidence: { readonly method: string; readonly tier: string };
}

export interface Telemetry {
  readonly chain: string;
  readonly indexed_block: number | null;
  readonly head_block: number | null;
  readonly lag_seconds: number | null;
  readonly state: string;
  readonly backfill: { readonly blocks_done: number; readonly blocks_total: number };
  readonly rows_per_second: number;
  readonly rows_written: number;
  readonly reorgs: number;
  readonly deepest_reorg: number;
}

const ANSWER_TIMEOUT_MS = 15_000;

/** Answers other than 200 throw with the problem's code. */
export function createApiClient(url: string, apiKey: ApiKey): ApiClient {
  const get = async <Answer>(path: string): Promise<Answer> => {
    const response = await fetch(`${url}/v0${path}`, {
      headers: { 'X-API-Key': apiKey },
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    const body: unknown = await response.json();
    if (!response.ok)
      throw new Error(`GET ${path.split('?')[0]}: ${response.status} ${JSON.stringify(body)}`);
    return body as Answer; // pinned by the service's own OpenAPI tests
  };
  const page = (limit: number, before: string | null): string =>
    `limit=${limit}${before === null ? '' : `&before=${encodeURIComponent(before)}`}`;
  return {
    transactions: (before, limit, chain) =>
      get<Page>(`/transactions?chain=${chain ?? 'all'}&${page(limit, before)}`),
    agents: (before, limit) => get<AgentPage>(`/agents?${page(limit, before)}`),
    async bestAgents(by) {
      const { leaderboard } = await get<{ leaderboard: readonly { agent_id: string }[] }>(
        `/leaderboard?by=${by}&limit=100`,
      );
      return leaderboard.map(({ agent_id: id }) => id);
    },
    async telemetry(name) {
      const { chains } = await get<{ chains: readonly Telemetry[] }>('/telemetry');
      const chain = chains.find((one) => one.chain === name);
      if (chain === undefined) throw new Error(`GET /telemetry does not name ${name}`);
      return chain;
    },
  };
}

/** Each look is two requests, on the processor that the index needs. */
const SERVED_LOOK_EVERY_MS = 250;

/** Until the tables exist the service rightly answers 503, which is no progress. */
export async function untilFirstServed(
  client: ApiClient,
  service: Pick<SpawnedService, 'logFile' | 'failed'>,
  chain: Chain,
): Promise<number> {
  const look = async () => {
    const { indexed_block, rows_per_second } = await client.telemetry(chain);
    const { transactions } = await client.transactions(null, 1, chain);
    return { done: transactions.length > 0, at: `block ${indexed_block}, ${rows_per_second} rows/s` };
  };
  const what = `a settlement is served (${service.logFile})`;
  const served = waitWhileItProgresses(what, look, STANDSTILL_MS, SERVED_LOOK_EVERY_MS);
  await Promise.race([served, service.failed]);
  return performance.now();
}

export const DEMO_ORGANIZATION_ID = 'org_demo';
/** Its monthly units, granted by the service itself, are more than a person spends by hand. */
export const DEMO_PLAN = 'pro';
/** In the addresses of its saved queries. */
const DEMO_HANDLE = 'demo';

export interface DemoKeys {
  /** For the person who started the demo. */
  readonly apiKey: ApiKey;
  /** The console lends it to every visitor, so it saves no queries and has no history. */
  readonly visitorKey: ApiKey;
}

/** Makes an organization and its keys in the store of a service that need not run yet. */
export async function openAccount(dataDir: string, log: Log): Promise<DemoKeys> {
  mkdirSync(dataDir, { recursive: true });
  const store = openControlStore({ config: { dataDir, control: { redisUrl: null, keyPrefix: 'six' } }, log });
  const createdAtMs = Date.now();
  const keys = { apiKey: mintApiKey('live'), visitorKey: mintApiKey('live') };
  const addKey = (id: string, key: ApiKey, label: string): Promise<unknown> =>
    store.accounts.addKey({
      id,
      digest: keyDigest(key),
      kind: 'live',
      organizationId: DEMO_ORGANIZATION_ID,
      label,
      createdAtMs,
      expiresAtMs: null,
      revokedAtMs: null,
    });
  try {
    await store.accounts.createOrganization({
      id: DEMO_ORGANIZATION_ID,
      displayName: 'Demo',
      plan: DEMO_PLAN,
      createdAtMs,
    });
    await addKey('key_demo', keys.apiKey, 'printed by the demo');
    await addKey('key_visitors', keys.visitorKey, 'lent to the visitors of the console');
    await store.saved.claimHandle({
      organizationId: DEMO_ORGANIZATION_ID,
      handle: DEMO_HANDLE,
      skeleton: skeletonOf(DEMO_HANDLE),
    });
  } finally {
    await store.close();
  }
  return keys;
}
