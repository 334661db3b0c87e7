import { callLibc } from './become-user.ts';

/**
 * A filter of system calls that bounds the sockets of a process, of every kernel that has seccomp: it may listen for connections over
 * TCP and, unless `connects` says otherwise, makes none itself. Datagrams, raw sockets and sockets of other families cannot be created.
 * Irreversible, and of every program that the process executes (docs.kernel.org/userspace-api/seccomp_filter.html).
 */

/** Numbers of the system calls, of each architecture that chdb is built for. */
interface Architecture {
  /** AUDIT_ARCH of `linux/audit.h`. */
  readonly id: number;
  readonly socket: number;
  readonly connect: number;
}

export const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: { id: 0xc000_003e, socket: 41, connect: 42 },
  arm64: { id: 0xc000_00b7, socket: 198, connect: 203 },
};
/** Its requests are socket calls that no filter sees. The number is the same on every architecture. */
const IO_URING_SETUP = 425;
/** From here on, the calls of x86-64 with 32-bit pointers, which have numbers of their own; other architectures have none. */
const X32_CALLS = 0x4000_0000;

const AF_INET = 2;
const AF_INET6 = 10;
/** Over which a cluster's node learns its own addresses. */
const AF_NETLINK = 16;
const SOCK_STREAM = 1;
/** The type without the flags that may be added to it. */
const TYPE_MASK = 0xf;

/** Places in `struct seccomp_data`; of arguments the lower half, which is all that the kernel reads of an `int`. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const ARGUMENT_0 = 16;
const ARGUMENT_1 = 24;

/** Operations of classic BPF. */
const LOAD = 0x20;
const AND = 0x54;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const RETURN = 0x06;

const ALLOW = 0x7fff_0000;
const EACCES = 13;
const ENOSYS = 38;
const fails = (errno: number): number => 0x0005_0000 | errno;

/** One instruction; `so` and `not` are the names of those that follow it, by default the next one. */
interface Step {
  readonly name?: string;
  readonly code: number;
  readonly value: number;
  readonly so?: string;
  readonly not?: string;
}

export function socketFilter(
  { id, socket, connect }: Architecture,
  { connects }: { readonly connects: boolean },
): Buffer {
  const steps: Step[] = [
    { code: LOAD, value: ARCHITECTURE },
    // Calls of another architecture have other numbers.
    { code: IF_EQUAL, value: id, not: 'refuse' },
    { code: LOAD, value: NUMBER },
    { code: IF_AT_LEAST, value: X32_CALLS, so: 'refuse' },
    { code: IF_EQUAL, value: IO_URING_SETUP, so: 'absent' },
    ...(connects ? [] : [{ code: IF_EQUAL, value: connect, so: 'refuse' }]),
    { code: IF_EQUAL, value: socket, not: 'allow' },
    { code: LOAD, value: ARGUMENT_0 },
    ...(connects ? [{ code: IF_EQUAL, value: AF_NETLINK, so: 'allow' }] : []),
    { code: IF_EQUAL, value: AF_INET, so: 'typed' },
    { code: IF_EQUAL, value: AF_INET6, not: 'refuse' },
    { name: 'typed', code: LOAD, value: ARGUMENT_1 },
    { code: AND, value: TYPE_MASK },
    { code: IF_EQUAL, value: SOCK_STREAM, not: 'refuse' },
    { name: 'allow', code: RETURN, value: ALLOW },
    { name: 'refuse', code: RETURN, value: fails(EACCES) },
    { name: 'absent', code: RETURN, value: fails(ENOSYS) },
  ];
  return Buffer.concat(steps.map((step, at) => instruction(steps, step, at)));
}

const INSTRUCTION_BYTES = 8;

/** `struct sock_filter`: an operation, the distances of its two branches, a constant. */
function instruction(steps: readonly Step[], { code, value, so, not }: Step, at: number): Buffer {
  const distance = (name: string | undefined): number =>
    name === undefined ? 0 : steps.findIndex((step) => step.name === name) - at - 1;
  const bytes = Buffer.alloc(INSTRUCTION_BYTES);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(distance(so), 2);
  bytes.writeUInt8(distance(not), 3);
  bytes.writeUInt32LE(value >>> 0, 4);
  return bytes;
}

const SET_NO_NEW_PRIVS = 38;
const SET_SECCOMP = 22;
const MODE_FILTER = 2;
const POINTER_BYTES = 8;

/** Filters the calling thread and every thread of the program that it executes next. Throws `LibcError`; null where it can. */
export function boundSockets(facts: { readonly connects: boolean }): { readonly missing: string } | null {
  const architecture = ARCHITECTURES[process.arch];
  if (architecture === undefined)
    return { missing: `there is no filter of system calls for ${process.arch}` };
  const filter = socketFilter(architecture, facts);
  const program = Buffer.alloc(2 * POINTER_BYTES); // struct sock_fprog
  program.writeUInt16LE(filter.length / INSTRUCTION_BYTES);
  program.writeBigUInt64LE(BigInt(inMemory(filter)), POINTER_BYTES);
  callLibc('prctl', [SET_NO_NEW_PRIVS, 1, 0, 0, 0]);
  callLibc('prctl', [SET_SECCOMP, MODE_FILTER, program, 0, 0]);
  return null;
}

/** The address of a copy that stays until the process executes another program: the kernel reads it through the other buffer. */
function inMemory(bytes: Buffer): number {
  const address = callLibc('malloc', [bytes.length]);
  callLibc('memcpy', [address, bytes, bytes.length]);
  return address;
}
