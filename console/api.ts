import type { Problem } from '../client/index.ts';
import { createStore, useStore } from './store.ts';
import type { Account } from './wire.ts';

/** The `application/problem+json` of a failed request. `unreachable` and `unreadable` are codes of the console. Source: RFC 9457. */
type ProblemBody = Partial<Omit<Problem, 'code'>> &
  Pick<Problem, 'title' | 'status' | 'detail'> & {
    readonly code: Problem['code'] | 'unreachable' | 'unreadable';
  };

/** A request that failed. Branch on `body.code`, never on texts. An aborted request rejects with its `AbortError` instead. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly body: ProblemBody;
  /** Seconds until the same request may be sent again; null where repeating it would fail again, or the answer does not say. */
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

/** The problem in a failed answer; `unreadable` where it holds none. */
async function problemOf(response: Response): Promise<ApiProblem> {
  const body = await readProblem(response);
  const header = Number(response.headers.get('retry-after') ?? Number.NaN);
  const seconds = body.retry_after ?? header;
  return new ApiProblem(body, Number.isFinite(seconds) ? seconds : null);
}

async function readProblem(response: Response): Promise<ProblemBody> {
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json') === true;
  try {
    // Only the API of this origin answers below /v0 with that media type, in its declared shape.
    if (isProblem) return (await response.json()) as ProblemBody;
  } catch (error) {
    if (isAbort(error)) throw error;
  }
  return {
    title: 'The answer could not be read',
    status: response.status,
    code: 'unreadable',
    detail: `The server answered ${response.status} in a form that the console cannot read.`,
  };
}

function unreachable(cause: unknown): ApiProblem {
  const problem = new ApiProblem(
    {
      title: 'The API cannot be reached',
      status: 0,
      code: 'unreachable',
      detail: 'The service did not answer. It may be restarting, or the connection may be down.',
    },
    UNREACHABLE_RETRY_SECONDS,
  );
  problem.cause = cause;
  return problem;
}

const UNREACHABLE_RETRY_SECONDS = 5;

/**
 * The visitor’s API key. It is kept in the storage of the browser and sent in request headers; it never appears in an address, a title
 * or the text of a page. With the origin `visitor` it is a key that the deployment lends to every visitor, as the demo does.
 */
interface Session {
  readonly key: string | null;
  readonly origin: 'none' | 'entered' | 'visitor';
  /** Whether the key is kept after the tab is closed. */
  readonly remembered: boolean;
  /** Whether the API refused the visitor’s key: requests go without it until another is entered or the page is loaded again. */
  readonly isRefused: boolean;
}

const STORED_AS = 'six.key';

/** Without a key until `openSession`. */
export const session = createStore<Session>({
  key: null,
  origin: 'none',
  remembered: false,
  isRefused: false,
});

/** The key that the deployment lends to every visitor; null where it lends none. */
let lentKey: string | null = null;

/**
 * Takes the key that the visitor entered before, otherwise the one that is lent, and reads the account of it. Called once, by the entry. A frame of another site never
 * sends the visitor's own key.
 */
export function openSession(lent: string | null, { isFrame }: { readonly isFrame: boolean }): void {
  lentKey = lent;
  session.set(isFrame ? withoutOwnKey(false) : readSession());
}

export function enterKey(key: string, { remember }: { readonly remember: boolean }): void {
  forgetStored();
  (remember ? localStorage : sessionStorage).setItem(STORED_AS, key);
  session.set({ key, origin: 'entered', remembered: remember, isRefused: false });
}

/** Returns to the key that the deployment lends, or to none. */
export function forgetKey(): void {
  forgetStored();
  session.set(readSession());
}

function forgetStored(): void {
  sessionStorage.removeItem(STORED_AS);
  localStorage.removeItem(STORED_AS);
}

function readSession(): Session {
  const remembered = localStorage.getItem(STORED_AS);
  const key = sessionStorage.getItem(STORED_AS) ?? remembered;
  if (key !== null) return { key, origin: 'entered', remembered: remembered !== null, isRefused: false };
  return withoutOwnKey(false);
}

/** The key that the deployment lends, or none. */
function withoutOwnKey(isRefused: boolean): Session {
  return { key: lentKey, origin: lentKey === null ? 'none' : 'visitor', remembered: false, isRefused };
}

/** Requests to the API of this origin, with the visitor’s key in a header. They reject with an `ApiProblem` or the caller’s abort. */

const API_BASE = '/v0';

export type QueryValues = Readonly<Record<string, string | number | boolean | null | undefined>>;

