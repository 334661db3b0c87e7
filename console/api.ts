import { isAbort, problemOf, unreachable } from './problem.ts';
import { session } from './session.ts';

/** Requests to the API of this very origin, with the visitor’s key in a header. Errors are `ApiProblem`s or the caller’s own abort. */

const API_BASE = '/v0';

export type QueryValues = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface AskOptions {
  /** Values that are null or undefined are left out. */
  readonly query?: QueryValues;
  readonly signal?: AbortSignal;
}

/** The JSON answer of a GET below /v0, such as `getJson<Flows>('/flows', { query: { limit: 20 } })`. */
export async function getJson<Answer>(
  path: string,
  { query = {}, signal }: AskOptions = {},
): Promise<Answer> {
  const response = await send(
    `${API_BASE}${path}${queryText(query)}`,
    signal === undefined ? {} : { signal },
  );
  // The declared answer of our own API, of the same version as this page.
  return (await readWhole(response, (whole) => whole.json())) as Answer;
}

/** A POST below /v0 whose answer is read by the caller, for any media type. Aborting it closes the connection. */
export function post(path: string, body: unknown, signal: AbortSignal): Promise<Response> {
  return send(`${API_BASE}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
    signal,
  });
}

/** A path segment: what a visitor typed never becomes another path. */
export function segment(value: string): string {
  return encodeURIComponent(value);
}

/** Reads the body; a connection that breaks meanwhile is a problem like any other. */
export async function readWhole<Whole>(
  response: Response,
  read: (response: Response) => Promise<Whole>,
): Promise<Whole> {
  try {
    return await read(response);
  } catch (error) {
    throw isAbort(error) ? error : unreachable(error);
  }
}

async function send(url: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  const { key } = session.get();
  if (key !== null) headers.set('x-api-key', key);
  let response: Response;
  try {
    response = await fetch(url, { ...init, headers, credentials: 'omit', referrerPolicy: 'no-referrer' });
  } catch (error) {
    throw isAbort(error) ? error : unreachable(error);
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

function queryText(query: QueryValues): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== undefined) params.set(name, String(value));
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}
