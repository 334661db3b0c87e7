import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * The way of one host to one other part: a port that passes bytes on. It can be cut, as a network is: nothing arrives any more, no
 * connection is refused and none is closed; and what was under way arrives when the way is open again.
 */
export interface Forwarder {
  readonly port: number;
  cut(): void;
  restore(): void;
  stop(): Promise<void>;
}

/** Listens on `address` and passes on to `targetPort` of the loopback interface. */
export async function startForwarder(address: string, targetPort: number): Promise<Forwarder> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const join = (from: Socket, to: Socket): void => {
    from.on('data', (chunk) => {
      if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => {
      if (!isCut) from.resume();
    });
    for (const event of ['end', 'error', 'close'] as const) from.on(event, () => to.destroySoon());
  };
  const server: Server = createServer((near) => {
    const far = connect({ host: '127.0.0.1', port: targetPort });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.once('close', () => sockets.delete(socket));
    }
    join(near, far);
    join(far, near);
    if (isCut) for (const socket of [near, far]) socket.pause();
  });
  server.listen(0, address);
  await once(server, 'listening');
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null) throw new Error('a forwarder without a port');
  return {
    port: bound.port,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.pause();
    },
    restore() {
      isCut = false;
      for (const socket of sockets) socket.resume();
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