interface GetOptions {
  /** Values that are null or undefined are left out. */
  readonly query?: QueryValues;
  readonly signal?: AbortSignal;
}

/** The JSON answer of a GET below /v0, such as `getJson<Flows>('/flows', { query: { limit: 20 } })`. */
export async function getJson<Answer>(
  path: string,
  { query = {}, signal }: GetOptions = {},
): Promise<Answer> {
  const response = await send(
    `${API_BASE}${path}${queryText(query)}`,
    signal === undefined ? {} : { signal },
  );
  return readJson<Answer>(response);
}

/** A POST below /v0. The caller reads the answer, whatever its media type. Aborting it closes the connection. */
export function post(path: string, body: unknown, signal: AbortSignal): Promise<Response> {
  return send(`${API_BASE}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
    signal,
  });
}

interface CallOptions {
  readonly method?: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  readonly query?: QueryValues;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** In place of `body`, sent as it is; `headers` say what it is. */
  readonly file?: Blob;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Any request below /v0. The caller reads the answer. */
export function callApi(
  path: string,
  { method = 'GET', query = {}, body, file, headers = {}, signal }: CallOptions = {},
): Promise<Response> {
  return send(`${API_BASE}${path}${queryText(query)}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(file === undefined ? {} : { body: file }),
    ...(signal === undefined ? {} : { signal }),
  });
}

type Change = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The JSON answer of a request that changes something: `change<Made>('POST', '/account/keys', { label })`. */
export async function change<Answer>(method: Change, path: string, body?: unknown): Promise<Answer> {
  return readJson<Answer>(await callApi(path, { method, body }));
}

/** Text as one segment of a path. */
export function segment(value: string): string {
  return encodeURIComponent(value);
}

/** Reads a whole JSON body. The API serves its declared shapes, and the page comes from the same version of the service. */
export function readJson<Answer>(response: Response): Promise<Answer> {
  return readBody(response, (whole) => whole.json() as Promise<Answer>);
}

/** Reads a body; a connection that breaks during it is the problem `unreachable`. */
export async function readBody<Body>(
  response: Response,
  read: (response: Response) => Promise<Body>,
): Promise<Body> {
  try {
    return await read(response);
  } catch (error) {
    throw isAbort(error) ? error : unreachable(error);
  }
}

async function send(url: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  const { key, origin } = session.get();
  if (key !== null) headers.set('x-api-key', key);
  let response: Response;
  try {
    response = await fetch(url, { ...init, headers, credentials: 'omit', referrerPolicy: 'no-referrer' });
  } catch (error) {
    throw isAbort(error) ? error : unreachable(error);
  }
  if (response.ok) return response;
  const problem = await problemOf(response);
  // A key that was revoked must not close the pages that need none.
  if (problem.body.code !== 'invalid_api_key' || origin !== 'entered') throw problem;
  if (session.get().key === key) session.set(withoutOwnKey(true));
  if ((init.method ?? 'GET') !== 'GET') throw problem;
  return send(url, init);
}

function queryText(query: QueryValues): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== undefined) params.set(name, String(value));
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

/** The answer of `/account` for the current key; null until the first one. */
export const account = createStore<Account | null>(null);
export const accountProblem = createStore<ApiProblem | null>(null);

/** Whether the key is the one that all visitors share: it has no history, no jobs and no saved queries. */
export function isLentKey(): boolean {
  return session.get().origin === 'visitor' || account.get()?.key?.is_lent === true;
}

/** `isLentKey` for a component, which is drawn again with another key. */
export function useIsLentKey(): boolean {
  useStore(session);
  useStore(account);
  return isLentKey();
}

/** Whether the dialog that takes a key is open. Any page may open it. */
export const isKeyDialogOpen = createStore(false);

let latest = 0;

/** Reads the account again: after a change of the key, and after a charge. */
export async function refreshAccount(): Promise<void> {
  latest += 1;
  const turn = latest;
  try {
    const answer = await getJson<Account>('/account');
    if (turn !== latest) return;
    if (answer.key_recognised === false && session.get().origin === 'entered') {
      session.set(withoutOwnKey(true));
      return;
    }
    account.set(answer);
    accountProblem.set(null);
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    if (turn === latest) accountProblem.set(error);
  }
}

/** Sets the balance that another answer reported, which saves a request. */
export function noteBalance(availableQu: number): void {
  const known = account.get();
  if (known?.balance) account.set({ ...known, balance: { ...known.balance, available_qu: availableQu } });
}

session.subscribe(() => {
  account.set(null);
  void refreshAccount();
});
