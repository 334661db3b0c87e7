/** Addresses of the console's pages. Pure: also run by tests outside of a browser. */

export const CONSOLE_BASE = '/console';

export type RouteParams = Readonly<Record<string, string>>;

/** The values of the `:names` of a pattern such as `/merchants/:address`, or null where the path is another one. */
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

/** The path below `/console` of an address of the browser; null for one outside of the console. */
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
    return segment; // typed by hand: shown as it is, and found nowhere
  }
}
