import { createHash } from 'node:crypto';

/**
 * Which requests are on their way, in memory that another thread reads while the event loop stands still: lengths and SHA-256 of
 * target and body, never a text. An operator finds the request by them in the log of the proxy, or asks its caller.
 */
export interface RequestMarks {
  readonly memory: SharedArrayBuffer;
  /** `target`: path and query. */
  begin(target: string): RequestMark;
}

export interface RequestMark {
  body(bytes: Uint8Array): void;
  end(): void;
}

/** As the log has it. */
export interface MarkedRequest {
  readonly ageMs: number;
  readonly target: MarkedText;
  /** Null where none has arrived. */
  readonly body: MarkedText | null;
}

interface MarkedText {
  readonly bytes: number;
  readonly sha256: string;
}

/** The latest ones: of more requests at once, the one that stops the loop is hardly among the oldest. */
const MARKS_MAX = 64;
const HASH_BYTES = 32;
/** A mark: number of its request (0: none), lengths of target and body (-1: none), when it began; then the two hashes. */
const NUMBER_AT = 0;
const TARGET_AT = 4;
const BODY_AT = 8;
const BEGAN_AT = 16;
const HASHES_AT = 24;
const MARK_BYTES = HASHES_AT + 2 * HASH_BYTES;

export function createRequestMarks(): RequestMarks {
  const memory = new SharedArrayBuffer(MARKS_MAX * MARK_BYTES);
  const view = new DataView(memory);
  const bytes = new Uint8Array(memory);
  let last = 0;
  const write = (text: string | Uint8Array, lengthAt: number, hashAt: number): void => {
    bytes.set(createHash('sha256').update(text).digest(), hashAt);
    view.setInt32(lengthAt, Buffer.byteLength(text));
  };
  return {
    memory,
    begin(target) {
      last += 1;
      const number = last;
      const at = (number % MARKS_MAX) * MARK_BYTES;
      const isOurs = (): boolean => view.getUint32(at + NUMBER_AT) === number;
      write(target, at + TARGET_AT, at + HASHES_AT);
      view.setInt32(at + BODY_AT, -1);
      view.setFloat64(at + BEGAN_AT, Date.now());
      view.setUint32(at + NUMBER_AT, number);
      return {
        body(text) {
          if (isOurs()) write(text, at + BODY_AT, at + HASHES_AT + HASH_BYTES);
        },
        end() {
          if (isOurs()) view.setUint32(at + NUMBER_AT, 0);
        },
      };
    },
  };
}

/** The youngest first. To be called while the loop stands still, so that no mark is written during the call. */
export function readRequestMarks(memory: SharedArrayBuffer): MarkedRequest[] {
  const view = new DataView(memory);
  const nowMs = Date.now();
  const found: MarkedRequest[] = [];
  for (let at = 0; at < memory.byteLength; at += MARK_BYTES) {
    if (view.getUint32(at + NUMBER_AT) === 0) continue;
    const text = (lengthAt: number, hashAt: number): MarkedText => ({
      bytes: view.getInt32(lengthAt),
      sha256: Buffer.from(new Uint8Array(memory, hashAt, HASH_BYTES)).toString('hex'),
    });
    const body = text(at + BODY_AT, at + HASHES_AT + HASH_BYTES);
    found.push({
      ageMs: nowMs - view.getFloat64(at + BEGAN_AT),
      target: text(at + TARGET_AT, at + HASHES_AT),
      body: body.bytes < 0 ? null : body,
    });
  }
  return found.sort((a, b) => a.ageMs - b.ageMs);
}
