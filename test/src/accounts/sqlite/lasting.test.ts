import { expect, test } from 'vitest';
import { isLastingChange } from '../../../../src/accounts/sqlite/lasting.ts';
import type { WriteRequest } from '../../../../src/accounts/sqlite/writes.ts';

const HOLD = { organizationId: 'org', holdId: 'h', atMs: 3 };

test.each<[string, WriteRequest, boolean]>([
  ['a hold', request('hold', { ...HOLD, units: 5, operation: 'op', heldAtMs: 1, overdueAtMs: 2 }), false],
  ['a capture that charges nothing', request('capture', { ...HOLD, units: 0 }), false],
  ['a capture that charges', request('capture', { ...HOLD, units: 1 }), true],
  ['a release', request('release', { ...HOLD, kind: 'release', note: 'it failed' }), true],
  ['a grant', request('grant', { organizationId: 'org', grantId: 'g', units: 1, note: 'n', atMs: 1 }), true],
])('whether %s waits for the disk', (_what, change, isLasting) => {
  expect(isLastingChange(change)).toBe(isLasting);
});

function request<Name extends WriteRequest['name']>(
  name: Name,
  argument: WriteRequest<Name>['argument'],
): WriteRequest {
  return { name, argument };
}
