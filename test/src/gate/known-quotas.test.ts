import { expect, test } from 'vitest';
import { keyDigest, mintApiKey } from '../../../core/domain/caller.ts';
import { createKnownQuotas, isSameQuota } from '../../../src/gate/rate-limit.ts';

const quota = { key: 'org:a', requestsPerMinute: 5, whose: 'the keys of this organization' };

const newDigest = () => keyDigest(mintApiKey('live'));

test('a key is remembered by its digest', () => {
  const quotas = createKnownQuotas();
  const digest = newDigest();
  expect(quotas.guess(digest)).toBeUndefined();
  quotas.remember(digest, quota);
  expect([quotas.guess(digest), quotas.guess(newDigest())]).toEqual([quota, undefined]);
});

test('a flood of keys does not grow the table', () => {
  const quotas = createKnownQuotas(2);
  const digests = [newDigest(), newDigest(), newDigest()];
  for (const digest of digests) quotas.remember(digest, quota);
  expect(digests.map((digest) => quotas.guess(digest))).toEqual([undefined, undefined, quota]);
});

test('a key that is not good any more is forgotten', () => {
  const quotas = createKnownQuotas();
  const digest = newDigest();
  quotas.remember(digest, quota);
  quotas.remember(digest, null);
  expect(quotas.guess(digest)).toBeUndefined();
});

test('another limit is another window', () => {
  expect(isSameQuota(quota, { ...quota, requestsPerMinute: 6 })).toBe(false);
  expect(isSameQuota(quota, { ...quota })).toBe(true);
});
