import { BodyTooLarge, readBounded } from '../../core/bounded-body.ts';
import { withDeadline } from '../../core/process/deadline.ts';

/** Asks another service over HTTP, once, with a bound on time and size. */

export interface JsonQuestion {
  /** May hold credentials: appears in no error. */
  readonly url: string;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly bytesMax: number;
  readonly signal?: AbortSignal | undefined;
}

export interface JsonAnswer {
  readonly status: number;
  /** Undefined when it is no JSON. */
  readonly body: unknown;
}

/** No whole answer came. Its message is a code, without URL, header or body. */
export class NoAnswer extends Error {
  /** False only when it is certain that nothing left us: no connection could be made. */
  readonly sent: boolean;

  constructor(code: string, sent: boolean) {
    super(`no answer (${code})`);
    this.name = 'NoAnswer';
    this.sent = sent;
  }
}

/** These arise while connecting, before the first byte of a request is written. */
const CONNECT_CODES: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

/** Resolves with any status. Rejects with `NoAnswer` only. Never follows a redirect: the body can be spendable. */
export function postJson({ body, ...question }: JsonQuestion): Promise<JsonAnswer> {
  const headers = { ...question.headers, 'content-type': 'application/json' };
  return ask({ ...question, headers }, { method: 'POST', body: JSON.stringify(body) });
}

/** As `postJson`, for what is only read. */
export function getJson(question: Omit<JsonQuestion, 'body'>): Promise<JsonAnswer> {
  return ask(question, { method: 'GET' });
}

async function ask(
  { url, headers = {}, timeoutMs, bytesMax, signal }: Omit<JsonQuestion, 'body'>,
  request: { readonly method: string; readonly body?: string },
): Promise<JsonAnswer> {
  try {
    return await withDeadline(timeoutMs, signal, async (deadline) => {
      const response = await fetch(url, {
        ...request,
        redirect: 'error',
        headers: { ...headers, accept: 'application/json' },
        signal: deadline.signal,
      });
      const body = await readBounded(response.body, bytesMax);
      return { status: response.status, body: parse(body.toString('utf8')) };
    });
  } catch (cause) {
    const code = codeOf(cause);
    throw new NoAnswer(code, !CONNECT_CODES.has(code));
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A system code (`ECONNRESET`) or the name of the error; never its text, which can quote the URL. */
function codeOf(error: unknown): string {
  if (error instanceof BodyTooLarge) return 'too large';
  if (!(error instanceof Error)) return 'unknown';
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return error.name;
}
