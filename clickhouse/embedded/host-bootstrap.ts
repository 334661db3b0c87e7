/** What the supervisor tells the engine's process on stdin. Apart from host.ts, which loads the native library on import. */
export interface HostBootstrap {
  /** Directory of the tables. */
  readonly path: string;
  readonly configFile: string;
  readonly port: number;
  /** Of the engine's native protocol, which the nodes of a cluster speak among each other; null: closed. */
  readonly tcpPort: number | null;
  /** Absolute path of libchdb.so. */
  readonly library: string;
}

export function parseBootstrap(json: unknown): HostBootstrap {
  const { path, configFile, port, tcpPort, library } = json as Record<string, unknown>; // written by our own supervisor
  if (
    typeof path !== 'string' ||
    typeof configFile !== 'string' ||
    typeof port !== 'number' ||
    (tcpPort !== null && typeof tcpPort !== 'number') ||
    typeof library !== 'string'
  ) {
    throw new TypeError('the engine host was started without its bootstrap line');
  }
  return { path, configFile, port, tcpPort, library };
}
