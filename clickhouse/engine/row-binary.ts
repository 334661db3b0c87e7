import {
  type Address,
  BYTES_MAX,
  type Hash,
  isLengthOf,
  type TransactionId,
  writeBytes,
} from '../../core/domain/account.ts';
import { HASH_BYTES } from './account.ts';

/**
 * Writes rows in ClickHouse's RowBinary into one growing buffer: the fastest format that every server version reads.
 * Enum8 travels as its byte, LowCardinality as its plain type, Decimal(18, 6) as an Int64 of millionths.
 * Every method throws on a value that its column cannot hold: a wrapped number would silently corrupt the table.
 */

const initialBytes = 64 * 1024;
const U32_MAX = 2 ** 32 - 1;
const U64_MAX = 2n ** 64n - 1n;
const U256_MAX = 2n ** 256n - 1n;
const I64_MAX = 2n ** 63n - 1n;
const I128_MAX = 2n ** 127n - 1n;
const I128_BYTES = 16;
const U256_BYTES = 32;
const varintMaxBytes = 5;
/** Above this a native copy is faster than a loop; one length byte reaches to 127. */
const shortTextMaxChars = 42;
const secondsPerDay = 86_400;

export class RowBinary {
  private buffer = Buffer.allocUnsafe(initialBytes);
  private length = 0;

  /** String and LowCardinality(String). */
  string(text: string): this {
    const chars = text.length;
    if (chars > shortTextMaxChars) return this.longString(text);
    this.reserve(1 + chars);
    // Names and symbols are a few ASCII letters: copying them here is cheaper than the call into native code.
    const start = this.length + 1;
    for (let i = 0; i < chars; i++) {
      const code = text.charCodeAt(i);
      if (code > 127) return this.longString(text);
      this.buffer[start + i] = code;
    }
    this.buffer[this.length] = chars;
    this.length = start + chars;
    return this;
  }

  private longString(text: string): this {
    const bytes = Buffer.byteLength(text, 'utf8');
    this.reserve(varintMaxBytes + bytes);
    this.varint(bytes);
    this.length += this.buffer.write(text, this.length, 'utf8');
    return this;
  }

