/**
 * Asks a facilitator that the operator has configured. The URL is trusted, what it answers is not: bounded in time and size,
 * never redirected elsewhere.
 */

/** Why an answer was not used; a code that may be logged and shown, never the facilitator's own words. */
export type AskProblem = 'unreachable' | 'timeout' | 'redirected' | 'refused' | 'too_large' | 'not_json';

export interface FacilitatorQuestion {
  /** The facilitator's base, with or without a slash; may hold credentials, which are never logged. */
  readonly url: string;
  /** Below the base, without a slash at its front. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

export type FacilitatorAnswer =
  | { readonly ok: true; readonly text: string }
  | {
      readonly ok: false;
      readonly problem: AskProblem;
      /** Of an answer that was refused or redirected; null without one. */
      readonly status: number | null;
      /** What `Retry-After` asks for; null where it asks for nothing. */
      readonly retryAfterMs: number | null;
    };

/** Throws only when `signal` aborts. */
export async function askFacilitator(
  { url, path, query = {}, maxBytes, timeoutMs }: FacilitatorQuestion,
  signal: AbortSignal,
): Promise<FacilitatorAnswer> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(urlOf(url, path, query), {
      redirect: 'manual',
      headers: { accept: 'application/json', ...credentialsOf(url) },
      signal: AbortSignal.any([signal, timeout]),
    });
    if (response.status >= 300 && response.status < 400) return await drop(response, 'redirected');
    if (!response.ok) return await drop(response, 'refused');
    const text = await textWithin(response, maxBytes);
    return text === null ? failed('too_large') : { ok: true, text };
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) return failed('timeout');
    // fetch tells a connection that failed and a broken body by the same TypeError.
    if (error instanceof TypeError) return failed('unreachable');
    throw error;
  }
}

/** `fetch` refuses credentials inside a URL; they travel as the header that they mean. */
function urlOf(url: string, path: string, query: Readonly<Record<string, string>>): URL {
  const asked = new URL(url);
  asked.username = '';
  asked.password = '';
  asked.pathname = `${asked.pathname.replace(/\/+$/, '')}/${path}`;
  for (const [name, value] of Object.entries(query)) asked.searchParams.set(name, value);
  return asked;
}

function credentialsOf(url: string): Record<string, string> {
  const { username, password } = new URL(url);
  if (username === '' && password === '') return {};
  const plain = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(plain).toString('base64')}` };
}

async function drop(response: Response, problem: AskProblem): Promise<FacilitatorAnswer> {
  await response.body?.cancel();
  const seconds = /^\d{1,6}$/.exec(response.headers.get('retry-after') ?? '')?.[0];
  return {
    ok: false,
    problem,
    status: response.status,
    retryAfterMs: seconds === undefined ? null : Number(seconds) * 1_000,
  };
}

function failed(problem: AskProblem): FacilitatorAnswer {
  return { ok: false, problem, status: null, retryAfterMs: null };
}

/** Null when there is more; the rest is not read. */
async function textWithin(response: Response, maxBytes: number): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return null; // leaving the loop cancels the body
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
