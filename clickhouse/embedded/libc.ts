import { DataType, load, open } from 'ffi-rs';

/** Calls of the C library that Node has none of its own for. Only for the engine's launcher, on Linux with glibc. */

const LIBRARY = 'libc';
const LIBRARY_FILE = 'libc.so.6';
const FAILED = -1;

/** A pointer is passed as a `Buffer` or a text, everything else as a 64-bit integer, which is how arguments lie in registers. */
export type LibcArgument = number | string | Buffer;

/** libc answered -1. */
export class LibcError extends Error {
  readonly errno: number;

  constructor(call: string, errno: number, message: string) {
    super(`${call}: ${message}`);
    this.name = 'LibcError';
    this.errno = errno;
  }
}

let isOpen = false;

/** Calls a function of libc on this thread. Throws `LibcError` when it answers -1. */
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

/** A function that answers an `int` fills the lower half of the register only. */
function isFailure(value: number): boolean {
  return value === FAILED || value === FAILED + 2 ** 32;
}

function typeOf(argument: LibcArgument): DataType {
  if (typeof argument === 'number') return DataType.I64;
  return typeof argument === 'string' ? DataType.String : DataType.U8Array;
}
