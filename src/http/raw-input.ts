import type { FastifyRequest } from 'fastify';
import { fail } from '../../core/errors.ts';
import type { AnyOperation } from '../operations/define.ts';
import { readJsonBody } from './read-body.ts';

/** The parameters of a request as they were sent, from all the places where they can stand. */

type Raw = Record<string, unknown>;

/**
 * Path and query together, with the body's fields where the operation takes one. A name in two places counts as given twice.
 * Throws what `readJsonBody` throws, and `invalid_parameter` for a parameter that stands in the wrong place.
 */
export function rawInput(operation: AnyOperation, request: FastifyRequest): Raw {
  const path = request.params as Record<string, string>; // find-my-way gives decoded texts
  const query = request.query as Raw; // texts, or arrays where a name is repeated
  if (operation.method === 'GET') return together(path, query);
  const body = readJsonBody(bodyOf(request), request.headers);
  for (const name of Object.keys(query)) refuseInUrl(operation, name);
  return withAccepted(operation, together(path, body), request.headers.accept);
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

/** Parameters of a POST stand in its body: in the URL they would be logged by everybody on the way. */
function refuseInUrl({ params }: AnyOperation, name: string): void {
  const param = Object.hasOwn(params, name) ? params[name] : undefined;
  if (param?.in === 'query') return;
  const shown = name.slice(0, 100).replace(/[^\x20-\x7e]/g, '?');
  throw fail('invalid_parameter', {
    parameter: shown,
    detail: `"${shown}" stands in the URL. This operation takes its parameters as fields of a JSON object in the body.`,
  });
}

/** What `Accept` says for the parameter `format`; JSON is what an operation answers by itself. */
const FORMAT_OF_TYPE: Readonly<Record<string, string>> = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'text/csv': 'csv',
  'application/vnd.apache.parquet': 'parquet',
  'application/vnd.apache.arrow.stream': 'arrow',
};

/** The body goes before the header, which many clients send without having been asked to. */
function withAccepted(operation: AnyOperation, raw: Raw, accept: string | undefined): Raw {
  if (accept === undefined || !Object.hasOwn(operation.params, 'format') || Object.hasOwn(raw, 'format'))
    return raw;
  const format = acceptedFormat(accept);
  return format === undefined ? raw : { ...raw, format };
}

/** The known type that the caller likes best, the first one of those it likes alike. Source: RFC 9110 12.5.1. */
function acceptedFormat(accept: string): string | undefined {
  let best: { readonly format: string; readonly weight: number } | undefined;
  for (const entry of accept.split(',')) {
    const [type = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    const format = Object.hasOwn(FORMAT_OF_TYPE, type) ? FORMAT_OF_TYPE[type] : undefined;
    const weight = weightOf(parameters);
    if (format !== undefined && weight > (best?.weight ?? 0)) best = { format, weight };
  }
  return best?.format;
}

function weightOf(parameters: readonly string[]): number {
  const q = parameters.find((parameter) => /^q *=/.test(parameter));
  const weight = q === undefined ? 1 : Number(q.slice(q.indexOf('=') + 1));
  return weight >= 0 && weight <= 1 ? weight : 0;
}
