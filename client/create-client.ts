import { Call, ListCall, type Paging, type RepeatableOptions } from './call.ts';
import { createJobMethods, type JobMethods } from './jobs.ts';
import { type Operations, ROUTES } from './operations.ts';
import { createWallet, type Payer, type Receipt } from './payment.ts';
import { type Connection, type RetryOptions, retryPolicy, send } from './send.ts';
import { createSqlMethods, type SqlMethods } from './sql.ts';

/** The client, for Node 20.19 and later and for browsers. It needs `fetch` only. */

export interface ClientOptions {
  /** The address of the service, such as `https://index.example`, with or without a base path (`/v0`, `/api/v0`). */
  readonly url: string;
  /** An API key, or a bearer token of the deployment’s issuer. Without one, only free routes and paid calls work. */
  readonly key?: string | undefined;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Signs payments for calls that require one (402): `payWith(x402Client)`, or your own. Without a payer a 402 is an error. */
  readonly payer?: Payer | undefined;
  /** The most that one call may cost over x402, dollars as a decimal text. Default `'0.10'`. */
  readonly maxUsd?: string | undefined;
  /** The most that this client may sign for in total, dollars as a decimal text. Default: no limit. */
  readonly maxTotalUsd?: string | undefined;
  /** More tokens that are worth a dollar, with their decimals: `{ 'eip155:8453/0x…': 6 }`. Other tokens are never used to pay. */
  readonly offerTokens?: Readonly<Record<string, number>> | undefined;
  /** Called for each settled payment, including those for single pages. */
  readonly onReceipt?: ((receipt: Receipt) => void) | undefined;
  /** `false` turns retries off. */
  readonly retry?: RetryOptions | false | undefined;
}

export interface Client extends Operations, SqlMethods, JobMethods {
  /** Dollars that the payer has signed for, as a decimal text, whether or not they were settled. */
  signedUsd(): string;
}

/**
 * A client of the service at `url`. Creating it sends nothing. Calls reject with a `SettlementIndexError`, or with the reason of their
 * signal. Throws a `TypeError` for invalid options.
 */
export function createClient(options: ClientOptions): Client {
  const { payer, key } = options;
  if (key !== undefined && !KEY.test(key))
    throw new TypeError('key contains characters that no key has, such as white space');
  const wallet = payer === undefined ? null : createWallet({ ...options, payer });
  const connection: Connection = {
    base: baseOf(options.url),
    key,
    // Looked up at each call, so that a later replacement is used. Browsers require a call without `this`.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    wallet,
    retry: retryPolicy(options.retry),
    onReceipt: options.onReceipt,
  };
  return {
    ...operationsOf(connection),
    ...createSqlMethods(connection),
    ...createJobMethods(connection),
    signedUsd: () => wallet?.signedUsd() ?? '0',
  };
}

/** Visible ASCII, which a header can hold. */
const KEY = /^[\x21-\x7e]+$/;
const BASE_PATH = '/v0';

function baseOf(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new TypeError(
      'url must be the http or https address of the service, such as https://index.example',
    );
  const { origin, pathname } = new URL(url);
  const path = pathname.replace(/(?<!\/)\/+$/, '');
  return `${origin}${path.endsWith(BASE_PATH) ? path : `${path}${BASE_PATH}`}`;
}

type Given = Readonly<Record<string, unknown>>;

interface AnyRoute extends Partial<Paging> {
  readonly path: string;
  readonly mintsKey?: boolean;
}

function operationsOf(connection: Connection): Operations {
  const methods = Object.entries<AnyRoute>(ROUTES).map(([id, route]) => [
    id,
    (given: Given = {}, options: RepeatableOptions = {}) => call(connection, route, given, options),
  ]);
  return Object.fromEntries(methods) as Operations; // written from the same declarations as ROUTES
}

/** Rows on a page of `pages()` and `items()` by default: the maximum of the service, for the fewest requests. */
const PAGE_ROWS_MAX = 100;

function call(
  connection: Connection,
  route: AnyRoute,
  given: Given,
  options: RepeatableOptions,
): Call<unknown> {
  const key = options.idempotencyKey ?? (route.mintsKey === true ? crypto.randomUUID() : undefined);
  const sender = (params: Given) => () =>
    send(connection, {
      method: 'GET',
      path: pathOf(route.path, params),
      accept: 'application/json',
      reads: 'json',
      idempotencyKey: key,
      options,
    });
  const { rows, paging } = route;
  if (rows === undefined || paging === undefined) return new Call(sender(given));
  const page = (from: string | number | null) =>
    new Call(sender({ limit: PAGE_ROWS_MAX, ...given, ...(from === null ? {} : { [paging]: from }) }));
  return new ListCall(page, sender(given), { rows, paging });
}

/** The path with its parameters filled in, and the other parameters as query. */
function pathOf(path: string, params: Given): string {
  const query = new URLSearchParams();
  let filled = path;
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue;
    const place = `{${name}}`;
    if (filled.includes(place)) filled = filled.replace(place, () => encodeURIComponent(String(value)));
    else query.set(name, String(value));
  }
  const text = query.toString();
  return text === '' ? filled : `${filled}?${text}`;
}
