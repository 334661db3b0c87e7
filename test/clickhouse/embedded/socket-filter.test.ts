import { describe, expect, test } from 'vitest';
import { ARCHITECTURES, socketFilter } from '../../../clickhouse/embedded/seccomp.ts';

/** The filter of system calls as a kernel runs it: classic BPF over the number, the architecture and the arguments of a call. */

const ALLOWED = 0x7fff_0000;
const REFUSED = 0x0005_0000 | 13;
const ABSENT = 0x0005_0000 | 38;

interface Call {
  readonly number: number;
  readonly args?: readonly number[];
}

function verdictOn(filter: Buffer, architecture: number, { number, args = [] }: Call): number {
  const data = Buffer.alloc(64); // struct seccomp_data
  data.writeUInt32LE(number >>> 0, 0);
  data.writeUInt32LE(architecture, 4);
  for (const [at, value] of args.entries()) data.writeUInt32LE(value >>> 0, 16 + at * 8);
  let accumulator = 0;
  for (let at = 0; at < filter.length; ) {
    const [code, value] = [filter.readUInt16LE(at), filter.readUInt32LE(at + 4)];
    const [then, otherwise] = [filter.readUInt8(at + 2), filter.readUInt8(at + 3)];
    at += 8;
    if (code === 0x06) return value;
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else if (code === 0x54) accumulator &= value;
    else at += 8 * ((code === 0x15 ? accumulator === value : accumulator >= value) ? then : otherwise);
  }
  throw new Error('a filter without a verdict');
}

const [STREAM, DATAGRAM, RAW] = [1, 2, 3];
const NON_BLOCKING = 0o4000 | 0o2000000;

describe.each(Object.entries(ARCHITECTURES))('on %s', (_name, architecture) => {
  const { id, socket, connect } = architecture;
  const alone = socketFilter(architecture, { connects: false });
  const node = socketFilter(architecture, { connects: true });

  test.each([
    ['a socket to listen at', { number: socket, args: [2, STREAM] }, ALLOWED, ALLOWED],
    ['a socket of IPv6, with flags', { number: socket, args: [10, STREAM | NON_BLOCKING] }, ALLOWED, ALLOWED],
    ['a datagram socket', { number: socket, args: [2, DATAGRAM | NON_BLOCKING] }, REFUSED, REFUSED],
    ['a raw socket', { number: socket, args: [10, RAW] }, REFUSED, REFUSED],
    ['a local socket', { number: socket, args: [1, STREAM] }, REFUSED, REFUSED],
    ['a packet socket', { number: socket, args: [17, STREAM] }, REFUSED, REFUSED],
    ['the addresses of the machine', { number: socket, args: [16, RAW] }, REFUSED, ALLOWED],
    ['a connection', { number: connect }, REFUSED, ALLOWED],
    ['io_uring', { number: 425 }, ABSENT, ABSENT],
    ['a read', { number: 0 }, ALLOWED, ALLOWED],
    ['a call of x32', { number: 0x4000_0000 | connect }, REFUSED, REFUSED],
  ] as const)('%s', (_call, call, ofOne, ofNode) => {
    expect([verdictOn(alone, id, call), verdictOn(node, id, call)]).toEqual([ofOne, ofNode]);
    // As a 32-bit program would call it.
    expect(verdictOn(node, 0x4000_0003, call)).toBe(REFUSED);
  });
});
