import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { callLibc, LibcError } from './become-user.ts';

/**
 * The file access rights of Landlock by ABI version, one bit each, as in `linux/landlock.h`. Naming a right that the kernel does not
 * know is an error; the kernel does not restrict that right.
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

/** Rights of sockets: to listen at a port of TCP, and to connect to one. */
const BIND_TCP = 1n << 0n;
const CONNECT_TCP = 1n << 1n;
/** Sockets of other programs that have a name of the kernel and no file. */
const SCOPE_ABSTRACT_UNIX_SOCKET = 1n << 0n;

/** The file rights that each ABI added; 4, 6 and 7 added none. */
const RIGHTS_BEFORE_REFER = REFER - 1n;
const REFER_ABI = 2;
const TRUNCATE_ABI = 3;
const IOCTL_DEV_ABI = 5;
const NETWORK_ABI = 4;
const SCOPE_ABI = 6;

/**
 * Linux 5.19. Before it, a restricted process cannot move or link files between directories, which the engine does all the time.
 */
export const LANDLOCK_ABI_MIN = REFER_ABI;

/** Every file right that a kernel of this ABI can restrict. */
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

/** The rights that apply to non-directories; the kernel rejects a rule with any other. */
const OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;

/** The bits of a rule for a path. */
export function rightsOfRule(access: LandlockAccess, abi: number, isDirectory: boolean): bigint {
  const rights = RIGHTS[access] & rightsOfAbi(abi);
  return isDirectory ? rights : rights & OF_FILES;
}

/**
 * Landlock: a process gives up the right to open anything that it does not list, irreversibly and for every program that it
 * executes or starts (docs.kernel.org/userspace-api/landlock.html). Needs no privilege.
 */

export interface LandlockRule {
  /** A directory with everything below it, or a file. Skipped if it does not exist: the program that needs it reports that. */
  readonly path: string;
  readonly access: LandlockAccess;
  /**
   * For files of /proc: a rule applies to the current inode, and the kernel may drop that and create another under the same name. It
   * does not while the file is open, so we keep it open until the process ends.
   */
  readonly held?: boolean;
}

/** The ports of TCP that a confined process may use; every other one is closed to it, where the kernel knows them (ABI 4). */
interface LandlockPorts {
  readonly listens: readonly number[];
  readonly connects: readonly number[];
}

/** Numbers of system calls, the same on every architecture since Linux 5.10. */
const CREATE_RULESET = 444;
const ADD_RULE = 445;
const RESTRICT_SELF = 446;

const CREATE_RULESET_VERSION = 1;
const RULE_PATH_BENEATH = 1;
const RULE_NET_PORT = 2;
const SET_NO_NEW_PRIVS = 38;
/** Refers to a file without opening it. Node has no constant for it; the value is the same on every architecture of chdb. */
const O_PATH = 0x20_0000;

const SET_DESCRIPTOR_FLAGS = 2;

const U64_BYTES = 8;
const I32_BYTES = 4;

/** The ABI version, or the reason why Landlock cannot be used. */
export function landlockAbi(): { readonly abi: number } | { readonly missing: string } {
  let abi: number;
  try {
    abi = callLibc('syscall', [CREATE_RULESET, 0, 0, CREATE_RULESET_VERSION]);
  } catch (error) {
    if (!(error instanceof LibcError)) throw error;
    // ENOSYS: an old kernel. EOPNOTSUPP: disabled at boot. EPERM: a container's seccomp filter.
    return { missing: `this kernel, or the container, has no Landlock (${error.message})` };
  }
  if (abi >= LANDLOCK_ABI_MIN) return { abi };
  return {
    missing: `the kernel has Landlock ABI ${abi}, and the engine needs ${LANDLOCK_ABI_MIN} (Linux 5.19)`,
  };
}

/**
 * Confines the calling thread and every thread of the program that it executes next, but no other thread of this process. Throws
 * `LibcError`.
 */
export function confineThisThread(
  abi: number,
  rules: readonly LandlockRule[],
  ports: LandlockPorts | null,
): void {
  const boundsPorts = ports !== null && abi >= NETWORK_ABI;
  const attribute = rulesetOfAbi(abi, boundsPorts);
  const ruleset = callLibc('syscall', [CREATE_RULESET, attribute, attribute.length, 0]);
  for (const rule of rules) addRule(ruleset, abi, rule);
  if (boundsPorts) {
    for (const port of ports.listens) addPort(ruleset, BIND_TCP, port);
    for (const port of ports.connects) addPort(ruleset, CONNECT_TCP, port);
  }
  callLibc('prctl', [SET_NO_NEW_PRIVS, 1, 0, 0, 0]);
  callLibc('syscall', [RESTRICT_SELF, ruleset, 0]);
  closeSync(ruleset);
}

/** `struct landlock_ruleset_attr`, with the fields that a kernel of this ABI knows: rights of files, of ports, scopes. */
export function rulesetOfAbi(abi: number, boundsPorts: boolean): Buffer {
  const fields = [rightsOfAbi(abi)];
  if (boundsPorts) fields.push(BIND_TCP | CONNECT_TCP);
  if (boundsPorts && abi >= SCOPE_ABI) fields.push(SCOPE_ABSTRACT_UNIX_SOCKET);
  const attribute = Buffer.alloc(fields.length * U64_BYTES);
  for (const [at, bits] of fields.entries()) attribute.writeBigUInt64LE(bits, at * U64_BYTES);
  return attribute;
}

function addPort(ruleset: number, right: bigint, port: number): void {
  const rule = Buffer.alloc(2 * U64_BYTES); // struct landlock_net_port_attr
  rule.writeBigUInt64LE(right);
  rule.writeBigUInt64LE(BigInt(port), U64_BYTES);
  callLibc('syscall', [ADD_RULE, ruleset, RULE_NET_PORT, rule, 0]);
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

/** Also applies to the program that is executed next. */
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
