/**
 * ERC-8021 builder codes: a suffix of the calldata that names the app and the facilitator of a transaction. Self-declared by the
 * sender, so a claim, not a proof. Source: ERC-8021; encoder and parser in @x402/extensions 2.27.0.
 *
 * Read from the end: a 16-byte marker, one schema byte, then
 * - schema 2: two length bytes and a CBOR map of `a` (app), `w` (facilitator), `s` (services);
 * - schema 0: one length byte and ASCII codes joined by commas.
 *
 * Calldata is untrusted. Everything is bounded, and a suffix that is not exactly well-formed is ignored.
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
const bodyMaxBytes = 1_024;

const SCHEMA_0 = '00';
const SCHEMA_2 = '02';
/** How many bytes say the length of the body, by schema byte. */
const LENGTH_BYTES: Readonly<Record<string, number>> = { [SCHEMA_0]: 1, [SCHEMA_2]: 2 };

/** The builder codes at the end of calldata (`0x` and hex); null when there are none, or they are malformed. Never throws. */
export function parseBuilderCode(input: string): BuilderCode | null {
  const suffix = builderSuffixOf(input);
  return suffix === '' ? null : parseBuilderSuffix(suffix);
}

/**
 * The suffix from its first body digit to its schema byte, or '' if none can be well-formed. Separate from parsing, because
 * facilitators repeat their suffix and callers cache its result.
 */
export function builderSuffixOf(input: string): string {
  if (!input.endsWith(MARKER) || input.length % 2 !== 0) return '';
  const end = input.length - 2 * MARKER_BYTES;
  const lengthBytes = LENGTH_BYTES[input.slice(end - 2, end)];
  if (lengthBytes === undefined) return '';
  const lengthAt = end - 2 - 2 * lengthBytes;
  const length = Number.parseInt(input.slice(lengthAt, end - 2), 16);
  const from = lengthAt - 2 * length;
  // The first two characters are `0x`: a suffix never reaches into them.
  return length > 0 && length <= bodyMaxBytes && from >= 2 ? input.slice(from, end) : '';
}

/** Parses a suffix found by `builderSuffixOf`; null if its body is malformed. */
export function parseBuilderSuffix(suffix: string): BuilderCode | null {
  const schema = suffix.slice(-2);
  const bytes = Buffer.from(suffix, 'hex');
  // Buffer.from stops silently at a non-hex character.
  if (2 * bytes.length !== suffix.length) return null;
  const body = bytes.subarray(0, bytes.length - 1 - (LENGTH_BYTES[schema] ?? 0));
  return schema === SCHEMA_2 ? parseSchema2(body) : parseSchema0(body);
}

function parseSchema2(body: Buffer): BuilderCode | null {
  const fields = readMap(body);
  if (!fields) return null;
  const { a = [], w = [], s = [] } = fields;
  return a.length + w.length + s.length === 0 ? null : { facilitator: w[0] ?? '', apps: a, services: s };
}

function parseSchema0(body: Buffer): BuilderCode | null {
  const apps = body.toString('latin1').split(',');
  return apps.every((code) => SHAPE.test(code)) ? { facilitator: '', apps, services: [] } : null;
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
