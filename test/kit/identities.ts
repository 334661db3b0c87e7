import type { Writer } from '../../clickhouse/engine/engine.ts';
import type { Config } from '../../core/config/config.ts';
import { loadConfig } from '../../core/config/load.ts';
import type { DocumentFetcher } from '../../ingest/fetch/document.ts';
import { createSafeFetcher, type SafeFetchSettings } from '../../ingest/fetch/safe-fetch.ts';
import { emptyThose } from './empty-tables.ts';
import { testLog } from './engine.ts';

/** A configuration that fetches from servers of the test, and from nowhere else. */
export function identitiesConfig(
  identities: Partial<Config['identities']> = {},
): Pick<Config, 'chains' | 'identities'> {
  const config = loadConfig({ env: {} });
  return {
    chains: config.chains,
    identities: { ...config.identities, allowPrivateHosts: true, ipfsGateways: [], ...identities },
  };
}

/** The real fetcher; names resolve to nothing unless they are given. */
export function loopbackFetcher(
  settings: SafeFetchSettings,
  names: Readonly<Record<string, readonly string[]>> = {},
  deadlineMs = 1_000,
): DocumentFetcher {
  return createSafeFetcher({
    settings,
    log: testLog,
    resolve: async (hostname) => names[hostname] ?? [],
    deadlineMs,
  });
}

export function dataUri(file: unknown): string {
  return `data:application/json;base64,${Buffer.from(JSON.stringify(file)).toString('base64')}`;
}

const IDENTITY_TABLES: readonly string[] = [
  'agent_events',
  'agent_changes',
  'agent_cards',
  'agents',
  'agents_due',
  'attestations',
  'agent_attestations',
  'feedback_revocations',
  'feedback_files',
  'agent_feedback_files',
];

export function emptyIdentityTables(writer: Writer): Promise<void> {
  return emptyThose(writer, (table) => IDENTITY_TABLES.includes(table));
}
