import { chmodSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { EngineWalls } from './walls.ts';

/**
 * As whom the engine runs where we are root: as a user that owns its store and nothing else on the machine, so that what only we may
 * read stays closed to it.
 */

/**
 * No account has to be made: the number is one that neither systemd (its UIDS-GIDS: 60578 to 61183 are unused) nor Debian gives to
 * anybody, and below 65536, which is all that containers of ordinary users have.
 */
export const ENGINE_USER_ID = 60_842;

/** Of root, by their numbers in `linux/capability.h`: to give files away, to reach them all the same, to become a user, to kill its processes. */
const NEEDED_CAPABILITIES = {
  CAP_CHOWN: 0,
  CAP_DAC_OVERRIDE: 1,
  CAP_FOWNER: 3,
  CAP_KILL: 5,
  CAP_SETGID: 6,
  CAP_SETUID: 7,
} as const;

const SEARCH_BY_OTHERS = 0o001;
const READ_BY_OTHERS = 0o004;
const SEARCH_BY_ALL = 0o111;
const MODE_BITS = 0o7777;

export interface UserNeeds {
  /** Programs, libraries and directories of them that the engine's user has to read. */
  readonly program: readonly string[];
  /** Ours, on the way to what it owns; the first contains the others. They are opened for search where it is to be. */
  readonly directories: readonly [string, ...string[]];
}

/** Decides it from what is there. */
export function decideUser({ program, directories }: UserNeeds): EngineWalls['ownUser'] {
  if (process.platform !== 'linux') return { missing: `not on ${process.platform}` };
  if (process.geteuid?.() !== 0) return { missing: 'the service does not run as root' };
  const lacking = lackingCapabilities(readFileSync('/proc/self/status', 'utf8'));
  if (lacking.length > 0) return { missing: `root has no ${lacking.join(', ')} here` };
  if (!isMapped(readFileSync('/proc/self/uid_map', 'utf8')))
    return { missing: `there is no user ${ENGINE_USER_ID} in this container` };
  const above = closedDirectory(dirname(realpathSync(directories[0])));
  const closed = [above, ...program.map(closedPath)].find((path) => path !== null);
  if (closed !== undefined && closed !== null) return { missing: `only root can pass ${closed}` };
  for (const directory of directories) openForSearch(directory);
  return { id: ENGINE_USER_ID };
}

/** Names of those that `/proc/self/status` does not list as effective. */
export function lackingCapabilities(status: string): string[] {
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return Object.entries(NEEDED_CAPABILITIES)
    .filter(([, number]) => (effective & (1n << BigInt(number))) === 0n)
    .map(([name]) => name);
}

/** Lines of `first outside count`: which numbers of users exist in this namespace. */
export function isMapped(uidMap: string): boolean {
  return uidMap.split('\n').some((line) => {
    const [first = Number.NaN, , count = 0] = line.trim().split(/\s+/).map(Number);
    return ENGINE_USER_ID >= first && ENGINE_USER_ID < first + count;
  });
}

/** Lets other users pass through a directory of ours to what they know the name of; they still cannot list it. */
export function openForSearch(directory: string): void {
  const { mode } = statSync(directory);
  if ((mode & SEARCH_BY_OTHERS) === 0) chmodSync(directory, (mode & MODE_BITS) | SEARCH_BY_ALL);
}

/** What keeps other users from reading a file: itself, or a directory above it. Null where nothing does. */
export function closedPath(path: string): string | null {
  const real = realpathSync(path);
  return (statSync(real).mode & READ_BY_OTHERS) === 0 ? real : closedDirectory(dirname(real));
}

/** The first directory on the way up, beginning with this one, that other users cannot pass; null where there is none. */
function closedDirectory(real: string): string | null {
  if ((statSync(real).mode & SEARCH_BY_OTHERS) === 0) return real;
  return real === dirname(real) ? null : closedDirectory(dirname(real));
}
