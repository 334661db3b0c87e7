import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { Overtaken } from '../../clickhouse/engine/guard.ts';
import type { Log } from '../../core/log.ts';
import type { Versions } from '../write/versions.ts';
import { newsKey } from './chain-status.ts';
import type { ChainRun } from './index-chain.ts';
import { saveStatuses } from './status-row.ts';

/** How soon news are written for the API to serve, and how often a row is written without any. */
const STATUS_NEWS_MS = 250;
const STATUS_HEARTBEAT_MS = 2_000;

/** A status that cannot be written is not worth stopping for: the next one replaces it. */
export async function publishStatus(
  runs: readonly ChainRun[],
  writer: Writer,
  versions: Versions,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const published = new Map<ChainRun, string>();
  for (let silentMs = STATUS_HEARTBEAT_MS; !signal.aborted; silentMs += STATUS_NEWS_MS) {
    const isDue = silentMs >= STATUS_HEARTBEAT_MS;
    const news = runs.flatMap((run) => {
      run.status.tick();
      const snapshot = run.status.snapshot();
      if (!isDue && published.get(run) === newsKey(snapshot)) return [];
      published.set(run, newsKey(snapshot));
      return [snapshot];
    });
    if (isDue) silentMs = 0;
    await saveStatuses(writer, versions, news).catch((error: unknown) => {
      published.clear();
      // The one error that is news: somebody else publishes this chain's status now.
      if (error instanceof Overtaken) throw error;
      log.warn({ err: error }, 'status not written');
    });
    await delay(STATUS_NEWS_MS, undefined, { signal });
  }
}
