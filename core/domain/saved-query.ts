/** Saved queries: how their owners and they themselves are named, and what their authors can set. */

/** `unlisted`: every caller who knows its address may call it. */
export const VISIBILITIES = ['private', 'unlisted', 'public'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

export const SLUG_MAX_CHARS = 64;
export const HANDLE_MIN_CHARS = 3;
export const HANDLE_MAX_CHARS = 32;
/** Lower-case letters and digits, single hyphens between them. */
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Names a query among its owner's queries. */
export function isSlug(text: string): boolean {
  return text.length <= SLUG_MAX_CHARS && NAME.test(text);
}

/** Handles that would read like a part of the service. */
const RESERVED = new Set([
  'account',
  'admin',
  'administrator',
  'anonymous',
  'api',
  'docs',
  'help',
  'info',
  'mcp',
  'official',
  'openapi',
  'operator',
  'owner',
  'public',
  'queries',
  'root',
  'security',
  'settlement-index',
  'settlements',
  'staff',
  'support',
  'system',
  'www',
  'x402',
]);
const RESERVED_SKELETONS = new Set([...RESERVED].map(skeletonOf));

/** Whether a text has the form of a handle: begins with a letter, and is not reserved nor looks like a reserved one. */
export function isHandle(text: string): boolean {
  return (
    text.length >= HANDLE_MIN_CHARS &&
    text.length <= HANDLE_MAX_CHARS &&
    NAME.test(text) &&
    /^[a-z]/.test(text) &&
    !RESERVED_SKELETONS.has(skeletonOf(text))
  );
}

/** The same for handles that a reader takes for one another: only one of them is given away. */
export function skeletonOf(handle: string): string {
  return handle
    .replaceAll('-', '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replaceAll('0', 'o')
    .replaceAll('5', 's')
    .replace(/[1i]/g, 'l');
}

/** Between two runs that keep a result warm. */
export const REFRESH_MIN_SECONDS = 15 * 60;
export const REFRESH_MAX_SECONDS = 7 * 86_400;
/** After failures the time between two runs doubles, up to this. */
const REFRESH_BACKOFF_MAX_SECONDS = 28 * 86_400;
/** Runs of a query that are listed, the newest. */
export const REFRESH_RUNS_KEPT = 100;

/** Until the next run after so many failures in a row. */
export function refreshDelayMs(everySeconds: number, failures: number): number {
  const doubled = everySeconds * 2 ** Math.min(failures, 30);
  return Math.min(doubled, Math.max(everySeconds, REFRESH_BACKOFF_MAX_SECONDS)) * 1_000;
}

/** Queries of an organization, and versions of one query that are kept. */
export const SAVED_QUERIES_MAX = 500;
export const QUERY_VERSIONS_MAX = 200;

/** Query Units that an author may ask for one call. */
export const AUTHOR_PRICE_MAX_QU = 10_000;
