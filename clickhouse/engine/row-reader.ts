import type { Address, Hash, TransactionId } from '../../core/domain/account.ts';

/**
 * Reads a RowBinary answer in order. The reader must ask for the types in the statement's order; nothing here can check that.
 *
 * The whole answer becomes one string first: a slice of it is a reference, cheaper than a string per value (measured: a quarter of
 * the time of reading a window). The slices keep the whole string, one window, alive until it is written.
 */
export class RowReader {
  private readonly bytes: Buffer;
  private readonly text: string;
  private at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.text = bytes.toString('latin1');
  }

  get hasMore(): boolean {
    return this.at < this.bytes.length;
  }

  u8(): number {
    return this.bytes.readUInt8(this.at++);
  }

  u32(): number {
    const value = this.bytes.readUInt32LE(this.at);
    this.at += 4;
    return value;
  }

  /** Throws above 2^53: no chain has a block of that number. */
  u64(): number {
    const value = this.bytes.readUInt32LE(this.at) + this.bytes.readUInt32LE(this.at + 4) * 2 ** 32;
    if (!Number.isSafeInteger(value)) throw new RangeError('a number beyond 2^53');
    this.at += 8;
    return value;
  }

  /** A FixedString of ASCII. */
  fixed(length: number): string {
    const text = this.text.slice(this.at, this.at + length);
    this.at += length;
    return text;
  }

  /** A String of ASCII. */
  string(): string {
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const next = this.u8();
      length += (next & 127) * 2 ** shift;
      if (next < 128) return this.fixed(length);
    }
  }

  skip(length: number): void {
    this.at += length;
  }
}

/**
 * Reads single fields of an engine row. A field of another shape than the SELECT promises is a bug of ours, so it throws
 * instead of becoming a wrong answer.
 */

export function textField(field: unknown): string {
  if (typeof field !== 'string') throw new TypeError(`expected a text from the engine, got ${typeof field}`);
  return field;
}

/** An account: the statement made the text of one (clickhouse/engine/account.ts). */
export function addressField(field: unknown): Address {
  return textField(field) as Address;
}

/** A transaction, likewise. */
export function transactionField(field: unknown): TransactionId {
  return textField(field) as TransactionId;
}

/** A hash of something else, likewise. */
export function hashField(field: unknown): Hash {
  return textField(field) as Hash;
}

/** Counts and block numbers: the engine quotes 64-bit integers, ours stay below 2^53. */
export function integerField(field: unknown): number {
  const value = typeof field === 'string' && field !== '' ? Number(field) : field;
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    throw new TypeError(`expected an integer from the engine, got ${String(field).slice(0, 40)}`);
  }
  return value;
}

export function numberField(field: unknown): number {
  const value = typeof field === 'string' && field !== '' ? Number(field) : field;
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new TypeError(`expected a number from the engine, got ${String(field).slice(0, 40)}`);
  }
  return value;
}

export function bigintField(field: unknown): bigint {
  return BigInt(textField(field));
}
