import type { DescribedOperation, DescribedResponse } from './document.ts';
import type { FuzzRequest } from './requests.ts';
import type { FuzzAnswer } from './send.ts';

/** What an answer has against the document. */

/** Of HTTP itself, of CORS and of the connection; no operation documents them. */
const GENERAL_HEADERS: ReadonlySet<string> = new Set([
  'access-control-allow-origin',
  'access-control-expose-headers',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'trailer',
  'transfer-encoding',
  'x-content-type-options',
]);

const PREFLIGHT_STATUS = 204;

/** Methods that OpenAPI 3.1 has no word for, and the answers that they may get: their body may be read before their path is looked at. */
const UNDESCRIBABLE: ReadonlySet<string> = new Set(['PROPFIND', 'QUERY']);
const REFUSED: readonly number[] = [400, 405, 413, 414, 415];

/** Empty for an answer that is as documented. */
export function judge(operation: DescribedOperation, request: FuzzRequest, answer: FuzzAnswer): string[] {
  const { status } = answer;
  if (status >= 500)
    return [`a request was answered with ${status}: ${answer.body.toString('utf8').slice(0, 500)}`];
  // With an empty last segment it is the address of another route, or of none: a slash at the end changes nothing.
  if (/\/(?:\?|$)/.test(request.target)) return [];
  if (request.method === 'OPTIONS')
    return status === PREFLIGHT_STATUS ? [] : [`OPTIONS was answered with ${status}`];
  if (UNDESCRIBABLE.has(request.method))
    return REFUSED.includes(status) ? [] : [`${request.method} was answered with ${status}`];
  const described = operation.responses.get(status);
  if (described === undefined)
    return [`status ${status} is not documented: ${answer.body.toString('utf8').slice(0, 500)}`];
  const isBodiless = request.method === 'HEAD' || status === 304;
  return [
    ...methodComplaints(operation, request, answer),
    ...headerComplaints(described, answer),
    ...(isBodiless ? emptyComplaints(answer) : bodyComplaints(described, answer)),
  ];
}

function methodComplaints(
  operation: DescribedOperation,
  { method }: FuzzRequest,
  { status }: FuzzAnswer,
): string[] {
  const isTaken = method === operation.method || (method === 'HEAD' && operation.method === 'GET');
  if (isTaken === (status !== 405)) return [];
  // What the parser does not know, or cannot read before the method is looked at, is malformed.
  return !isTaken && [400, 413, 414, 429].includes(status) ? [] : [`${method} was answered with ${status}`];
}

function headerComplaints({ headers }: DescribedResponse, { headers: sent }: FuzzAnswer): string[] {
  const missing = [...headers].filter(([name, { required }]) => required && !(name in sent));
  const unknown = Object.keys(sent).filter((name) => !headers.has(name) && !GENERAL_HEADERS.has(name));
  const wrong = Object.entries(sent).flatMap(([name, value]) =>
    (headers.get(name)?.complaints(value) ?? []).map((complaint) => `header ${name}: ${value}: ${complaint}`),
  );
  return [
    ...missing.map(([name]) => `the header ${name} is missing`),
    ...unknown.map((name) => `the header ${name} is not documented`),
    ...wrong,
  ];
}

function emptyComplaints({ body }: FuzzAnswer): string[] {
  return body.length === 0 ? [] : ['there is a body where none may be'];
}

function bodyComplaints({ content, codes }: DescribedResponse, { headers, body }: FuzzAnswer): string[] {
  const mediaType = (headers['content-type'] ?? '').split(';', 1)[0] ?? '';
  const check = content.get(mediaType);
  if (check === undefined) return [`the media type ${mediaType} is not documented`];
  if (check === null) return [];
  const parsed = parse(body);
  if (parsed === undefined) return ['the body is not JSON'];
  return [...check(parsed), ...codeComplaints(codes, parsed)].map(
    (complaint) => `${complaint} in ${body.toString('utf8').slice(0, 500)}`,
  );
}

function codeComplaints(codes: ReadonlySet<string>, problem: unknown): string[] {
  if (codes.size === 0) return [];
  const { code } = problem as { readonly code?: unknown };
  return typeof code === 'string' && codes.has(code)
    ? []
    : [`the code ${String(code)} is not documented for this status`];
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
