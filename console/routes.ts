/** Addresses of the console's pages. Pure, so that tests can run it outside a browser. */

export const CONSOLE_BASE = '/console';

export type RouteParams = Readonly<Record<string, string>>;

/** The props of every page: the `:names` in its path, and the query of the address. */
export interface PageProps {
  readonly params: RouteParams;
  readonly query: URLSearchParams;
}

/** The query of an address. A page is about all chains unless its address names one, so `chain=all` is the same as none. */
export function pageQuery(search: string): URLSearchParams {
  const query = new URLSearchParams(search);
  if (query.get('chain') === 'all') query.delete('chain');
  return query;
}

/** The values of the `:names` of a pattern such as `/merchants/:address`; null where the path does not match. */
export function matchRoute(pattern: string, path: string): RouteParams | null {
  const wanted = segmentsOf(pattern);
  const given = segmentsOf(path);
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const value = given[index] ?? '';
    if (segment.startsWith(':')) params[segment.slice(1)] = decoded(value);
    else if (segment !== value) return null;
  }
  return params;
}

/** The path below `/console` of an address of the browser; null for an address outside the console. */
export function consolePath(pathname: string): string | null {
  if (pathname === CONSOLE_BASE || pathname === `${CONSOLE_BASE}/`) return '/';
  return pathname.startsWith(`${CONSOLE_BASE}/`) ? pathname.slice(CONSOLE_BASE.length) : null;
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // not valid percent-encoding: used as it was typed
  }
}

export type WalletRole = 'payer' | 'payee';

/** The page of a wallet: a payee opens as a merchant, a payer as an agent. */
export function walletPath(wallet: string, role: WalletRole): string {
  return role === 'payee' ? `/merchants/${wallet}` : `/agents/${wallet}`;
}

/** The page of one transaction. */
export function transactionPath(hash: string, chain?: string): string {
  return `/transactions/${hash}${chain === undefined ? '' : `?chain=${encodeURIComponent(chain)}`}`;
}

/** The page of a payment channel or escrowed payment. */
export function channelPath(id: string): string {
  return `/channels/${id}`;
}

/** The page of what one wallet paid another. */
export function pairPath(payer: string, payee: string): string {
  return `/pairs/${payer}/${payee}`;
}

/** The page of a listed endpoint. Its URL is in the query: proxies refuse addresses with an encoded `/` in their path. */
export function endpointPath(resource: string, method?: string): string {
  const query = new URLSearchParams({ url: resource, ...(method === undefined ? {} : { method }) });
  return `/endpoints/${encodeURIComponent(hostOf(resource))}?${query.toString()}`;
}

/** The host of a URL, or the text itself where it is none. */
export function hostOf(resource: string): string {
  try {
    return new URL(resource).host;
  } catch {
    return resource;
  }
}

/** The limit of the API's parameter. */
export const SEARCH_TEXT_MAX = 100;

/** The named parameters that are set in an address, for the query of a request. */
export function pick(query: URLSearchParams, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = query.get(name);
    if (value !== null && value !== '') picked[name] = value;
  }
  return picked;
}

/** The `offset` of an address; 0 where it is missing or not a number. */
export function offsetOf(query: URLSearchParams): number {
  const text = query.get('offset') ?? '0';
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

/** A path with the current query and some changes; null and '' remove a parameter. */
export function withQuery(
  path: string,
  query: URLSearchParams,
  changes: Readonly<Record<string, string | null>>,
): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** The page of a facilitator. */
export function facilitatorPath(id: string): string {
  return `/facilitators/${encodeURIComponent(id)}`;
}
