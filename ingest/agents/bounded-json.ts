/** Why a file is not the JSON that was expected; codes that may be stored and shown. */
export const JSON_PROBLEMS = {
  not_utf8: 'The file is not UTF-8.',
  too_deep: 'The JSON is nested deeper than is read.',
  too_many_values: 'The JSON has more values than are read.',
  not_json: 'The file is not JSON.',
  not_an_object: 'The JSON is not an object.',
} as const;

export type JsonProblem = keyof typeof JSON_PROBLEMS;

/** Real files are four deep and have a hundred values. */
const DEPTH_MAX = 32;
const VALUES_MAX = 20_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Reads a JSON object from a stranger's bytes. Depth and number of values are counted before anything is built, on the bytes
 * and without recursion. A byte order mark is passed over; of a repeated key the last counts, as everywhere in JavaScript;
 * `__proto__` is a key like others, so fields must be read with `fieldOf`.
 */
export function parseBounded(bytes: Uint8Array): Record<string, unknown> | JsonProblem {
  const problem = measure(bytes);
  if (problem !== null) return problem;
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return isObject(value) ? value : 'not_an_object';
  } catch (error) {
    return error instanceof SyntaxError ? 'not_json' : 'not_utf8'; // the decoder throws a TypeError
  }
}

/** Brackets and commas outside of strings bound what the parser would build. */
function measure(bytes: Uint8Array): 'too_deep' | 'too_many_values' | null {
  let depth = 0;
  let values = 0;
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    at = byte === QUOTE ? endOfString(bytes, at + 1) : at + 1;
    const step = STEPS[byte] ?? 0;
    depth += step;
    values += step > 0 || byte === COMMA ? 1 : 0;
    if (depth > DEPTH_MAX) return 'too_deep';
    if (values > VALUES_MAX) return 'too_many_values';
  }
  return null;
}

/** Where the text after a string goes on. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start; at < bytes.length; at++) {
    if (bytes[at] === QUOTE) return at + 1;
    if (bytes[at] === BACKSLASH) at++;
  }
  return bytes.length;
}

const COMMA = 0x2c;
/** By byte: how much deeper the next one is. */
const STEPS = Int8Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte);
  return '[{'.includes(char) ? 1 : -Number(']}'.includes(char));
});

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The first of the names that is an own field, with a value; undefined when there is none. */
export function fieldOf(value: unknown, ...names: readonly string[]): unknown {
  if (!isObject(value)) return undefined;
  const name = names.find((one) => Object.hasOwn(value, one) && value[one] !== null);
  return name === undefined ? undefined : value[name];
}
