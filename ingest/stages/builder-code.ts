/**
 * ERC-8021 builder codes: a suffix of the calldata that names who built and who settled a transaction. Self-declared by
 * the sender, so a claim and not a proof. Source: protocol.md 2.5; encoder and parser in @x402/extensions 2.27.0.
 *
 * Read from the end: a 16-byte marker, one schema byte, then
 * - schema 2: two length bytes and a CBOR map of `a` (app), `w` (facilitator), `s` (services);
 * - schema 0: one length byte and ASCII codes joined by commas.
 *
 * Calldata is written by strangers. Everything is bounded, and a suffix that is not exactly well-formed says nothing.
 */

export interface BuilderCode {
  /** `w`, or ''. */
  readonly facilitator: string;
  /** `a`, or the codes of schema 0. */
  readonly apps: readonly string[];
  /** `s`. */
  readonly services: readonly string[];
}

const MARKER = '80218021802180218021802180218021';
const MARKER_BYTES = 16;
const SHAPE = /^[a-z0-9_]{1,32}$/;
/** Thirteen codes of 32 characters with their CBOR heads stay below 500 bytes; more is no builder code. */
const cborMaxBytes = 1_024;

/** The builder codes at the end of calldata (`0x` and hex); null when there are none, or they are malformed. Never throws. */
export function parseBuilderCode(input: string): BuilderCode | null {
  if (!input.endsWith(MARKER) || input.length % 2 !== 0) return null;
  const schemaAt = input.length - 2 * (MARKER_BYTES + 1);
  if (input.startsWith('02', schemaAt)) return parseSchema2(input, schemaAt);
  return input.startsWith('00', schemaAt) ? parseSchema0(input, schemaAt) : null;
}

function parseSchema2(input: string, schemaAt: number): BuilderCode | null {
  const body = bodyBefore(input, schemaAt, 2);
  const fields = body && readMap(body);
  if (!fields) return null;
  const { a = [], w = [], s = [] } = fields;
  return a.length + w.length + s.length === 0 ? null : { facilitator: w[0] ?? '', apps: a, services: s };
}

function parseSchema0(input: string, schemaAt: number): BuilderCode | null {
  const apps = bodyBefore(input, schemaAt, 1)?.toString('latin1').split(',');
  return apps?.every((code) => SHAPE.test(code)) ? { facilitator: '', apps, services: [] } : null;
}

/** The bytes that stand before a big-endian length of `lengthBytes`, which ends at `end`; undefined when they do not fit. */
function bodyBefore(input: string, end: number, lengthBytes: number): Buffer | undefined {
  const lengthAt = end - 2 * lengthBytes;
  const length = Number.parseInt(input.slice(lengthAt, end), 16);
  const from = lengthAt - 2 * length;
  // The first two characters are `0x`: a suffix never reaches into them.
  if (!(length > 0 && length <= cborMaxBytes && from >= 2)) return undefined;
  const body = Buffer.from(input.slice(from, lengthAt), 'hex');
  // Buffer.from stops silently at a character that is no hex digit.
  return body.length === length ? body : undefined;
}

const MAJOR = { text: 3, array: 4, map: 5 } as const;

interface Reading {
  readonly bytes: Buffer;
  at: number;
}

type Fields = Partial<Record<'a' | 'w' | 's', readonly string[]>>;

function readMap(bytes: Buffer): Fields | null {
  const reading: Reading = { bytes, at: 0 };
  const size = readHead(reading, MAJOR.map);
  const fields: Fields = {};
  for (let entry = 0; entry < size; entry++) {
    const key = readText(reading);
    if ((key !== 'a' && key !== 'w' && key !== 's') || fields[key]) return null;
    const codes = key === 's' ? readCodes(reading) : readCode(reading);
    if (!codes) return null;
    fields[key] = codes;
  }
  return reading.at === bytes.length ? fields : null;
}

function readCode(reading: Reading): string[] | null {
  const code = readText(reading);
  return code !== null && SHAPE.test(code) ? [code] : null;
}

function readCodes(reading: Reading): string[] | null {
  const size = readHead(reading, MAJOR.array);
  const codes: string[] = [];
  // Each round reads at least one byte or ends, so a claimed size beyond the bytes costs nothing.
  for (let item = 0; item < size; item++) {
    const code = readCode(reading)?.[0];
    if (code === undefined) return null;
    codes.push(code);
  }
  return size < 0 ? null : codes;
}

function readText(reading: Reading): string | null {
  const length = readHead(reading, MAJOR.text);
  const end = reading.at + length;
  if (length < 0 || end > reading.bytes.length) return null;
  const text = reading.bytes.toString('latin1', reading.at, end);
  reading.at = end;
  return text;
}

/** The length in a CBOR head of the given major type (RFC 8949 3: inline up to 23, one byte after 24); −1 for another head. */
function readHead(reading: Reading, major: number): number {
  const head = reading.bytes[reading.at];
  if (head === undefined || head >> 5 !== major) return -1;
  reading.at++;
  const inline = head & 31;
  if (inline < 24) return inline;
  return inline === 24 ? (reading.bytes[reading.at++] ?? -1) : -1;
}
