import type { Static } from '@sinclair/typebox';
import { usdNumber } from '../../../core/domain/amount.ts';
import { fail } from '../../../core/errors.ts';
import type { Caller, OperationDeps } from '../deps.ts';
import { timeText } from '../shapes.ts';
import {
  type ListedQuery,
  type SavedParameter,
  type SavedQuery,
  soldPrice,
  soldQu,
  WARM_QU,
} from './definition.ts';
import type { SavedDeps } from './saved-queries.ts';
import type { ListedQueryShape, PublicQueryShape, SavedQueryShape } from './shapes.ts';

/** Who may see a saved query, and which facts about it each of them sees. */

/** Whether the caller is of that organization. The key that is lent to all visitors of the console is a stranger to it. */
export function isOfOrganization({ organization, key }: Caller, organizationId: string | null): boolean {
  return organization !== null && organization.id === organizationId && key?.isLent !== true;
}

/** The organization of a caller that saves queries. Throws `api_key_required`. */
export function ownOrganization({ organization }: Caller): { readonly id: string } {
  if (organization !== null) return organization;
  throw fail('api_key_required', {
    detail: 'Send the key of an organization: only organizations save queries.',
  });
}

/** The query, where this caller may call it. The same refusal for one that is not there and one that is private. */
export async function visibleQuery(
  asked: { readonly owner: string; readonly slug: string; readonly version: number | undefined },
  { accounts }: Pick<SavedDeps, 'accounts'>,
  caller: Caller,
): Promise<{ readonly query: SavedQuery; readonly isOwn: boolean }> {
  const { owner, slug, version = null } = asked;
  const query = await accounts.saved.findByHandle({ owner, slug, version });
  const isOwn = query !== null && isOfOrganization(caller, query.organizationId);
  if (query !== null && (isOwn || query.settings.visibility !== 'private')) return { query, isOwn };
  throw noSuchQuery();
}

export function noSuchQuery(): Error {
  return fail('query_not_found', {
    detail: 'There is no saved query of this owner, slug and version that you may call.',
  });
}

/** The facts that everyone who may call it sees. The text stays with its organization where that hides it. */
export function publicAnswer(
  query: SavedQuery,
  isOwn: boolean,
  { deployment: { publicUrl } }: Pick<OperationDeps, 'deployment'>,
): Static<typeof PublicQueryShape> {
  const { owner, slug, version, latestVersion, content, settings } = query;
  const base = `${publicUrl}/v0/q/${owner}`;
  return {
    owner,
    slug,
    version,
    latest_version: latestVersion,
    title: content.title,
    description: content.description,
    sql: settings.hidesText && !isOwn ? null : content.sql,
    parameters: content.parameters.map(parameterAnswer),
    tier: content.tier,
    freshness_seconds: content.freshnessSeconds,
    visibility: settings.visibility,
    price: priceAnswer(content, settings),
    version_created_at: timeOf(query.versionCreatedAtMs),
    url: `${base}/${slug}${version === latestVersion ? '' : `?version=${version}`}`,
    openapi_url: `${base}/openapi.json`,
  };
}

function priceAnswer(
  content: Parameters<typeof soldQu>[0],
  settings: Parameters<typeof soldQu>[1],
): Static<typeof PublicQueryShape>['price'] {
  return {
    author_qu: settings.priceQu,
    warm_qu: WARM_QU + settings.priceQu,
    max_qu: soldQu(content, settings),
    x402_usd: usdNumber(soldPrice(content, settings).x402UsdMicros),
  };
}

/** A query in a list. */
export function listedAnswer(
  query: ListedQuery,
  { deployment: { publicUrl } }: Pick<OperationDeps, 'deployment'>,
): Static<typeof ListedQueryShape> {
  const { owner, slug, version, title, description, parameters, tier, visibility } = query;
  const url = `${publicUrl}/v0/q/${owner}/${slug}`;
  return {
    owner,
    slug,
    version,
    title,
    description,
    parameters: [...parameters],
    tier,
    visibility,
    price: priceAnswer(query, query),
    updated_at: timeOf(query.updatedAtMs),
    url,
    about_url: `${url}/about`,
  };
}

function parameterAnswer({ name, type, description, standard, example }: SavedParameter) {
  return { name, type, description, required: standard === null, default: standard, example };
}

export async function ownAnswer(
  query: SavedQuery,
  deps: Pick<SavedDeps, 'deployment' | 'accounts'>,
): Promise<Static<typeof SavedQueryShape>> {
  const { content, settings, nextRefreshAtMs } = query;
  return {
    ...publicAnswer(query, true, deps),
    ...(await refreshAnswer(query, deps)),
    max_qu: content.maxQu,
    max_rows: content.maxRows,
    hide_text: settings.hidesText,
    price_qu: settings.priceQu,
    refresh_seconds: settings.refreshSeconds,
    next_refresh_at: timeOrNull(nextRefreshAtMs),
    created_at: timeOf(query.createdAtMs),
    updated_at: timeOf(query.updatedAtMs),
  };
}

/** Whether its result is made anew, in whose name, and what the last run failed of. */
async function refreshAnswer(
  { organizationId, slug, settings: { refreshSeconds, scheduledBy = null }, nextRefreshAtMs }: SavedQuery,
  { accounts }: Pick<SavedDeps, 'accounts'>,
) {
  if (refreshSeconds === null) return { scheduled_by: null, refresh_state: null, refresh_failure: null };
  const [last] = await accounts.saved.refreshes({ organizationId, slug });
  const { code = null, detail = null } = last ?? {};
  return {
    scheduled_by: scheduledBy,
    refresh_state: nextRefreshAtMs === null ? ('stopped' as const) : ('scheduled' as const),
    refresh_failure: code === null ? null : { code, detail: detail ?? '' },
  };
}

export function timeOrNull(atMs: number | null): string | null {
  return atMs === null ? null : timeOf(atMs);
}

export function timeOf(atMs: number): string {
  return timeText(Math.floor(atMs / 1_000));
}
