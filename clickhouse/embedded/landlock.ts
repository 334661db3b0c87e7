import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { callLibc, LibcError } from './become-user.ts';

/**
 * What Landlock can allow below a path, by the version of its interface (ABI): a bit for each right, as in `linux/landlock.h`. A
 * right that a kernel does not know must not be named to it; it is then not restricted there.
 */

const EXECUTE = 1n << 0n;
const WRITE_FILE = 1n << 1n;
const READ_FILE = 1n << 2n;
const READ_DIR = 1n << 3n;
const REMOVE_DIR = 1n << 4n;
const REMOVE_FILE = 1n << 5n;
const MAKE_DIR = 1n << 7n;
const MAKE_REG = 1n << 8n;
const MAKE_SYM = 1n << 12n;
/** Renames and hard links from one directory to another; without it the kernel refuses all of them. */
const REFER = 1n << 13n;
const TRUNCATE = 1n << 14n;
const IOCTL_DEV = 1n << 15n;

/** The rights of each ABI that added some; 4, 6 and 7 added none of files. */
const RIGHTS_BEFORE_REFER = REFER - 1n;
const REFER_ABI = 2;
const TRUNCATE_ABI = 3;
const IOCTL_DEV_ABI = 5;

/**
 * Linux 5.19. Before it, no file can be moved or linked from one directory to another by a restricted process, which the engine
 * does all the time.
 */
export const LANDLOCK_ABI_MIN = REFER_ABI;

/** Every right of files that a kernel of this ABI restricts. */
export function rightsOfAbi(abi: number): bigint {
  let rights = RIGHTS_BEFORE_REFER;
  if (abi >= REFER_ABI) rights |= REFER;
  if (abi >= TRUNCATE_ABI) rights |= TRUNCATE;
  if (abi >= IOCTL_DEV_ABI) rights |= IOCTL_DEV;
  return rights;
}

/** `use`: a device such as /dev/null. `own`: everything but running programs and making devices, sockets and pipes. */
export type LandlockAccess = 'read' | 'run' | 'use' | 'own';

const RIGHTS: Readonly<Record<LandlockAccess, bigint>> = {
  read: READ_FILE | READ_DIR,
  run: EXECUTE | READ_FILE,
  use: READ_FILE | WRITE_FILE,
  own:
    READ_FILE |
    READ_DIR |
    WRITE_FILE |
    TRUNCATE |
    MAKE_DIR |
    MAKE_REG |
    MAKE_SYM |
    REMOVE_DIR |
    REMOVE_FILE |
    REFER,
};

/** The rights that mean something for what is no directory; the kernel refuses a rule with others. */
const OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;

/** The bits of a rule for a path. */
export function rightsOfRule(access: LandlockAccess, abi: number, isDirectory: boolean): bigint {
  const rights = RIGHTS[access] & rightsOfAbi(abi);
  return isDirectory ? rights : rights & OF_FILES;
}

/**
 * Landlock: a process takes from itself the right to open anything but what it names, for good and for whatever it becomes or
 * starts (docs.kernel.org/userspace-api/landlock.html). No privilege is needed.
 */

export interface LandlockRule {
  /** A directory with all below it, or a file. One that is not there is left out: what needs it says so by itself. */
  readonly path: string;
  readonly access: LandlockAccess;
  /**
   * For files of /proc: a rule is of what the path means now, and the kernel may forget such a file and make another one of the same
   * name. It does not while it is held open, which it then is until the process ends.
   */
  readonly held?: boolean;
}

/** Numbers of system calls, the same on every architecture since Linux 5.10. */
const CREATE_RULESET = 444;
const ADD_RULE = 445;
const RESTRICT_SELF = 446;

const CREATE_RULESET_VERSION = 1;
const RULE_PATH_BENEATH = 1;
const SET_NO_NEW_PRIVS = 38;
/** Names a file without opening it. Node has no constant of it; the same on every architecture that chdb is built for. */
const O_PATH = 0x20_0000;

const SET_DESCRIPTOR_FLAGS = 2;

const U64_BYTES = 8;
const I32_BYTES = 4;

/** The version of the interface, or why there is none that will do. */
export function landlockAbi(): { readonly abi: number } | { readonly missing: string } {
  let abi: number;
  try {
    abi = callLibc('syscall', [CREATE_RULESET, 0, 0, CREATE_RULESET_VERSION]);
  } catch (error) {
    if (!(error instanceof LibcError)) throw error;
    // ENOSYS: an old kernel. EOPNOTSUPP: switched off at boot. EPERM: a container's filter of system calls.
    return { missing: `this kernel, or the container, has no Landlock (${error.message})` };
  }
  if (abi >= LANDLOCK_ABI_MIN) return { abi };
  return {
    missing: `the kernel has Landlock ABI ${abi}, and the engine needs ${LANDLOCK_ABI_MIN} (Linux 5.19)`,
  };
}

/**
 * Confines the calling thread, and with it the program that it executes next, all of whose threads are confined; other threads of
 * this process are not. Throws `LibcError`.
 */
export function confineThisThread(abi: number, rules: readonly LandlockRule[]): void {
  const attribute = Buffer.alloc(U64_BYTES); // struct landlock_ruleset_attr, its first field
  attribute.writeBigUInt64LE(rightsOfAbi(abi));
  const ruleset = callLibc('syscall', [CREATE_RULESET, attribute, attribute.length, 0]);
  for (const rule of rules) addRule(ruleset, abi, rule);
  callLibc('prctl', [SET_NO_NEW_PRIVS, 1, 0, 0, 0]);
  callLibc('syscall', [RESTRICT_SELF, ruleset, 0]);
  closeSync(ruleset);
}

function addRule(ruleset: number, abi: number, { path, access, held = false }: LandlockRule): void {
  const file = openPath(path);
  if (file === null) return;
  try {
    const rule = Buffer.alloc(U64_BYTES + I32_BYTES); // struct landlock_path_beneath_attr, packed
    rule.writeBigUInt64LE(rightsOfRule(access, abi, fstatSync(file).isDirectory()));
    rule.writeInt32LE(file, U64_BYTES);
    callLibc('syscall', [ADD_RULE, ruleset, RULE_PATH_BENEATH, rule, 0]);
    if (held) keepOpen(file);
  } finally {
    if (!held) closeSync(file);
  }
}

/** Also in the program that is executed next. */
export function keepOpen(file: number): void {
  callLibc('fcntl', [file, SET_DESCRIPTOR_FLAGS, 0]);
}

function openPath(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | O_PATH);
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return null;
    throw error;
  }
}
