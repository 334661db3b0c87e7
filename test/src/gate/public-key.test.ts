import { expect, test } from 'vitest';
import { keyDigest, mintApiKey } from '../../../core/domain/caller.ts';
import type { AccountStore } from '../../../src/accounts/account-store.ts';
import { identify, readCredential } from '../../../src/gate/caller.ts';
import { testClock } from '../../kit/api.ts';

const key = mintApiKey('live');
const digest = keyDigest(key);
const organization = { id: 'org', displayName: 'Org', plan: 'free', createdAtMs: 0 } as const;
const accounts: Pick<AccountStore, 'findKey' | 'findOrganization'> = {
  findKey: () =>
    Promise.resolve({
      key: {
        id: 'key_1',
        kind: 'live',
        digest,
        organizationId: organization.id,
        label: '',
        createdAtMs: 0,
        expiresAtMs: null,
        revokedAtMs: null,
      },
      organization,
    }),
  findOrganization: () => Promise.resolve(organization),
};

async function managesKeys(publicKey: typeof digest | null): Promise<boolean | undefined> {
  const plan = { requestsPerMinute: 1, sqlTiers: [], lowBalanceQu: 0, monthlyGrantQu: 0 };
  const { caller } = await identify(readCredential({ 'x-api-key': key }), '127.0.0.1', {
    accounts,
    bearer: null,
    plans: { free: plan, pro: plan, enterprise: plan },
    trialRequestsPerMinute: 1,
    requestsPerMinute: 1,
    publicKey,
    clock: testClock(),
  });
  return caller.key?.managesKeys;
}

test('the key that the console lends to its visitors manages no keys, whatever its record says', async () => {
  expect(await managesKeys(null)).toBe(true);
  expect(await managesKeys(digest)).toBe(false);
});
