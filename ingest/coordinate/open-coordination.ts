import type { Config } from '../../core/config/config.ts';
import type { Log } from '../../core/log.ts';
import type { ClosableCoordination } from './redis-coordination.ts';

/**
 * Coordination over the Redis of the control store; null where there is none, or where the engine is this service's own and
 * nobody else could work on it. BullMQ is loaded only where it is used.
 */
export async function openCoordination(
  config: Pick<Config, 'control' | 'clickhouse'>,
  log: Log,
): Promise<ClosableCoordination | null> {
  const { redisUrl, keyPrefix } = config.control;
  if (redisUrl === null || config.clickhouse.url === null) return null;
  const { redisCoordination } = await import('./redis-coordination.ts');
  return redisCoordination(redisUrl, keyPrefix, log);
}
