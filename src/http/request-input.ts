import type { FastifyRequest } from 'fastify';
import { type Failure, fail } from '../../core/errors.ts';
import type { AnyOperation } from '../operations/define.ts';
import { takesBody } from '../operations/params.ts';

/** The parameters of a request as they were sent, from all the places where they can stand. */

type Raw = Record<string, unknown>;

/**
 * Path and query together, with the body's fields where the operation takes one. A name in two places counts as given twice.
 * Throws what `readJsonBody` throws, and `invalid_parameter` for a parameter that stands in the wrong place.
 */
export function rawInput(operation: AnyOperation, request: FastifyRequest): Raw {
  const path = request.params as Record<string, string>; // find-my-way gives decoded texts
  const query = request.query as Raw; // texts, or arrays where a name is repeated
  if (!takesBody(operation)) return withAccepted(operation, together(path, query), request.headers.accept);
  const file = fileIn(operation, request);
  if (file !== null) return { ...together(path, query), ...file };
  const body = readJsonBody(bodyOf(request), request.headers);
  for (const name of Object.keys(query)) refuseInUrl(operation, name);
  return withAccepted(operation, together(path, body), request.headers.accept);
}

/** The body as the field that it stands for, and its format; null where it is the JSON object. */
function fileIn({ file }: AnyOperation, request: FastifyRequest): Raw | null {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';', 1);
  const mediaType = type.trim().toLowerCase();
  if (file === undefined || !Object.hasOwn(file.media, mediaType)) return null;
  checkEncoding(request.headers);
  return { [file.field]: bodyOf(request), format: file.media[mediaType] };
}

/** The exact bytes of the body; undefined where there is none. */
export function bodyOf({ body }: FastifyRequest): Buffer | undefined {
  return Buffer.isBuffer(body) ? body : undefined;
}

function together(path: Record<string, string>, rest: Raw): Raw {
  const raw: Raw = { ...rest };
  for (const [name, value] of Object.entries(path)) {
    raw[name] = Object.hasOwn(rest, name) ? [value, rest[name]] : value;
  }
  return raw;
}

/** Parameters of a POST belong into its body: in the URL every proxy on the way would log them. */
function refuseInUrl({ params }: AnyOperation, name: string): void {
  const param = Object.hasOwn(params, name) ? params[name] : undefined;
  if (param?.in === 'query') return;
  const shown = name.slice(0, 100).replace(/[^\x20-\x7e]/g, '?');
  throw fail('invalid_parameter', {
    parameter: shown,
    detail: `"${shown}" is in the URL. This operation takes its parameters as fields of a JSON object in the body.`,
  });
}

/** The value of the parameter `format` for a media type of `Accept`; JSON is the default of every operation. */
const FORMAT_OF_TYPE: Readonly<Record<string, string>> = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'text/csv': 'csv',
  'application/vnd.apache.parquet': 'parquet',
  'application/vnd.apache.arrow.stream': 'arrow',
  'text/event-stream': 'events',
};

/** The body takes precedence over the header, which many clients send by default. */
function withAccepted(operation: AnyOperation, raw: Raw, accept: string | undefined): Raw {
  const choices = formatsOf(operation);
  if (accept === undefined || choices.length === 0 || Object.hasOwn(raw, 'format')) return raw;
  const format = acceptedFormat(accept, choices);
  return format === undefined ? raw : { ...raw, format };
}

/** What its parameter `format` takes; nothing where it has none. */
function formatsOf({ params }: AnyOperation): readonly string[] {
  const members: unknown = params['format']?.schema['anyOf'];
  if (Array.isArray(members))
    return members.map((member: { readonly const?: unknown }) => String(member.const));
  return params['format'] === undefined ? [] : Object.values(FORMAT_OF_TYPE);
}

/** The known type that the caller likes best, the first one of those it likes alike. Source: RFC 9110 12.5.1. */
function acceptedFormat(accept: string, choices: readonly string[]): string | undefined {
  let best: { readonly format: string; readonly weight: number } | undefined;
  for (const entry of accept.split(',')) {
    const [type = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    const format = Object.hasOwn(FORMAT_OF_TYPE, type) ? FORMAT_OF_TYPE[type] : undefined;
    const weight = weightOf(parameters);
    const isTaken = format !== undefined && choices.includes(format);
    if (isTaken && weight > (best?.weight ?? 0)) best = { format, weight };
  }
  return best?.format;
}

function weightOf(parameters: readonly string[]): number {
  const q = parameters.find((parameter) => /^q *=/.test(parameter));
  const weight = q === undefined ? 1 : Number(q.slice(q.indexOf('=') + 1));
  return weight >= 0 && weight <= 1 ? weight : 0;
}

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
 * The fields of the object. Throws `unsupported_media_type` for anything but JSON as it is, `malformed_request` for a body that is not
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
const JSON_TYPE = /^application\/json *(?:; *charset *= *"?utf-?8"? *)?(?:; *)?$/i;

function checkMediaType({ 'content-type': type, 'content-encoding': encoding }: BodyHeaders): void {
  if (type === undefined || !JSON_TYPE.test(type.trim()))
    throw fail('unsupported_media_type', {
      detail: 'This route takes a JSON object as its body, with Content-Type: application/json.',
    });
  checkEncoding({ 'content-encoding': encoding });
}

function checkEncoding({ 'content-encoding': encoding }: BodyHeaders): void {
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

/** Tokens that show names and nesting; numbers and words between them are skipped. The text was parsed as JSON before. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"?|[{}[\]:]/g;

/** Refuses names given twice: JSON.parse silently keeps the last. */
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
