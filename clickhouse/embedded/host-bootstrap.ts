/** What the supervisor tells the launcher of the engine on stdin, one JSON line. Holds no secret: the launcher names parts of it to the host as an argument. */
export interface HostBootstrap {
  /** Directory of the tables. */
  readonly path: string;
  readonly configFile: string;
  readonly port: number;
  /** Of the engine's native protocol, which the nodes of a cluster speak among each other; null: closed. */
  readonly tcpPort: number | null;
  /** Absolute path of libchdb.so. */
  readonly library: string;
  /** Directories that are its own, beside `path`. */
  readonly own: readonly string[];
  /** Directories of others that it may read, and those that it may change. */
  readonly borrowed: { readonly read: readonly string[]; readonly changed: readonly string[] };
  /** Whether it is confined with Landlock where the kernel can do that. */
  readonly landlock: boolean;
  /** The user that it runs as; null: the one of the supervisor. */
  readonly user: HostUser | null;
}

export interface HostUser {
  readonly id: number;
  /** Whether permissions of files do not count for it, as they do not for root: for reading and writing backups that are not its own. */
  readonly passesPermissions: boolean;
}

export function parseBootstrap(json: unknown): HostBootstrap {
  const given = json as HostBootstrap; // written by our own supervisor
  if (
    typeof given.path !== 'string' ||
    typeof given.configFile !== 'string' ||
    typeof given.port !== 'number' ||
    (given.tcpPort !== null && typeof given.tcpPort !== 'number') ||
    typeof given.library !== 'string' ||
    !Array.isArray(given.own) ||
    !Array.isArray(given.borrowed?.read) ||
    !Array.isArray(given.borrowed.changed) ||
    typeof given.landlock !== 'boolean' ||
    (given.user !== null && typeof given.user?.id !== 'number')
  ) {
    throw new TypeError('the launcher of the engine was started without its bootstrap line');
  }
  return given;
}
