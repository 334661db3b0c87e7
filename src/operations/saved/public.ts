import { Type } from '@sinclair/typebox';
import { limitParam, offsetParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import { PRICES } from '../prices.ts';
import { NextOffsetShape } from '../shapes.ts';
import type { SavedQuery } from './definition.ts';
import { isOfOrganization, noSuchQuery, publicAnswer, visibleQuery } from './describe.ts';
import { ownerDocument } from './document.ts';
import { ownerParam, searchParam, slugParam, versionParam } from './params.ts';
import { PUBLIC_QUERY_EXAMPLE, PublicQueryShape } from './shapes.ts';

/** What everyone sees of saved queries. */

export const listPublicQueries = defineOperation({
  id: 'listPublicQueries',
  method: 'GET',
  path: '/q',
  summary: 'Saved queries that everyone may call',
  description:
    'By owner and slug, with their parameters and prices. With the key of an organization its own queries are among them, whatever their visibility.',
  toolText: 'Saved queries for call_saved_query: yours and public ones, with parameters and prices.',
  price: PRICES.free,
  load: 'none',
  params: { search: searchParam, limit: { ...limitParam, toolText: '' }, offset: offsetParam },
  output: Type.Object({ queries: Type.Array(PublicQueryShape), next_offset: NextOffsetShape }),
  fails: ['invalid_parameter'],
  paging: 'offset',
  caching: 'no-store',
  acceptsUnknownKey: false,
  example: { queries: [PUBLIC_QUERY_EXAMPLE], next_offset: null },
  run: async ({ search, limit, offset }, deps, { caller: { organization } }) => {
    const { saved } = deps.accounts;
    const own = organization === null ? [] : await ownQueries(saved, organization.id);
    const open = (await saved.listPublic()).filter((query) => query.organizationId !== organization?.id);
    const words = (search ?? '')
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '');
    const found = [...own, ...open].filter((query) => hasWords(query, words));
    const page = found.slice(offset, offset + limit);
    return {
      queries: page.map((query) => publicAnswer(query, query.organizationId === organization?.id, deps)),
      next_offset: found.length > offset + limit ? offset + limit : null,
    };
  },
});

/** Above the queries that an organization may have. */
const OWN_MAX = 1_000;

function ownQueries(
  saved: {
    list(page: {
      readonly organizationId: string;
      readonly after: null;
      readonly limit: number;
    }): Promise<readonly SavedQuery[]>;
  },
  organizationId: string,
): Promise<readonly SavedQuery[]> {
  return saved.list({ organizationId, after: null, limit: OWN_MAX });
}

function hasWords(
  { owner, slug, content: { title, description } }: SavedQuery,
  words: readonly string[],
): boolean {
  if (words.length === 0) return true;
  const text = `${owner}/${slug} ${title} ${description}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

export const getPublicQuery = defineOperation({
  id: 'getPublicQuery',
  method: 'GET',
  path: '/q/{owner}/{slug}/about',
  summary: 'What a saved query answers, takes and costs',
  description: 'For everyone who may call it. `sql` is null where its author hides the text.',
  toolText: '',
  isTool: false,
  price: PRICES.free,
  load: 'none',
  params: { owner: ownerParam, slug: slugParam, version: versionParam },
  output: Type.Object({ query: PublicQueryShape }),
  fails: ['invalid_parameter', 'query_not_found'],
  paging: 'none',
  caching: 'no-store',
  acceptsUnknownKey: false,
  example: { query: PUBLIC_QUERY_EXAMPLE },
  run: async (input, deps, { caller }) => {
    const { query, isOwn } = await visibleQuery(input, deps, caller);
    return { query: publicAnswer(query, isOwn, deps) };
  },
});

export const getOwnerOpenApi = defineOperation({
  id: 'getOwnerOpenApi',
  method: 'GET',
  path: '/q/{owner}/openapi.json',
  summary: 'The saved queries of an owner as an OpenAPI document',
  description:
    'OpenAPI 3.1: a path for each query that the caller may call and find, with its parameters and price. Public ones for everyone, all of them with a key of the owner.',
  toolText: '',
  isTool: false,
  price: PRICES.free,
  load: 'none',
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
  paging: 'none',
  caching: 'revalidate',
  acceptsUnknownKey: false,
  example: {
    openapi: '3.1.0',
    info: { title: 'Saved queries of acme', version: '1' },
    servers: [{ url: 'https://index.example/v0' }],
    paths: {},
    components: {},
  },
  run: async ({ owner }, deps, { caller }) => {
    const { saved } = deps.accounts;
    const organizationId = await saved.ownerOf(owner);
    const isOwn = isOfOrganization(caller, organizationId);
    const all = organizationId === null ? [] : await ownQueries(saved, organizationId);
    const shown = isOwn ? all : all.filter(({ settings }) => settings.visibility === 'public');
    // The same for a handle that none has and one that shows nothing: handles of private owners are not told apart.
    if (shown.length === 0 && !isOwn) throw noSuchQuery();
    return ownerDocument(owner, shown, deps.deployment.publicUrl);
  },
});
