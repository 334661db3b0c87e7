import { Redis } from 'ioredis';
import { namesOf } from '../../src/accounts/redis/layout.ts';

/**
 * Deletes everything in Redis that is not of the control store: jobs, leases, budgets of providers. Those are hints, and losing
 * them may cost time and nothing else; accounts and units are no hints.
 */
export async function forgetJobs(url: string, keyPrefix: string): Promise<number> {
  const isOfTheStore = storeKeys(keyPrefix);
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  // Redis may be away at this moment; ioredis comes back by itself.
  redis.on('error', () => undefined);
  try {
    const keys = (await redis.keys('*')).filter((key) => !isOfTheStore(key));
    if (keys.length > 0) await redis.del(...keys);
    return keys.length;
  } finally {
    redis.disconnect();
  }
}

/** Whether a key is one of the control store. */
function storeKeys(keyPrefix: string): (key: string) => boolean {
  const { root, layout } = namesOf(keyPrefix);
  return (key) => key === layout || key.startsWith(root);
}
