import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * A port in front of a node that takes connections at once and passes them on from `open` on. The service that is told of it can start
 * while the chain's history is still written, and reads none of it before it is whole.
 */
export interface LatePort {
  readonly url: string;
  /** Twice is fine. */
  open(): void;
  stop(): Promise<void>;
}

/** `url`: of the node, on loopback. */
export async function openLatePort(url: string): Promise<LatePort> {
  const { hostname, port: nodePort } = new URL(url);
  const sockets = new Set<Socket>();
  const waiting = new Set<Socket>();
  let isOpen = false;

  const keep = (socket: Socket): void => {
    sockets.add(socket);
    // A node or a reader that ends a connection needs no other word: `close` follows, and ends the other half.
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  };
  const passOn = (reader: Socket): void => {
    const node = connect(Number(nodePort), hostname);
    keep(node);
    reader.once('close', () => node.destroy());
    node.once('close', () => reader.destroy());
    reader.pipe(node).pipe(reader);
  };
  const server = createServer({ noDelay: true }, (reader) => {
    keep(reader);
    if (isOpen) return passOn(reader);
    waiting.add(reader);
    reader.once('close', () => waiting.delete(reader));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // listening on TCP
  return {
    url: `http://127.0.0.1:${port}`,
    open() {
      isOpen = true;
      for (const reader of waiting) passOn(reader);
      waiting.clear();
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
