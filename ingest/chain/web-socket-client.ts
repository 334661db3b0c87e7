import { Agent, WebSocket } from 'undici';

/** An unparsed answer or announcement; the caller that sent the request reads it. */
export type RpcMessage = Readonly<Record<string, unknown>>;

/** JSON-RPC over one websocket. Matches answers to calls by id. */
export interface WebSocketClient {
  /** The answer as the node sent it. Rejects when the connection ends first. */
  call(method: string, params: readonly unknown[]): Promise<RpcMessage>;
  /** Resolves once the node has accepted the subscription to new heads; then calls `listener` for each. Rejects if it refuses. */
  subscribeToHeads(listener: () => void): Promise<void>;
  /** Resolves when either side has closed the connection. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Resolves when the connection is open. Errors quote neither the URL nor the node: both may contain a key. */
export async function openWebSocketClient(
  url: string,
  options: { readonly maxMessageBytes: number; readonly signal?: AbortSignal | undefined },
): Promise<WebSocketClient> {
  options.signal?.throwIfAborted();
  const dispatcher = new Agent({ webSocket: { maxPayloadSize: options.maxMessageBytes } });
  const socket = new WebSocket(url, { dispatcher });
  const close = (): void => {
    socket.close();
    void dispatcher.destroy(); // close() has no effect while connecting
  };
  const ended = new Promise<void>((resolve) => {
    socket.addEventListener('close', () => resolve(), { once: true });
  });
  // undici reports a failed connection as an error and a close; without a listener the error would be thrown.
  socket.addEventListener('error', () => undefined);
  options.signal?.addEventListener('abort', close, { once: true });
  void ended.then(() => {
    options.signal?.removeEventListener('abort', close);
    void dispatcher.destroy();
  });
  const opened = new Promise<boolean>((resolve) => {
    socket.addEventListener('open', () => resolve(true), { once: true });
  });
  const isOpen = await Promise.race([opened, ended.then(() => false)]);
  options.signal?.throwIfAborted();
  if (!isOpen) throw new Error('the websocket could not be opened');
  return clientOver(socket, ended, close);
}

function clientOver(socket: WebSocket, ended: Promise<void>, close: () => void): WebSocketClient {
  interface Waiting {
    readonly answered: (message: RpcMessage) => void;
    readonly failed: (error: Error) => void;
  }
  const waiting = new Map<number, Waiting>();
  const listeners = new Map<unknown, () => void>();
  let lastId = 0;

  socket.addEventListener('message', ({ data }: { readonly data: unknown }) => {
    const message = parseMessage(data);
    if (message?.['method'] === 'eth_subscription') return listeners.get(subscriptionOf(message))?.();
    const id = message?.['id'];
    if (message === null || typeof id !== 'number') return;
    const call = waiting.get(id);
    waiting.delete(id);
    call?.answered(message);
  });
  void ended.then(() => {
    for (const { failed } of waiting.values()) failed(new Error('the websocket was closed'));
    waiting.clear();
    listeners.clear();
  });

  function send(method: string, params: readonly unknown[], call: Waiting): void {
    if (socket.readyState !== WebSocket.OPEN) {
      call.failed(new Error('the websocket was closed'));
      return;
    }
    const id = ++lastId;
    waiting.set(id, call);
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  }
  return {
    call: (method, params) =>
      new Promise((answered, failed) => void send(method, params, { answered, failed })),
    subscribeToHeads: (listener) =>
      new Promise((resolve, failed) => {
        // Synchronously: the first announcement may be in the same packet as the answer.
        const answered = ({ result }: RpcMessage): void => {
          if (typeof result !== 'string') failed(new Error('the node does not announce new heads'));
          else {
            listeners.set(result, listener);
            resolve();
          }
        };
        send('eth_subscribe', ['newHeads'], { answered, failed });
      }),
    ended,
    close,
  };
}

/** Null for anything but a JSON object; the call then stays unanswered. */
function parseMessage(data: unknown): RpcMessage | null {
  if (typeof data !== 'string') return null;
  try {
    return objectOrNull(JSON.parse(data));
  } catch {
    return null;
  }
}

function objectOrNull(value: unknown): RpcMessage | null {
  return typeof value === 'object' && value !== null ? { ...value } : null;
}

function subscriptionOf({ params }: RpcMessage): unknown {
  return objectOrNull(params)?.['subscription'];
}
