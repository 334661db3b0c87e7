import { Type } from '@sinclair/typebox';
import { mintQueryCursor, type QueryPosition, readQueryCursor } from '../../../core/domain/cursor.ts';
import { beforeParam, limitParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import { PRICES } from '../prices.ts';
import { NextBeforeShape } from '../shapes.ts';
import { type CursorKind, nextBefore, readBefore } from '../walk.ts';
import type { ListedQuery } from './definition.ts';
import { isOfOrganization, listedAnswer, noSuchQuery, publicAnswer, visibleQuery } from './describe.ts';
import { ownerDocument } from './document.ts';
import { ownerParam, searchParam, slugParam, versionParam } from './params.ts';
import type { SavedDeps, SavedQueries } from './saved-queries.ts';
import { LISTED_QUERY_EXAMPLE, ListedQueryShape, PUBLIC_QUERY_EXAMPLE, PublicQueryShape } from './shapes.ts';

/** What everyone sees of saved queries. */

const QUERY_CURSOR: CursorKind<QueryPosition> = { mint: mintQueryCursor, read: readQueryCursor };
const SCOPE = 'listPublicQueries';
/** Entries that one call with `search` looks at: a page can be short and go on. */
const SEARCHED_MAX = 500;

export const listPublicQueries = defineOperation({
  id: 'listPublicQueries',
  wire: {
    path: '/q',
    params: { search: searchParam, limit: { ...limitParam, toolText: '' }, before: beforeParam },
    output: Type.Object({ queries: Type.Array(ListedQueryShape), next_before: NextBeforeShape }),
    fails: ['invalid_parameter'],
    paging: 'before',
  },
  words: {
    summary: 'Saved queries that everyone may call',
    description: `By owner and slug, in short, with their prices; \`about_url\` has the rest. With the key of an organization its own queries are among them, whatever their visibility. With \`search\` a call looks at ${SEARCHED_MAX} queries at most, so that a page may have fewer rows than \`limit\` and still go on.`,
    tool: 'Saved queries for call_saved_query: yours and public ones, with parameters and prices.',
    example: { queries: [LISTED_QUERY_EXAMPLE], next_before: null },
  },
  money: { price: PRICES.free, load: 'none' },
  check: (input, { cursorKeys }) => ({
    ...input,
    after: readBefore(QUERY_CURSOR, { keys: cursorKeys, scope: SCOPE }, input.before) ?? null,
  }),
  run: async ({ search, limit, after }, deps: SavedDeps, { caller: { organization } }) => {
    const words = (search ?? '')
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '');
    const count = words.length === 0 ? limit + 1 : SEARCHED_MAX;
    const looked = await visibleListings(deps.accounts.saved, organization?.id ?? null, {
      after,
      limit: count,
    });
    const found = looked.filter((query) => hasWords(query, words));
    const page = found.slice(0, limit);
    // Behind the last one that was shown, or looked at.
    const rest = looked.length === count ? looked : [];
    const last = (found.length > limit ? page : rest).at(-1);
    const position = last === undefined ? undefined : { handle: last.owner, slug: last.slug };
    return {
      queries: page.map((query) => listedAnswer(query, deps)),
      next_before: nextBefore(QUERY_CURSOR, { keys: deps.cursorKeys, scope: SCOPE }, position),
    };
  },
});

interface ListingPage {
  readonly after: QueryPosition | null;
  readonly limit: number;
}

/** Public queries and the organization's own, in one order. */
async function visibleListings(
  saved: Pick<SavedQueries, 'handleOf' | 'listings'>,
  organizationId: string | null,
  { after, limit }: ListingPage,
): Promise<readonly ListedQuery[]> {
  const open = await saved.listings({ organizationId: null, after, limit });
  if (organizationId === null) return open;
  const handle = await saved.handleOf(organizationId);
  if (handle === null || (after !== null && after.handle > handle)) return open;
  const ownAfter = after?.handle === handle ? after : null;
  const own = await saved.listings({ organizationId, after: ownAfter, limit });
  const others = open.filter((query) => query.organizationId !== organizationId);
  const place = ({ owner, slug }: ListedQuery): string => `${owner} ${slug}`;
  return [...own, ...others].sort((a, b) => (place(a) < place(b) ? -1 : 1)).slice(0, limit);
}

/** Above the queries that an organization may have. */
const OWN_MAX = 1_000;

function hasWords({ owner, slug, title, description }: ListedQuery, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = `${owner}/${slug} ${title} ${description}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

export const getPublicQuery = defineOperation({
  id: 'getPublicQuery',
  wire: {
    path: '/q/{owner}/{slug}/about',
    params: { owner: ownerParam, slug: slugParam, version: versionParam },
    output: Type.Object({ query: PublicQueryShape }),
    fails: ['invalid_parameter', 'query_not_found'],
  },
  words: {
    summary: 'What a saved query answers, takes and costs',
    description:
      'Available to everyone who may call the query. `sql` is null where the author hides the text.',
    tool: 'What a saved query answers, takes and costs.',
    example: { query: PUBLIC_QUERY_EXAMPLE },
  },
  money: { price: PRICES.free, load: 'none' },
  run: async (input, deps: SavedDeps, { caller }) => {
    const { query, isOwn } = await visibleQuery(input, deps, caller);
    return { query: publicAnswer(query, isOwn, deps) };
  },
});

export const getOwnerOpenApi = defineOperation({
  id: 'getOwnerOpenApi',
  wire: {
    path: '/q/{owner}/openapi.json',
    params: { owner: ownerParam },
    output: Type.Object(
      {
        openapi: Type.String(),
        info: Type.Unknown(),
        servers: Type.Unknown(),
        paths: Type.Unknown(),
        components: Type.Unknown(),
      },
      { title: 'OwnerOpenApi' },
    ),
    fails: ['invalid_parameter', 'query_not_found'],
    caching: 'revalidate',
  },
  words: {
    summary: 'The saved queries of an owner as an OpenAPI document',
    description:
      'OpenAPI 3.1: a path for each query that the caller may call and find, with its parameters and price. Public ones for everyone, all of them with a key of the owner.',
    tool: 'The saved queries of an owner as an OpenAPI document.',
    example: {
      openapi: '3.1.0',
      info: { title: 'Saved queries of acme', version: '1' },
      servers: [{ url: 'https://index.example/v0' }],
      paths: {},
      components: {},
    },
  },
  money: { price: PRICES.free, load: 'none' },
  run: async ({ owner }, deps: SavedDeps, { caller }) => {
    const { saved } = deps.accounts;
    const organizationId = await saved.ownerOf(owner);
    const isOwn = isOfOrganization(caller, organizationId);
    const page = { after: null, limit: OWN_MAX };
    const all = organizationId === null ? [] : await saved.list({ organizationId, ...page });
    const shown = isOwn ? all : all.filter(({ settings }) => settings.visibility === 'public');
    // The same for a handle that none has and one that shows nothing: the answer does not show which handles have private owners.
    if (shown.length === 0 && !isOwn) throw noSuchQuery();
    return ownerDocument(owner, shown, deps.deployment.publicUrl);
  },
});
