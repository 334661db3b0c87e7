import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Ports that a process may be told of before it listens there. Below those that systems give away by themselves (Linux from 32,768,
 * others from 49,152): one of those may be taken by anybody's next connection before its process is up, or while it starts again.
 */
export const NAMED_PORTS = { from: 12_000, count: 20_000 } as const;
const TRIES_MAX = 50;

/** A loopback port that is free right now: `wanted` when nobody has it, else any of `NAMED_PORTS`. 0 always means any. */
export async function freePort(wanted = 0): Promise<number> {
  if (wanted !== 0 && (await isFree(wanted))) return wanted;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = NAMED_PORTS.from + randomInt(NAMED_PORTS.count);
    if (await isFree(port)) return port;
  }
  throw new Error(`none of ${TRIES_MAX} loopback ports was free`);
}

/** Not taken (EADDRINUSE) and not reserved (EACCES). */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
