import type { RouteParams } from './route-match.ts';

/** What every page gets: the `:names` of its path, and the query of the address. */
export interface PageProps {
  readonly params: RouteParams;
  readonly query: URLSearchParams;
}
