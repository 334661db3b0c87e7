/** Reads untrusted JSON. Own properties only: `__proto__` is an ordinary field. */

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The first of the names that is an own field with a value; undefined when there is none. */
export function fieldOf(value: unknown, ...names: readonly string[]): unknown {
  if (!isObject(value)) return undefined;
  const name = names.find((one) => Object.hasOwn(value, one) && value[one] !== null);
  return name === undefined ? undefined : value[name];
}

/** The field at the end of a path; undefined where any step is missing. */
export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((inner, name) => fieldOf(inner, name), value);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The first of them that is a non-empty text, or ''. */
export function firstText(...values: readonly unknown[]): string {
  const found = values.find((value) => typeof value === 'string' && value !== '');
  return typeof found === 'string' ? found : '';
}

/**
 * Fetches documents whose URIs come from untrusted data: agent cards, feedback files, domain proofs, discovery answers. Every such
 * request goes through here.
 *
 * Contract: `data:` is decoded without a connection, `ipfs:` goes through the configured gateways, `https:` (and `http:` where
 * the deployment allows it) connects only to public addresses, decided on the address that is really connected to, at each hop
 * of at most a few redirects. Time, size (as sent and decompressed), header size and hops are bounded.
 * Whatever the remote side does ends in a `FetchProblem`; it throws only when `signal` aborts.
 */
export interface DocumentFetcher {
  fetch(uri: string, options: FetchOptions): Promise<FetchedDocument>;
}

export interface FetchOptions {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Media types that are taken, without parameters, lower case; undefined takes any. */
  readonly mediaTypes?: readonly string[];
  /** Headers to send in addition to the usual ones. Dropped on a redirect to another origin. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type FetchedDocument =
  | { readonly ok: true; readonly bytes: Uint8Array; readonly mediaType: string; readonly finalUrl: string }
  | { readonly ok: false; readonly problem: FetchProblem };

/** Why there is no file: a code that may be stored, logged and shown. */
export const FETCH_PROBLEMS = {
  empty_uri: { retry: false, meaning: 'No URI is set.' },
  unsupported_scheme: { retry: false, meaning: 'The URI is neither data, https nor ipfs.' },
  malformed_uri: { retry: false, meaning: 'The URI cannot be read.' },
  forbidden_address: {
    retry: true,
    meaning: 'The host is, or resolves to, a private, loopback or otherwise reserved address.',
  },
  forbidden_port: { retry: false, meaning: 'The URL names a port that is not allowed.' },
  name_not_found: { retry: true, meaning: 'The host name does not resolve.' },
  unreachable: {
    retry: true,
    meaning: 'The host refused or broke the connection, or its certificate is not valid.',
  },
  timeout: { retry: true, meaning: 'The file did not arrive in time.' },
  too_large: { retry: true, meaning: 'The file is larger than is read.' },
  too_many_redirects: { retry: true, meaning: 'The host redirects too often.' },
  broken_encoding: { retry: true, meaning: 'The file is packed in a way that cannot be read.' },
  refused: { retry: true, meaning: 'The host answered with an error status.' },
  wrong_media_type: { retry: true, meaning: 'The file is of another type than JSON or text.' },
} as const satisfies Record<string, { readonly retry: boolean; readonly meaning: string }>;

export type FetchProblem = keyof typeof FETCH_PROBLEMS;

/** Thrown inside the fetcher, which returns it as a problem; never leaves the fetcher. */
export class FetchFailed extends Error {
  readonly problem: FetchProblem;

  constructor(problem: FetchProblem, cause?: unknown) {
    super(problem, { cause });
    this.name = 'FetchFailed';
    this.problem = problem;
  }
}

/** Media types under which JSON files are served, including text and what gateways guess. HTML is not read. */
export const FILE_MEDIA_TYPES: readonly string[] = [
  'application/json',
  'application/ld+json',
  'text/json',
  'text/plain',
  'application/octet-stream',
  'binary/octet-stream',
  '',
];
