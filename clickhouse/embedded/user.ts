import { chmodSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { EngineWalls } from './walls.ts';

/**
 * The user that the engine runs as when we are root: it owns the store and nothing else on the machine, so the engine cannot read
 * files that only we may read.
 */

/**
 * Needs no account: neither systemd (its UIDS-GIDS: 60578 to 61183 are unused) nor Debian assigns this id, and it is below 65536,
 * the limit in rootless containers.
 */
export const ENGINE_USER_ID = 60_842;

/** Capabilities that the start needs, by their numbers in `linux/capability.h`: change file owners, bypass permissions, become a user, kill its processes. */
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
  /** Programs, libraries and their directories that the engine's user must read. */
  readonly program: readonly string[];
  /** Our directories on the path to the engine's files, outermost first. They become searchable for other users if the engine gets its own. */
  readonly directories: readonly [string, ...string[]];
}

/** Decides from the state of the machine. */
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

/** Names of the capabilities that `/proc/self/status` does not list as effective. */
export function lackingCapabilities(status: string): string[] {
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return Object.entries(NEEDED_CAPABILITIES)
    .filter(([, number]) => (effective & (1n << BigInt(number))) === 0n)
    .map(([name]) => name);
}

/** Lines of `first outside count`: the user ids that exist in this namespace. */
export function isMapped(uidMap: string): boolean {
  return uidMap.split('\n').some((line) => {
    const [first = Number.NaN, , count = 0] = line.trim().split(/\s+/).map(Number);
    return ENGINE_USER_ID >= first && ENGINE_USER_ID < first + count;
  });
}

/** Lets other users reach known names below a directory of ours (`x` without `r`: they cannot list it). */
export function openForSearch(directory: string): void {
  const { mode } = statSync(directory);
  if ((mode & SEARCH_BY_OTHERS) === 0) chmodSync(directory, (mode & MODE_BITS) | SEARCH_BY_ALL);
}

/** The path that keeps other users from reading a file: the file itself or a directory above it. Null if they can read it. */
export function closedPath(path: string): string | null {
  const real = realpathSync(path);
  return (statSync(real).mode & READ_BY_OTHERS) === 0 ? real : closedDirectory(dirname(real));
}

/** The nearest directory, this one or a parent, that other users cannot search; null if there is none. */
function closedDirectory(real: string): string | null {
  if ((statSync(real).mode & SEARCH_BY_OTHERS) === 0) return real;
  return real === dirname(real) ? null : closedDirectory(dirname(real));
}
