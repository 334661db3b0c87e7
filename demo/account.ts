import { mkdirSync } from 'node:fs';
import { type ApiKey, keyDigest, mintApiKey } from '../core/domain/caller.ts';
import type { Log } from '../core/log.ts';
import { openControlStore } from '../src/accounts/open.ts';

export const DEMO_ORGANIZATION_ID = 'org_demo';
/** Its monthly units, granted by the service itself, are more than anybody spends by hand. */
export const DEMO_PLAN = 'pro';

/** Makes an organization and its first key in the store of a service that need not run yet. */
export async function openAccount(dataDir: string, log: Log): Promise<ApiKey> {
  mkdirSync(dataDir, { recursive: true });
  const store = openControlStore({ config: { dataDir, control: { redisUrl: null, keyPrefix: 'six' } }, log });
  const createdAtMs = Date.now();
  const key = mintApiKey('live');
  try {
    await store.accounts.createOrganization({
      id: DEMO_ORGANIZATION_ID,
      displayName: 'Demo',
      plan: DEMO_PLAN,
      createdAtMs,
    });
    await store.accounts.addKey({
      id: 'key_demo',
      digest: keyDigest(key),
      kind: 'live',
      organizationId: DEMO_ORGANIZATION_ID,
      label: 'printed by the demo',
      createdAtMs,
      expiresAtMs: null,
      revokedAtMs: null,
    });
  } finally {
    await store.close();
  }
  return key;
}
