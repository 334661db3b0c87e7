import { expect, test } from 'vitest';
import type { ShareRecord, ShareStore } from '../../../src/accounts/share-store.ts';
import type { KeptResult } from '../../../src/results/results.ts';
import { createShares } from '../../../src/results/shares.ts';

const EXPIRES_MS = 1_000;

function world() {
  const kept = new Map<string, ShareRecord>();
  const shares: ShareStore = {
    add: ({ max: _max, ...share }) => {
      kept.set(share.id, { ...share, revokedAtMs: null });
      return Promise.resolve('added');
    },
    find: (id) => Promise.resolve(kept.get(id) ?? null),
    list: () => Promise.resolve([...kept.values()]),
    revoke: () => Promise.resolve(false),
  };
  const clock = { now: 0, nowMs: () => clock.now };
  const result = { id: 'result', expiresAtMs: EXPIRES_MS } as KeptResult; // the fields that a link needs
  return { kept, clock, result, links: createShares({ store: { shares }, clock }) };
}

test('a link expires with its result, and says so', async () => {
  const { links, clock, result } = world();
  const made = await links.make({ result, organizationId: 'acme', page: { title: 'A', chart: null } });
  const token = made?.token ?? '';
  expect((await links.find(token))?.state).toBe('open');
  clock.now = EXPIRES_MS;
  expect((await links.find(token))?.state).toBe('expired');
});

test('the store has no token, and two links have different ones', async () => {
  const { links, kept, result } = world();
  const page = { title: 'A', chart: null };
  const [one, two] = [
    await links.make({ result, organizationId: 'acme', page }),
    await links.make({ result, organizationId: 'acme', page }),
  ];
  expect(one?.token).toMatch(/^[\w-]{43}$/);
  expect(one?.token).not.toBe(two?.token);
  expect(JSON.stringify([...kept])).not.toContain(one?.token);
  expect(await links.find(`${one?.token}x`)).toBeNull();
});