  private varint(value: number): void {
    let rest = value;
    while (rest >= 128) {
      this.buffer[this.length++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.buffer[this.length++] = rest;
  }

  /** String of bytes, from `0x` and any number of hex digit pairs. */
  hexString(hex: string): this {
    const bytes = (hex.length - 2) / 2;
    this.reserve(varintMaxBytes + bytes);
    this.varint(bytes);
    // Node stops at the first non-hex character, so the byte count is the check.
    const written =
      hex.length === 2 + 2 * bytes && hex.startsWith('0x')
        ? this.buffer.write(hex.slice(2), this.length, bytes, 'hex')
        : 0;
    if (written !== bytes) throw new RangeError(`not ${bytes} bytes of hex: ${hex.slice(0, 80)}`);
    this.length += bytes;
    return this;
  }

  /** Array(String) and Array(LowCardinality(String)). */
  strings(texts: readonly string[]): this {
    this.reserve(varintMaxBytes);
    this.varint(texts.length);
    for (const text of texts) this.string(text);
    return this;
  }

  /** An account, from its text. */
  account(text: Address): this {
    return this.counted(text, 'address');
  }

  /** A transaction, from its text. */
  transactionId(text: TransactionId): this {
    return this.counted(text, 'transaction');
  }

  /** String of bytes, whose number is one byte before them. */
  private counted(text: Address | TransactionId, kind: 'address' | 'transaction'): this {
    this.reserve(1 + BYTES_MAX);
    const written = writeBytes(text, this.buffer, this.length + 1);
    if (!isLengthOf(kind, written)) throw new RangeError(`no ${kind}: ${text.slice(0, 80)}`);
    this.buffer[this.length] = written;
    this.length += 1 + written;
    return this;
  }

  /** FixedString, from the text of a hash of something else. */
  hash(text: Hash): this {
    this.reserve(BYTES_MAX);
    const written = writeBytes(text, this.buffer, this.length);
    if (written !== HASH_BYTES) throw new RangeError(`not ${HASH_BYTES} bytes: ${text.slice(0, 80)}`);
    this.length += HASH_BYTES;
    return this;
  }

  /** UInt8, Bool and the byte of an Enum8. */
  u8(value: number): this {
    this.whole(value, 255);
    this.reserve(1);
    this.buffer[this.length++] = value;
    return this;
  }

  u16(value: number): this {
    this.whole(value, 65_535);
    this.reserve(2);
    this.length = this.buffer.writeUInt16LE(value, this.length);
    return this;
  }

  u32(value: number): this {
    this.whole(value, U32_MAX);
    this.reserve(4);
    this.length = this.buffer.writeUInt32LE(value, this.length);
    return this;
  }

  u64(value: number | bigint): this {
    this.reserve(8);
    if (typeof value === 'bigint') {
      this.wholeBig(value, 0n, U64_MAX);
      this.length = this.buffer.writeBigUInt64LE(value, this.length);
      return this;
    }
    this.whole(value, Number.MAX_SAFE_INTEGER);
    this.buffer.writeUInt32LE(value % 2 ** 32, this.length);
    this.length = this.buffer.writeUInt32LE(Math.floor(value / 2 ** 32), this.length + 4);
    return this;
  }

  /** Int128: two's complement, low word first. */
  i128(value: bigint): this {
    this.wholeBig(value, -I128_MAX - 1n, I128_MAX);
    this.reserve(I128_BYTES);
    this.buffer.writeBigUInt64LE(value & U64_MAX, this.length);
    this.buffer.writeBigInt64LE(value >> 64n, this.length + 8);
    this.length += I128_BYTES;
    return this;
  }

  u256(value: bigint): this {
    this.wholeBig(value, 0n, U256_MAX);
    this.reserve(U256_BYTES);
    if (value <= U64_MAX) {
      this.buffer.writeBigUInt64LE(value, this.length);
      this.buffer.fill(0, this.length + 8, this.length + U256_BYTES);
    } else {
      for (let word = 0; word < 4; word++)
        this.buffer.writeBigUInt64LE((value >> BigInt(64 * word)) & U64_MAX, this.length + 8 * word);
    }
    this.length += U256_BYTES;
    return this;
  }

  /** Decimal(18, s) from its value times 10^s. */
  decimal64(scaled: bigint): this {
    this.wholeBig(scaled, -I64_MAX, I64_MAX);
    this.reserve(8);
    this.length = this.buffer.writeBigInt64LE(scaled, this.length);
    return this;
  }

  /** DateTime from Unix seconds. */
  dateTime(unixSeconds: number): this {
    return this.u32(unixSeconds);
  }

  /** DateTime64(3) from Unix milliseconds. */
  dateTime64(unixMs: number): this {
    this.whole(unixMs, Number.MAX_SAFE_INTEGER);
    return this.u64(unixMs);
  }

  /** Date from `YYYY-MM-DD`. */
  date(day: string): this {
    return this.u16(Date.parse(`${day}T00:00:00Z`) / 1_000 / secondsPerDay);
  }

  float64(value: number): this {
    this.reserve(8);
    this.length = this.buffer.writeDoubleLE(value, this.length);
    return this;
  }

  /** Bytes written so far. */
  size(): number {
    return this.length;
  }

  /** The bytes written so far. A view: do not use the writer afterwards. */
  finish(): Uint8Array {
    return this.buffer.subarray(0, this.length);
  }

  private whole(value: number, max: number): void {
    if (!Number.isSafeInteger(value) || value < 0 || value > max)
      throw new RangeError(`not a whole number from 0 to ${max}: ${value}`);
  }

  private wholeBig(value: bigint, min: bigint, max: bigint): void {
    if (value < min || value > max) throw new RangeError(`not from ${min} to ${max}: ${value}`);
  }

  private reserve(bytes: number): void {
    if (this.length + bytes <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.buffer.length, this.length + bytes));
    this.buffer.copy(larger, 0, 0, this.length);
    this.buffer = larger;
  }
}
