/** Reads what the engine answers as RowBinary, in order. The statement says what stands where; nothing here can check it. */
export class RowReader {
  private readonly bytes: Buffer;
  private at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
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

  /** Throws above 2^53: no chain has such a block. */
  u64(): number {
    const value = this.bytes.readUInt32LE(this.at) + this.bytes.readUInt32LE(this.at + 4) * 2 ** 32;
    if (!Number.isSafeInteger(value)) throw new RangeError('a number beyond 2^53');
    this.at += 8;
    return value;
  }

  /** A FixedString of ASCII. */
  fixed(length: number): string {
    const text = this.bytes.toString('latin1', this.at, this.at + length);
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
