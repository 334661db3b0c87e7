/**
 * The walls between the engine and everything that it does not own: files, and whatever listens anywhere. The SQL function `file()` reads any file, and the embedded engine
 * cannot be built or configured without it. So even a query that slips past the inspection of callers' SQL must find nothing.
 */
export interface EngineWalls {
  readonly landlock: { readonly abi: number } | { readonly missing: string };
  readonly ownUser: { readonly id: number } | { readonly missing: string };
  /** Whether the engine can only be connected to: it makes no connection and sends no datagram, whatever a query asks. */
  readonly sockets: { readonly bounded: true } | { readonly missing: string };
  /** Whether the engine's environment holds only the variables that we pass. */
  readonly cleanEnvironment: boolean;
}

/** The engine's whole environment. It inherits nothing of ours, which may hold secrets. */
export const ENGINE_ENVIRONMENT: Readonly<Record<string, string>> = { TZ: 'UTC' };

/** The report of the host (host.mjs), on a stderr line that begins with `REPORT_MARK`. */
interface WallReport {
  readonly landlockAbi: number | null;
  readonly landlockMissing: string | null;
  readonly socketsMissing: string | null;
  readonly userId: number | null;
  readonly environment: readonly string[];
}

export const REPORT_MARK = 'engine-walls ';

/** Reads the host's report line; null for any other line. `user`: the user that it should run as, or why it runs as ours. */
export function readWalls(line: string, user: EngineWalls['ownUser']): EngineWalls | null {
  if (!line.startsWith(REPORT_MARK)) return null;
  const report = JSON.parse(line.slice(REPORT_MARK.length)) as WallReport; // written by our own host
  const { landlockAbi, landlockMissing, socketsMissing, userId, environment } = report;
  return {
    landlock:
      landlockAbi === null
        ? { missing: landlockMissing ?? 'the engine can read files that no rule allows' }
        : { abi: landlockAbi },
    ownUser: 'id' in user && user.id !== userId ? { missing: `it runs as user ${userId}` } : user,
    sockets: socketsMissing === null ? { bounded: true } : { missing: socketsMissing },
    cleanEnvironment: environment.every((name) => Object.hasOwn(ENGINE_ENVIRONMENT, name)),
  };
}

/** Whether the engine cannot read the service's secrets: either of the two file walls is enough. */
export function hasFileWall({ landlock, ownUser }: Pick<EngineWalls, 'landlock' | 'ownUser'>): boolean {
  return 'abi' in landlock || 'id' in ownUser;
}

/** A readable summary: the walls in place, and for each missing one the reason. */
export function spellWalls({ landlock, ownUser, sockets, cleanEnvironment }: EngineWalls): string {
  return [
    'abi' in landlock ? `Landlock (ABI ${landlock.abi})` : `no Landlock (${landlock.missing})`,
    'id' in ownUser ? `a user of its own (${ownUser.id})` : `no user of its own (${ownUser.missing})`,
    'bounded' in sockets ? 'no connections of its own' : `connections of its own (${sockets.missing})`,
    cleanEnvironment ? 'a clean environment' : 'AN ENVIRONMENT THAT IS NOT CLEAN',
  ].join(', ');
}
