/** Why no answer of the service could be passed on, in words for whoever reads the client’s window. */
export class ServiceTrouble extends Error {
  /** The problem object of the service, where there was one. */
  readonly problem: unknown;
  /** Whether the message certainly did nothing, so that it can be sent again. */
  readonly harmless: boolean;

  constructor(message: string, facts: { readonly problem?: unknown; readonly harmless?: boolean } = {}) {
    super(message);
    this.name = 'ServiceTrouble';
    this.problem = facts.problem;
    this.harmless = facts.harmless ?? false;
  }
}

/** Failures before a request could have arrived anywhere. */
const NOT_ARRIVED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** For a request that failed without an answer. */
export function unreachable(shown: string, error: unknown): ServiceTrouble {
  const code = codeOf(error);
  if (code !== null && NOT_ARRIVED.has(code))
    return new ServiceTrouble(
      `Settlement Index at ${shown} does not answer (${code}). Is it running, and is --url right?`,
      { harmless: true },
    );
  return new ServiceTrouble(
    `The connection to Settlement Index at ${shown} ended before the answer came${code === null ? '' : ` (${code})`}. The call may have been made, and charged if it costs units.`,
  );
}

/** Node puts the system's code on the cause of what `fetch` throws. */
function codeOf(error: unknown): string | null {
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    if ('code' in at && typeof at.code === 'string') return at.code;
  return null;
}

const REDIRECTS = /^3/;
const UNAVAILABLE = 503;

interface Refusal {
  readonly status: number;
  readonly location: string | null;
  readonly body: unknown;
}

/** For an answer that is no message of the protocol. */
export function refusal(shown: string, { status, location, body }: Refusal): ServiceTrouble {
  if (REDIRECTS.test(String(status)))
    return new ServiceTrouble(
      `${shown} redirects to ${originOf(location)}: if that is the service, give it as --url. The key is not sent along.`,
    );
  if (isProblem(body))
    return new ServiceTrouble(`${body.code}: ${body.detail}`, {
      problem: body,
      harmless: status === UNAVAILABLE,
    });
  return new ServiceTrouble(
    `${shown} is not a Settlement Index, or something in between answers for it (status ${status}). --url is the address of the service, such as https://index.example.`,
    { harmless: status === UNAVAILABLE },
  );
}

function originOf(location: string | null): string {
  return location !== null && URL.canParse(location) ? new URL(location).origin : 'another place';
}

function isProblem(body: unknown): body is { readonly code: string; readonly detail: string } {
  if (typeof body !== 'object' || body === null) return false;
  return typeof Reflect.get(body, 'code') === 'string' && typeof Reflect.get(body, 'detail') === 'string';
}
