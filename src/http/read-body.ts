import { type Failure, fail } from '../../core/errors.ts';

/** Parameters from the body of a POST: one JSON object, read strictly. Source: RFC 8259, RFC 7493. */

/**
 * Room for the longest text that an operation takes (64 KiB of SQL) when every character of it is written as an escape of six,
 * and for its parameters.
 */
export const JSON_BODY_MAX_BYTES = 512 * 1024;
/** No parameter is nested as deeply; what follows may walk it recursively. */
const DEPTH_MAX = 32;

export interface BodyHeaders {
  readonly 'content-type'?: string | undefined;
  readonly 'content-encoding'?: string | undefined;
}

/**
 * The fields of the object. Throws `unsupported_media_type` for anything but JSON as it is, `malformed_request` for what is not
 * one object, and for objects that programs read differently: a name given twice, `__proto__`.
 */
export function readJsonBody(bytes: Uint8Array | undefined, headers: BodyHeaders): Record<string, unknown> {
  checkMediaType(headers);
  if (bytes === undefined || bytes.length === 0)
    throw malformed('The body is empty; this route takes a JSON object.');
  const text = decode(bytes);
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw malformed('The body is no JSON object.');
  checkNames(text);
  return value as Record<string, unknown>; // an object, just checked
}

/** With the parameter `charset`, which JSON does not have and many clients send. */
const JSON_TYPE = /^application\/json *(?:; *charset *= *"?utf-?8"? *)?;? *$/i;

function checkMediaType({ 'content-type': type, 'content-encoding': encoding }: BodyHeaders): void {
  if (type === undefined || !JSON_TYPE.test(type.trim()))
    throw fail('unsupported_media_type', {
      detail: 'This route takes a JSON object as its body, with Content-Type: application/json.',
    });
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity')
    throw fail('unsupported_media_type', {
      detail: 'This route takes its body as it is, without Content-Encoding.',
    });
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw malformed('The body is not UTF-8.');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed('The body is not JSON.');
  }
}

/** What names and nesting can be seen by; numbers and words between them say nothing. The text is JSON, checked before. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/g;

/** Refuses what JSON.parse lets pass: of a name given twice it keeps the last, silently. */
function checkNames(text: string): void {
  const open: (Set<string> | null)[] = []; // null for an array
  let last = '';
  for (const [token] of text.matchAll(TOKEN)) {
    switch (token) {
      case '{':
      case '[':
        if (open.length === DEPTH_MAX)
          throw malformed(`The body is nested more than ${DEPTH_MAX} levels deep.`);
        open.push(token === '{' ? new Set() : null);
        break;
      case '}':
      case ']':
        open.pop();
        break;
      case ':':
        checkName(JSON.parse(last), open.at(-1));
        break;
      default:
        last = token;
    }
  }
}

function checkName(name: unknown, names: Set<string> | null | undefined): void {
  if (typeof name !== 'string' || names === undefined || names === null) return;
  if (name === '__proto__') throw malformed('The body has a field named __proto__.');
  if (names.has(name)) throw malformed('The body has two fields of the same name in one object.');
  names.add(name);
}

function malformed(detail: string): Failure {
  return fail('malformed_request', { detail });
}
