import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Ports that can be assigned to a process before it listens on them. They are below the ephemeral ranges (Linux from 32,768, others
 * from 49,152), from which any outgoing connection may take a port while the process starts or restarts.
 */
export const NAMED_PORTS = { from: 12_000, count: 20_000 } as const;
const TRIES_MAX = 50;

/** A loopback port that is free right now: `wanted` if it is free, else one of `NAMED_PORTS`. 0 means any. */
export async function freePort(wanted = 0): Promise<number> {
  if (wanted !== 0 && (await isFree(wanted))) return wanted;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = NAMED_PORTS.from + randomInt(NAMED_PORTS.count);
    if (await isFree(port)) return port;
  }
  throw new Error(`none of ${TRIES_MAX} loopback ports was free`);
}

/** Neither in use (EADDRINUSE) nor reserved (EACCES). */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
