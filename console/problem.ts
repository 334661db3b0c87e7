/** What the API answers when it refuses, `application/problem+json`; the fields that the console uses. Source: RFC 9457. */
export interface ProblemBody {
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** From the list in docs/reference/errors.md; `unreachable` and `unreadable` are ours: no answer, or not one of the API. */
  readonly code: string;
  readonly request_id?: string;
  readonly parameter?: string;
  readonly resource?: string;
  readonly retry_after?: number;
  readonly reason?: string;
  readonly position?: { readonly line: number; readonly column: number };
  readonly near?: string;
  readonly hint?: string;
  readonly usage?: { readonly units_charged: number; readonly balance: number | null };
}

/** Thrown by everything in api.ts. Branch on `body.code`, never on texts. An abort is not a problem: it stays an `AbortError`. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly body: ProblemBody;
  /** Seconds after which the same request may be sent again; null where it would fail again, or nobody knows. */
  readonly retryAfterSeconds: number | null;

  constructor(body: ProblemBody, retryAfterSeconds: number | null) {
    super(body.detail);
    this.body = body;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** A refused answer as a problem; one without a readable body is `unreadable`. */
export async function problemOf(response: Response): Promise<ApiProblem> {
  const body = await readBody(response);
  const header = Number(response.headers.get('retry-after') ?? Number.NaN);
  const seconds = body.retry_after ?? header;
  return new ApiProblem(body, Number.isFinite(seconds) ? seconds : null);
}

async function readBody(response: Response): Promise<ProblemBody> {
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json') === true;
  try {
    // The API’s own declared shape: nobody else answers on this origin’s /v0 with that media type.
    if (isProblem) return (await response.json()) as ProblemBody;
  } catch (error) {
    if (isAbort(error)) throw error;
  }
  return {
    title: 'The answer could not be read',
    status: response.status,
    code: 'unreadable',
    detail: `The server answered ${response.status}, and not in a form that the console knows.`,
  };
}

export function unreachable(cause: unknown): ApiProblem {
  const problem = new ApiProblem(
    {
      title: 'The API cannot be reached',
      status: 0,
      code: 'unreachable',
      detail: 'No answer came. The service may be restarting, or the connection is down.',
    },
    UNREACHABLE_RETRY_SECONDS,
  );
  problem.cause = cause;
  return problem;
}

const UNREACHABLE_RETRY_SECONDS = 5;
