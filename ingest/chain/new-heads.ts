import { setTimeout as delay } from 'node:timers/promises';
import { type Log, providerName } from '../../core/log.ts';
import { openWebSocketClient } from './rpc/websocket-client.ts';

/** How long a lost subscription rests before it is made anew; polling goes on meanwhile. */
const RESUBSCRIBE_AFTER_MS = 5_000;

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
  const client = await openWebSocketClient(url);
  signal.throwIfAborted(); // while it connected: an aborted signal does not fire again
  const { socket } = client;
  let end: () => void = () => undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      end = resolve;
      signal.addEventListener('abort', end, { once: true });
      socket.addEventListener('close', end);
      client.request({
        body: { method: 'eth_subscribe', params: ['newHeads'] },
        onError: reject,
        onResponse: (response: { readonly error?: unknown; readonly method?: string | undefined }) => {
          if (response.error !== undefined) reject(new Error('the node does not announce new heads'));
          else if (response.method === 'eth_subscription') listener();
        },
      });
    });
  } finally {
    // Both outlive this subscription: the signal is the worker's, the socket is in viem's cache.
    signal.removeEventListener('abort', end);
    socket.removeEventListener('close', end);
  }
}
