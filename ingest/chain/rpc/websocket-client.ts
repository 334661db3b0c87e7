import type { getWebSocketRpcClient } from 'viem/utils';

type WebSocketClient = Awaited<ReturnType<typeof getWebSocketRpcClient>>;

/** viem's client for a websocket URL. Loaded by the first that asks: it is half a second of start-up, and most chains are read over HTTP. */
export async function openWebSocketClient(url: string): Promise<WebSocketClient> {
  const viem = await import('viem/utils');
  return viem.getWebSocketRpcClient(url, { reconnect: false });
}
