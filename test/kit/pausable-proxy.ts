import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Stands between a reader and the engine and can be switched off like a stopped engine: connections break, new ones are refused. */
export interface PausableProxy {
  readonly url: string;
  /** How many sockets are open, on both sides. */
  connections(): number;
  stop(): Promise<void>;
  start(): Promise<void>;
}

export async function pausableProxy(target: string): Promise<PausableProxy> {
  const { hostname, port, pathname } = new URL(target);
  const open = new Set<Socket>();
  let listening: Server | undefined;
  let ownPort = 0;

  const track = (socket: Socket): Socket => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => socket.destroy());
    return socket;
  };
  const start = async (): Promise<void> => {
    const server = createServer((inbound) => {
      const outbound = track(connect(Number(port), hostname));
      track(inbound).pipe(outbound).pipe(inbound);
    });
    server.listen(ownPort, '127.0.0.1');
    await once(server, 'listening');
    ownPort = (server.address() as AddressInfo).port; // a TCP listener has one
    listening = server;
  };
  await start();
  return {
    // The embedded engine answers under a path of its own.
    url: `http://127.0.0.1:${ownPort}${pathname}`,
    connections: () => open.size,
    start,
    async stop() {
      const server = listening;
      listening = undefined;
      if (server === undefined) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
