import { createServer } from 'node:net';

/** A loopback port that is free right now: `wanted` when nobody has it, else any. 0 always means any. */
export async function freePort(wanted: number): Promise<number> {
  try {
    return await portOf(wanted);
  } catch {
    return portOf(0); // taken (EADDRINUSE) or reserved (EACCES): the caller says which one it got
  }
}

function portOf(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(wanted, '127.0.0.1', () => {
      const bound = probe.address();
      const port = typeof bound === 'object' && bound !== null ? bound.port : wanted;
      probe.close(() => resolve(port));
    });
  });
}
