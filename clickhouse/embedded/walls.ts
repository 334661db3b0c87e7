/**
 * What stands between the engine and files that are not its own. SQL has a function that reads any file, `file()`, and the embedded
 * engine cannot be built or configured without it; what the inspector of callers' SQL lets through must find nothing all the same.
 */
export interface EngineWalls {
  readonly landlock: { readonly abi: number } | { readonly missing: string };
  readonly ownUser: { readonly id: number } | { readonly missing: string };
  /** Whether the engine's environment holds nothing but what it is given. */
  readonly cleanEnvironment: boolean;
}

/** The engine's whole environment. Not ours: there may be secrets in it. */
export const ENGINE_ENVIRONMENT: Readonly<Record<string, string>> = { TZ: 'UTC' };

/** What the host says of itself (host.mjs), on a line of stderr that begins with `REPORT_MARK`. */
interface WallReport {
  readonly landlockAbi: number | null;
  readonly landlockMissing: string | null;
  readonly userId: number | null;
  readonly environment: readonly string[];
}

export const REPORT_MARK = 'engine-walls ';

/** Reads the host's line; null for every other one. `user`: as whom it was to run, or why as us. */
export function readWalls(line: string, user: EngineWalls['ownUser']): EngineWalls | null {
  if (!line.startsWith(REPORT_MARK)) return null;
  const report = JSON.parse(line.slice(REPORT_MARK.length)) as WallReport; // written by our own host
  const { landlockAbi, landlockMissing, userId, environment } = report;
  return {
    landlock:
      landlockAbi === null
        ? { missing: landlockMissing ?? 'the engine can read files that no rule allows' }
        : { abi: landlockAbi },
    ownUser: 'id' in user && user.id !== userId ? { missing: `it runs as user ${userId}` } : user,
    cleanEnvironment: environment.every((name) => Object.hasOwn(ENGINE_ENVIRONMENT, name)),
  };
}

/** Whether callers' SQL that reads files finds no secret of the service: one of the two walls of files is enough for that. */
export function hasFileWall({ landlock, ownUser }: Pick<EngineWalls, 'landlock' | 'ownUser'>): boolean {
  return 'abi' in landlock || 'id' in ownUser;
}

/** For people: which stand, and of each that does not, why. */
export function spellWalls({ landlock, ownUser, cleanEnvironment }: EngineWalls): string {
  return [
    'abi' in landlock ? `Landlock (ABI ${landlock.abi})` : `no Landlock (${landlock.missing})`,
    'id' in ownUser ? `a user of its own (${ownUser.id})` : `no user of its own (${ownUser.missing})`,
    cleanEnvironment ? 'a clean environment' : 'AN ENVIRONMENT THAT IS NOT CLEAN',
  ].join(', ');
}
