import { setTimeout as delay } from 'node:timers/promises';
import { type Log, providerName } from '../../core/log.ts';
import { openWebSocketClient } from './web-socket-client.ts';

/** How long a lost subscription rests before it is made anew; polling goes on meanwhile. */
const RESUBSCRIBE_AFTER_MS = 5_000;
/** A header has less than 2 kB. */
const ANNOUNCEMENT_MAX_BYTES = 1024 * 1024;

/**
 * Calls `listener` on every new block that the node announces over a websocket, until the signal aborts. Only a hint that
 * asking for the tip pays now: what is in the announcement is not used, and polling covers whatever is not announced.
 */
export async function announceHeads(
  url: string,
  listener: () => void,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await untilSubscriptionEnds(url, listener, signal);
    } catch {
      // The reason may quote the URL, which may hold a key.
      log.debug({ provider: providerName(url) }, 'no subscription to new heads, polling goes on');
    }
    await delay(RESUBSCRIBE_AFTER_MS, undefined, { signal }).catch(() => undefined); // an abort ends the loop above
  }
}

async function untilSubscriptionEnds(url: string, listener: () => void, signal: AbortSignal): Promise<void> {
  const client = await openWebSocketClient(url, { maxMessageBytes: ANNOUNCEMENT_MAX_BYTES, signal });
  try {
    await client.subscribeToHeads(listener);
    await client.ended;
    if (!signal.aborted) throw new Error('the connection ended');
  } finally {
    client.close();
  }
}
