import { createHash, randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { KeyDigest } from '../../core/domain/caller.ts';
import type { KeyRecord } from '../../src/accounts/account-store.ts';
import { openRedisStore } from '../../src/accounts/redis/store.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import { startRedisServer } from '../../test/kit/redis-server.ts';
import { benchLog } from '../support/bench-engine.ts';
import type { Figure } from '../support/figure.ts';
import type { BenchPart } from '../support/run-bench.ts';
import { shown } from './index-size.ts';

/** The memory of a thousand of each record in the control store's Redis. */

const THOUSANDS = 10;
const THOUSANDS_QUICK = 1;
const THOUSAND = 1_000;
const AT_ONCE = 50;
const LATER_MS = 120_000;
const KIBIBYTE = 1_024;

export const redisMemory: BenchPart = {
  name: 'redis',
  summary: 'memory of Redis per thousand keys, open holds, metered calls and payments',
  async run({ quick, workspace }) {
    const server = await startRedisServer(['--appendfsync', 'no']);
    workspace.defer(() => server.stop());
    const store = openRedisStore({ url: server.url, keyPrefix: 'index', log: benchLog() });
    workspace.defer(() => store.close());
    const raw = new Redis(server.url);
    workspace.defer(() => raw.disconnect());
    const organization = { id: 'acme', displayName: 'Acme', plan: 'pro', createdAtMs: 1 } as const;
    await store.accounts.createOrganization(organization);
    await store.units.grant({ organizationId: 'acme', grantId: 'g', units: 1e9, note: '', atMs: 1 });
    const count = (quick ? THOUSANDS_QUICK : THOUSANDS) * THOUSAND;
    const figures: Figure[] = [];
    for (const [name, work] of Object.entries(kindsOf(store))) {
      const before = await usedBytes(raw);
      await inTurns(count, work);
      const bytes = (await usedBytes(raw)) - before;
      figures.push(shown(`redis-${name}`, (bytes / count) * (THOUSAND / KIBIBYTE), 'KiB/thousand'));
    }
    return figures;
  },
};

function kindsOf(store: ControlStore): Readonly<Record<string, (n: number) => Promise<unknown>>> {
  const hold = (holdId: string) => {
    const now = Date.now();
    return {
      ...{ organizationId: 'acme', holdId, units: 3, operation: 'list-flows' },
      ...{ heldAtMs: now, overdueAtMs: now + LATER_MS },
    };
  };
  return {
    keys: (n) => store.accounts.addKey(keyOf(n)),
    'open-holds': () => store.units.hold(hold(randomUUID())),
    'metered-calls': async () => {
      const holdId = randomUUID();
      await store.units.hold(hold(holdId));
      await store.units.capture({ organizationId: 'acme', holdId, units: 2, atMs: Date.now() });
    },
    'served-payments': (n) => pay(store, n),
    'rate-windows': (n) =>
      store.rates.take({ key: `address-${n}`, limit: 60, windowSeconds: 60, nowMs: Date.now() }),
  };
}

function keyOf(n: number): KeyRecord {
  const digest = createHash('sha256').update(String(n)).digest('hex') as KeyDigest; // of the same form
  return {
    id: `key_${randomUUID()}`,
    digest,
    kind: 'live',
    organizationId: 'acme',
    label: 'ci',
    createdAtMs: 1,
    expiresAtMs: null,
    revokedAtMs: null,
  };
}

async function pay(store: ControlStore, n: number): Promise<void> {
  const hex = (width: number): string => `0x${n.toString(16).padStart(width, '0')}`;
  const id = { chain: 'eip155:8453', asset: hex(40), payer: hex(40), nonce: hex(64) };
  const now = Date.now();
  await store.payments.claim({
    ...{ id, binding: 'b'.repeat(64), resource: 'GET /v0/flows', payTo: hex(40), amount: '1000' },
    ...{ expiresAtMs: now + LATER_MS, claimedAtMs: now, leaseUntilMs: now + LATER_MS },
  });
  await store.payments.recordSettlement({ id, transaction: hex(64) });
  const { attempt } = await store.payments.beginServing({
    id,
    nowMs: now,
    leaseUntilMs: now + LATER_MS,
    attemptsMax: 3,
  });
  await store.payments.finishServing({ id, attempt, answered: true });
}

async function inTurns(count: number, work: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) await work(n);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

async function usedBytes(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
}
