import { DEPLOYMENT_OWNER } from '../../../core/domain/dashboard.ts';
import { fail } from '../../../core/errors.ts';
import type { Caller } from '../deps.ts';
import type { SavedQuery } from '../saved/definition.ts';
import type { SavedDeps } from '../saved/saved-queries.ts';
import type { Dashboard, Panel } from './definition.ts';
import { SHIPPED_DASHBOARDS } from './shipped.ts';
import { DEPLOYMENT_QUERIES } from './shipped-queries.ts';
import type { Standing } from './standing.ts';

/** Which dashboards and panels a caller sees. */

export interface BoardDeps extends SavedDeps {
  /** Null where this deployment keeps no results. */
  readonly standing: Standing | null;
}

export interface FoundBoard {
  readonly board: Dashboard;
  readonly isOwn: boolean;
  /** Null for the dashboards of the deployment. */
  readonly organizationId: string | null;
  /** Whether the caller sees what only its owner shows: it is of the owner, or has the token. */
  readonly isTrusted: boolean;
}

interface Asked {
  readonly owner: string;
  readonly slug: string;
  readonly token: string | undefined;
}

/** The same refusal for one that is not there and one that this caller may not open. */
export async function visibleBoard(
  { owner, slug }: Asked,
  _deps: BoardDeps,
  _caller: Caller,
): Promise<FoundBoard> {
  const shipped = owner === DEPLOYMENT_OWNER ? SHIPPED_DASHBOARDS.get(slug) : undefined;
  if (shipped !== undefined) return { board: shipped, isOwn: false, organizationId: null, isTrusted: false };
  throw noSuchBoard();
}

export function noSuchBoard(): Error {
  return fail('dashboard_not_found', {
    detail: 'There is no dashboard of this owner and slug that you may open.',
  });
}

/** The query of a panel, where this reader may see its rows; null otherwise. */
export async function queryOfPanel(
  { query: slug }: Panel,
  { organizationId, isTrusted }: FoundBoard,
  { accounts }: Pick<BoardDeps, 'accounts'>,
): Promise<SavedQuery | null> {
  if (slug === null) return null;
  if (organizationId === null) return DEPLOYMENT_QUERIES.get(slug) ?? null;
  const query = await accounts.saved.find({ organizationId, slug, version: null });
  return isTrusted || query?.settings.visibility !== 'private' ? query : null;
}
