import { DataType, load, open } from 'ffi-rs';
import type { HostUser } from './host-bootstrap.ts';

/** C library calls that Node does not offer. Only for the engine's launcher, on Linux with glibc. */

const LIBRARY = 'libc';
const LIBRARY_FILE = 'libc.so.6';
const FAILED = -1;

/** Pointers are passed as a `Buffer` or a string, everything else as a 64-bit integer, the width of argument registers. */
export type LibcArgument = number | string | Buffer;

/** A libc call returned -1. */
export class LibcError extends Error {
  readonly errno: number;

  constructor(call: string, errno: number, message: string) {
    super(`${call}: ${message}`);
    this.name = 'LibcError';
    this.errno = errno;
  }
}

let isOpen = false;

/** Calls a libc function on this thread. Throws `LibcError` when it returns -1. */
export function callLibc(name: string, args: readonly LibcArgument[]): number {
  if (!isOpen) open({ library: LIBRARY, path: LIBRARY_FILE });
  isOpen = true;
  const { value, errnoCode, errnoMessage } = load<DataType.I64, true>({
    library: LIBRARY,
    funcName: name,
    retType: DataType.I64,
    paramsType: args.map(typeOf),
    paramsValue: [...args],
    errno: true,
  });
  if (isFailure(value)) throw new LibcError(name, errnoCode, errnoMessage);
  return value;
}

/** A function that returns an `int` sets only the lower half of the register. */
function isFailure(value: number): boolean {
  return value === FAILED || value === FAILED + 2 ** 32;
}

function typeOf(argument: LibcArgument): DataType {
  if (typeof argument === 'number') return DataType.I64;
  return typeof argument === 'string' ? DataType.String : DataType.U8Array;
}

/** The launcher's calls as root to become the engine's user (user.ts decides whether). */

const PR_SET_KEEPCAPS = 8;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_RAISE = 2;
const CAP_DAC_OVERRIDE = 1;
const CAPABILITY_VERSION_3 = 0x2008_0522;
const CAPABILITY_SETS_BYTES = 24;
const U32_BYTES = 4;

/** Irreversible: the program that is executed next cannot become root again. The group has the same id. */
export function becomeUser({ id, passesPermissions }: HostUser): void {
  if (passesPermissions) callLibc('prctl', [PR_SET_KEEPCAPS, 1, 0, 0, 0]);
  process.setgroups?.([]);
  process.setgid?.(id);
  process.setuid?.(id);
  if (passesPermissions) keepCapability(CAP_DAC_OVERRIDE);
}

/** Keeps only this capability, as an ambient one, which survives `exec` by a non-root user. */
function keepCapability(capability: number): void {
  const header = Buffer.alloc(2 * U32_BYTES); // struct __user_cap_header_struct, this thread
  header.writeUInt32LE(CAPABILITY_VERSION_3);
  const sets = Buffer.alloc(CAPABILITY_SETS_BYTES); // effective, permitted, inheritable; then the same for numbers from 32 on
  for (let set = 0; set < 3; set += 1) sets.writeUInt32LE(2 ** capability, set * U32_BYTES);
  callLibc('capset', [header, sets]);
  callLibc('prctl', [PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0]);
}
