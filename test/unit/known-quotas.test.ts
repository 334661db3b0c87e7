import { expect, test } from 'vitest';
import { mintApiKey } from '../../src/domain/api-key.ts';
import { createKnownQuotas, isSameQuota } from '../../src/gate/known-quotas.ts';

const quota = { key: 'org:a', requestsPerMinute: 5, whose: 'the keys of this organization' };

test('a key is remembered, a text that is no key is not', () => {
  const quotas = createKnownQuotas();
  const key = mintApiKey('live');
  expect(quotas.guess(key)).toBeUndefined();
  quotas.remember(key, quota);
  quotas.remember('eyJ.a.b', quota);
  expect([quotas.guess(key), quotas.guess('eyJ.a.b'), quotas.guess(mintApiKey('live'))]).toEqual([
    quota,
    undefined,
    undefined,
  ]);
});

test('a flood of keys does not grow the table', () => {
  const quotas = createKnownQuotas(2);
  const keys = [mintApiKey('live'), mintApiKey('live'), mintApiKey('live')];
  for (const key of keys) quotas.remember(key, quota);
  expect(keys.map((key) => quotas.guess(key))).toEqual([undefined, undefined, quota]);
});

test('another limit is another window', () => {
  expect(isSameQuota(quota, { ...quota, requestsPerMinute: 6 })).toBe(false);
  expect(isSameQuota(quota, { ...quota })).toBe(true);
});
