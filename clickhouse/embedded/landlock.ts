import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { LANDLOCK_ABI_MIN, type LandlockAccess, rightsOfAbi, rightsOfRule } from './landlock-rights.ts';
import { callLibc, LibcError } from './libc.ts';

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
