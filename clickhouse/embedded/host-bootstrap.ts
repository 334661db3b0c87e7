/** The JSON line that the supervisor sends the engine's launcher on stdin. Holds no secret: the launcher passes parts of it to the host as an argument. */
export interface HostBootstrap {
  /** Directory of the tables' data. */
  readonly path: string;
  readonly configFile: string;
  readonly port: number;
  /** Port of the native protocol, which cluster nodes use among each other; null: closed. */
  readonly tcpPort: number | null;
  /** Ports of the engines of its cluster, which it asks; empty: it connects to nothing. */
  readonly connects: readonly number[];
  /** Absolute path of libchdb.so. */
  readonly library: string;
  /** Further directories that the engine owns. */
  readonly own: readonly string[];
  /** Directories of other owners that the engine may read, and those that it may change. */
  readonly borrowed: { readonly read: readonly string[]; readonly changed: readonly string[] };
  /** Whether to confine the engine with Landlock, if the kernel supports it. */
  readonly landlock: boolean;
  /** Whether to bound its sockets. */
  readonly sockets: boolean;
  /** The user that the engine runs as; null: the supervisor's. */
  readonly user: HostUser | null;
}

export interface HostUser {
  readonly id: number;
  /** Whether the engine bypasses file permissions, as root does: to read and write backups that it does not own. */
  readonly passesPermissions: boolean;
}

export function parseBootstrap(json: unknown): HostBootstrap {
  const given = json as HostBootstrap; // written by our own supervisor
  if (
    typeof given.path !== 'string' ||
    typeof given.configFile !== 'string' ||
    typeof given.port !== 'number' ||
    (given.tcpPort !== null && typeof given.tcpPort !== 'number') ||
    !Array.isArray(given.connects) ||
    typeof given.library !== 'string' ||
    !Array.isArray(given.own) ||
    !Array.isArray(given.borrowed?.read) ||
    !Array.isArray(given.borrowed.changed) ||
    typeof given.landlock !== 'boolean' ||
    typeof given.sockets !== 'boolean' ||
    (given.user !== null && typeof given.user?.id !== 'number')
  ) {
    throw new TypeError('the launcher of the engine was started without its bootstrap line');
  }
  return given;
}
