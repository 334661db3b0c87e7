import { Type } from '@sinclair/typebox';
import { isSlug } from '../../../core/domain/saved-query.ts';
import { limitParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import { invalid, type Param, quoted } from '../params.ts';
import { PRICES } from '../prices.ts';
import { orNull } from '../shapes.ts';
import { noSuchQuery, ownAnswer, ownOrganization, timeOf, timeOrNull } from './describe.ts';
import { slugParam, versionParam } from './params.ts';
import type { SavedDeps } from './saved-queries.ts';
import { RefreshShape, SAVED_QUERY_EXAMPLE, SavedQueryShape, VersionShape } from './shapes.ts';

/** What an organization sees of its own saved queries. */

const afterSlugParam: Param<string | undefined> = {
  in: 'query',
  component: 'AfterSlug',
  description: 'Only those behind this slug: `next_after` of the page before.',
  required: false,
  schema: Type.String({ maxLength: 64 }),
  example: 'active-payers',
  read: (raw, name) => {
    if (raw === undefined || (typeof raw === 'string' && isSlug(raw))) return raw;
    throw invalid(name, `${name} must be the slug of a query, not ${quoted(raw)}.`);
  },
};

export const listSavedQueries = defineOperation({
  id: 'listSavedQueries',
  wire: {
    path: '/queries',
    params: { limit: limitParam, after: afterSlugParam },
    output: Type.Object({
      owner: orNull(Type.String()),
      queries: Type.Array(SavedQueryShape),
      next_after: orNull(Type.String()),
    }),
    fails: ['api_key_required', 'invalid_parameter'],
  },
  words: {
    summary: 'The saved queries of your organization',
    description:
      'Their latest versions, by slug. `owner` is the handle of the organization, null before it has one.',
    tool: 'Your saved queries, each with its text and settings.',
    example: { owner: 'acme', queries: [SAVED_QUERY_EXAMPLE], next_after: null },
  },
  money: { price: PRICES.free, load: 'none' },
  run: async ({ limit, after }, deps: SavedDeps, { caller }) => {
    const { id: organizationId } = ownOrganization(caller);
    const { saved } = deps.accounts;
    const [owner, found] = await Promise.all([
      saved.handleOf(organizationId),
      saved.list({ organizationId, after: after ?? null, limit: limit + 1 }),
    ]);
    const page = found.slice(0, limit);
    return {
      owner,
      queries: await Promise.all(page.map((query) => ownAnswer(query, deps))),
      next_after: found.length > limit ? (page.at(-1)?.slug ?? null) : null,
    };
  },
});

export const getSavedQuery = defineOperation({
  id: 'getSavedQuery',
  wire: {
    path: '/queries/{slug}',
    params: { slug: slugParam, version: versionParam },
    output: Type.Object({ query: SavedQueryShape }),
    fails: ['api_key_required', 'invalid_parameter', 'query_not_found'],
  },
  words: {
    summary: 'A saved query of your organization',
    description: 'One version of it, with all that was saved.',
    tool: 'One of your saved queries, with all that was saved.',
    example: { query: SAVED_QUERY_EXAMPLE },
  },
  money: { price: PRICES.free, load: 'none' },
  run: async ({ slug, version = null }, deps: SavedDeps, { caller }) => {
    const { id: organizationId } = ownOrganization(caller);
    const query = await deps.accounts.saved.find({ organizationId, slug, version });
    if (query === null) throw noSuchQuery();
    return { query: await ownAnswer(query, deps) };
  },
});

export const listQueryVersions = defineOperation({
  id: 'listQueryVersions',
  wire: {
    path: '/queries/{slug}/versions',
    params: { slug: slugParam },
    output: Type.Object({ versions: Type.Array(VersionShape) }),
    fails: ['api_key_required', 'query_not_found'],
  },
  words: {
    summary: 'The versions of a saved query',
    description: 'Newest first. None of them ever changes.',
    tool: 'Versions of a saved query of yours.',
    example: {
      versions: [
        {
          version: 2,
          title: SAVED_QUERY_EXAMPLE.title,
          created_at: SAVED_QUERY_EXAMPLE.version_created_at,
          url: `${SAVED_QUERY_EXAMPLE.url}?version=2`,
        },
      ],
    },
  },
  money: { price: PRICES.free, load: 'none' },
  run: async ({ slug }, { accounts, deployment: { publicUrl } }: SavedDeps, { caller }) => {
    const { id: organizationId } = ownOrganization(caller);
    const [owner, found] = await Promise.all([
      accounts.saved.handleOf(organizationId),
      accounts.saved.versions({ organizationId, slug }),
    ]);
    if (found.length === 0) throw noSuchQuery();
    return {
      versions: found.map(({ version, title, createdAtMs }) => ({
        version,
        title,
        created_at: timeOf(createdAtMs),
        url: `${publicUrl}/v0/q/${owner}/${slug}?version=${version}`,
      })),
    };
  },
});

export const listQueryRefreshes = defineOperation({
  id: 'listQueryRefreshes',
  wire: {
    path: '/queries/{slug}/refreshes',
    params: { slug: slugParam },
    output: Type.Object({ refreshes: Type.Array(RefreshShape) }),
    fails: ['api_key_required', 'query_not_found'],
  },
  words: {
    summary: 'Scheduled runs of a saved query',
    description:
      'The latest 100, newest first. A run is a job of the key that scheduled it: where its budget of the day is used, the next run waits for the next day, and where the key has ended, none follows. After a failure the time to the next run doubles, up to four weeks; a run that succeeds, and every new version, begins anew.',
    tool: 'Scheduled runs of a saved query of yours, and why one failed.',
    example: {
      refreshes: [
        {
          at: '2026-11-20T12:00:00Z',
          state: 'succeeded',
          version: 2,
          units: 1,
          job: '2f1e6c1a-7d3b-4a51-9a39-0d8a4c7be111',
          code: null,
          detail: null,
          next_at: '2026-11-20T13:00:00Z',
        },
      ],
    },
  },
  money: { price: PRICES.free, load: 'none' },
  run: async ({ slug }, { accounts }: SavedDeps, { caller }) => {
    const { id: organizationId } = ownOrganization(caller);
    const query = await accounts.saved.find({ organizationId, slug, version: null });
    if (query === null) throw noSuchQuery();
    const runs = await accounts.saved.refreshes({ organizationId, slug });
    return {
      refreshes: runs.map(({ atMs, nextAtMs, ...run }) => ({
        ...run,
        at: timeOf(atMs),
        next_at: timeOrNull(nextAtMs),
      })),
    };
  },
});
