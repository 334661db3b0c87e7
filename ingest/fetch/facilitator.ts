import { BodyTooLarge, readBounded } from '../../core/bounded-body.ts';
import { withDeadline } from '../../core/process/deadline.ts';

/**
 * Sends a GET request to a configured facilitator. Its URL is trusted, its answer is not: bounded in time and size, and redirects are
 * never followed.
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
      /** Status of a refused or redirected answer; null without an answer. */
      readonly status: number | null;
      /** What `Retry-After` asks for; null where it asks for nothing. */
      readonly retryAfterMs: number | null;
    };

/** Throws only when `signal` aborts. */
export async function askFacilitator(
  { url, path, query = {}, maxBytes, timeoutMs }: FacilitatorQuestion,
  signal: AbortSignal,
): Promise<FacilitatorAnswer> {
  return withDeadline(timeoutMs, signal, async (deadline) => {
    try {
      const response = await fetch(urlOf(url, path, query), {
        redirect: 'manual',
        headers: { accept: 'application/json', ...credentialsOf(url) },
        signal: deadline.signal,
      });
      if (response.status >= 300 && response.status < 400) return await drop(response, 'redirected');
      if (!response.ok) return await drop(response, 'refused');
      return { ok: true, text: (await readBounded(response.body, maxBytes)).toString('utf8') };
    } catch (error) {
      signal.throwIfAborted();
      if (deadline.isOver()) return failed('timeout');
      if (error instanceof BodyTooLarge) return failed('too_large');
      // fetch reports a connection that failed and a broken body by the same TypeError.
      if (error instanceof TypeError) return failed('unreachable');
      throw error;
    }
  });
}

/** `fetch` rejects credentials in a URL, so they are sent as the equivalent header. */
function urlOf(url: string, path: string, query: Readonly<Record<string, string>>): URL {
  const asked = new URL(url);
  asked.username = '';
  asked.password = '';
  asked.pathname = `${asked.pathname.replace(/(?<!\/)\/+$/, '')}/${path}`;
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
