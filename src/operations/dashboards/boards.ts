import { createHash, timingSafeEqual } from 'node:crypto';
import { DEPLOYMENT_OWNER } from '../../../core/domain/dashboard.ts';
import { fail } from '../../../core/errors.ts';
import type { Caller } from '../deps.ts';
import type { SavedQuery } from '../saved/definition.ts';
import { isOfOrganization } from '../saved/describe.ts';
import type { SavedDeps } from '../saved/saved-queries.ts';
import type { Dashboard, Panel } from './definition.ts';
import { SHIPPED_DASHBOARDS } from './shipped.ts';
import { DEPLOYMENT_QUERIES } from './shipped-queries.ts';
import type { Standing } from './standing.ts';

/** Which dashboards and panels a caller sees. */

interface OwnBoard {
  readonly organizationId: string;
  readonly slug: string;
}

/** Dashboards of organizations. Rejects with a `Failure`. */
export interface Boards {
  find(board: OwnBoard): Promise<Dashboard | null>;
  /** By slug. */
  list(organizationId: string): Promise<readonly Dashboard[]>;
  /** Rejects with `query_limit` above what an organization may have. */
  save(
    board: OwnBoard & {
      readonly content: Dashboard['content'];
      readonly settings: Pick<Dashboard, 'visibility' | 'tokenDigest'>;
    },
  ): Promise<Dashboard>;
  /** False where there was none. */
  remove(board: OwnBoard): Promise<boolean>;
}

export interface BoardDeps extends SavedDeps {
  readonly accounts: SavedDeps['accounts'] & { readonly boards: Boards };
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
  { owner, slug, token }: Asked,
  { accounts }: Pick<BoardDeps, 'accounts'>,
  caller: Caller,
): Promise<FoundBoard> {
  const shipped = owner === DEPLOYMENT_OWNER ? SHIPPED_DASHBOARDS.get(slug) : undefined;
  if (shipped !== undefined) return { board: shipped, isOwn: false, organizationId: null, isTrusted: false };
  const organizationId = await accounts.saved.ownerOf(owner);
  if (organizationId === null) throw noSuchBoard();
  const board = await accounts.boards.find({ organizationId, slug });
  if (board === null) throw noSuchBoard();
  const isOwn = isOfOrganization(caller, organizationId);
  const isTrusted = isOwn || isTokenOf(board, token);
  if (board.visibility === 'private' && !isTrusted) throw noSuchBoard();
  return { board, isOwn, organizationId, isTrusted };
}

export function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function isTokenOf({ tokenDigest }: Dashboard, token: string | undefined): boolean {
  if (tokenDigest === null || token === undefined) return false;
  return timingSafeEqual(Buffer.from(digestOf(token), 'hex'), Buffer.from(tokenDigest, 'hex'));
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
