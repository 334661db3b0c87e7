import { Type } from '@sinclair/typebox';
import { hasInvisible } from '../../../core/domain/display-text.ts';
import { fail } from '../../../core/errors.ts';
import type { KeptResult } from '../../results/results.ts';
import { SHARE_TOKEN, SHARES_MAX, type Share } from '../../results/shares.ts';
import { defineOperation } from '../define.ts';
import type { CallContext } from '../deps.ts';
import { invalid, type Param, quoted } from '../params.ts';
import { PRICES } from '../prices.ts';
import { orNull } from '../shapes.ts';
import { isoTime, keptSqlOf, type SqlDeps } from './kept.ts';
import { resultParam } from './result.ts';

/** Links to kept results, for readers without a key. No tools: a link is made by a person, for people. */

const TITLE_MAX_CHARS = 200;
const CHART_MAX_CHARS = 2_000;
const RESULT_EXAMPLE = '5f'.repeat(32);
const SHARE_EXAMPLE = '3c'.repeat(32);
const TOKEN_EXAMPLE = 'mB7vXk2Qd0e5Lr9Tz1yWc4Ua8Hn3Js6Pf_Go-IxEqNY';

const shareParam: Param<string> = {
  in: 'path',
  description: 'The id of the link, as `POST /v0/results/{result}/shares` gives it.',
  required: true,
  schema: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  example: SHARE_EXAMPLE,
  read: (raw, name) => {
    if (typeof raw === 'string' && /^[0-9a-f]{64}$/.test(raw)) return raw;
    throw invalid(name, `${name} must be the id of a link, 64 hex digits, not ${quoted(raw)}.`);
  },
};

const tokenParam: Param<string> = {
  in: 'path',
  description: 'The last part of the link.',
  required: true,
  schema: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
  example: TOKEN_EXAMPLE,
  read: (raw, name) => {
    if (typeof raw === 'string' && SHARE_TOKEN.test(raw)) return raw;
    throw invalid(
      name,
      `${name} must be the last part of a link, 43 characters. The link may have been cut.`,
    );
  },
};

function textParam(facts: {
  readonly description: string;
  readonly charsMax: number;
  readonly example: string;
}): Param<string | undefined> {
  const { description, charsMax, example } = facts;
  return {
    in: 'body',
    description,
    required: false,
    schema: Type.String({ maxLength: charsMax }),
    example,
    read: (raw, name) => {
      if (raw === undefined) return raw;
      if (typeof raw === 'string' && raw.length <= charsMax && !hasInvisible(raw)) return raw;
      throw invalid(name, `${name} must be a text of at most ${charsMax} visible characters.`);
    },
  };
}

const ShareShape = Type.Object(
  {
    id: Type.String(),
    title: Type.String(),
    state: Type.Union([Type.Literal('open'), Type.Literal('revoked'), Type.Literal('expired')]),
    created_at: Type.String(),
    expires_at: Type.String(),
    revoked_at: orNull(Type.String()),
  },
  { title: 'ResultShare' },
);

const SHARE_ANSWER = {
  id: SHARE_EXAMPLE,
  title: 'Volume by facilitator by week',
  state: 'open' as const,
  created_at: '2026-11-20T12:00:05.000Z',
  expires_at: '2026-11-27T12:00:00.000Z',
  revoked_at: null,
};

function shareAnswer({ id, title, state, createdAtMs, expiresAtMs, revokedAtMs }: Share) {
  return {
    id,
    title,
    state,
    created_at: isoTime(createdAtMs),
    expires_at: isoTime(expiresAtMs),
    revoked_at: revokedAtMs === null ? null : isoTime(revokedAtMs),
  };
}

/** A result that the caller's organization may read. */
async function ownResult(
  id: string,
  deps: SqlDeps,
  { caller: { organization } }: CallContext,
): Promise<{ readonly kept: KeptResult; readonly organizationId: string }> {
  if (organization === null)
    throw fail('api_key_required', {
      detail: 'Send the key of the organization that was answered with the result.',
    });
  const { results } = keptSqlOf(deps);
  const kept = await results.find(id);
  if (kept !== null && (await results.mayRead(kept, organization.id)))
    return { kept, organizationId: organization.id };
  throw fail('result_not_found', { detail: 'There is no result of this id that you may read.' });
}

export const shareResult = defineOperation({
  id: 'shareResult',
  wire: {
    method: 'POST',
    path: '/results/{result}/shares',
    params: {
      result: resultParam,
      title: textParam({
        description: 'The title of its page.',
        charsMax: TITLE_MAX_CHARS,
        example: SHARE_ANSWER.title,
      }),
      chart: textParam({
        description: 'The choice of chart of its page, as the console writes it in its links.',
        charsMax: CHART_MAX_CHARS,
        example: '{"kind":"line"}',
      }),
    },
    output: Type.Object({ share: ShareShape, token: Type.String(), url: Type.String() }),
    fails: [
      'api_key_required',
      'invalid_parameter',
      'key_restricted',
      'result_not_found',
      'upstream_unavailable',
    ],
    status: 201,
  },
  words: {
    summary: 'Make a link to a kept result',
    description:
      'A person with the link sees the rows, the chart and the text of the query, without a key, until the result expires or the link is revoked. The token is shown once; only its digest is stored. `token` also reads the result in any format: `GET /v0/results/{result}?token=…`.',
    tool: null,
    example: {
      share: SHARE_ANSWER,
      token: TOKEN_EXAMPLE,
      url: `https://index.example/console/shared/${TOKEN_EXAMPLE}`,
    },
  },
  money: { price: PRICES.free, load: 'none' },
  access: { changes: 'adds' },
  run: async ({ result: id, title = '', chart = null }, deps: SqlDeps, context) => {
    const { kept, organizationId } = await ownResult(id, deps, context);
    const made = await keptSqlOf(deps).shares.make({ result: kept, organizationId, page: { title, chart } });
    if (made === null)
      throw invalid('result', `This result has ${SHARES_MAX} links of yours, as many as it may have.`);
    const { share, token } = made;
    return { share: shareAnswer(share), token, url: `${deps.deployment.publicUrl}/console/shared/${token}` };
  },
});

export const listResultShares = defineOperation({
  id: 'listResultShares',
  wire: {
    path: '/results/{result}/shares',
    params: { result: resultParam },
    output: Type.Object({ shares: Type.Array(ShareShape) }),
    fails: ['api_key_required', 'invalid_parameter', 'result_not_found', 'upstream_unavailable'],
  },
  words: {
    summary: 'Your links to a kept result',
    description: 'Newest first, revoked ones too. Their tokens are not stored.',
    tool: null,
    example: { shares: [SHARE_ANSWER] },
  },
  money: { price: PRICES.free, load: 'none' },
  run: async ({ result: id }, deps: SqlDeps, context) => {
    const { kept, organizationId } = await ownResult(id, deps, context);
    const shares = await keptSqlOf(deps).shares.list({ organizationId, resultId: kept.id });
    return { shares: shares.map(shareAnswer) };
  },
});

export const revokeResultShare = defineOperation({
  id: 'revokeResultShare',
  wire: {
    method: 'DELETE',
    path: '/results/{result}/shares/{share}',
    params: { result: resultParam, share: shareParam },
    output: Type.Object({ id: Type.String(), revoked: Type.Boolean() }),
    fails: [
      'api_key_required',
      'invalid_parameter',
      'key_restricted',
      'result_not_found',
      'upstream_unavailable',
    ],
  },
  words: {
    summary: 'Revoke a link to a kept result',
    description: 'At once and for good: the page says that the link was revoked, and shows nothing else.',
    tool: null,
    example: { id: SHARE_EXAMPLE, revoked: true },
  },
  money: { price: PRICES.free, load: 'none' },
  access: { changes: 'removes' },
  run: async ({ result: id, share }, deps: SqlDeps, context) => {
    const { organizationId } = await ownResult(id, deps, context);
    if (!(await keptSqlOf(deps).shares.revoke({ id: share, organizationId })))
      throw fail('result_not_found', { detail: 'You have no link of this id.' });
    return { id: share, revoked: true };
  },
});

/** The result behind a link that is open. Throws `Failure`, which says why a link shows nothing. */
export async function sharedResult(
  token: string,
  deps: Pick<SqlDeps, 'kept'>,
): Promise<{ readonly share: Share; readonly kept: KeptResult }> {
  const { shares, results } = keptSqlOf(deps);
  const share = await shares.find(token);
  if (share === null)
    throw fail('result_not_found', {
      detail: 'There is no such link. It may have been cut when it was copied.',
    });
  if (share.state === 'revoked')
    throw fail('result_not_found', { detail: 'This link was revoked by the one who made it.' });
  const kept = share.state === 'expired' ? null : await results.find(share.resultId);
  if (kept !== null) return { share, kept };
  throw fail('result_not_found', {
    detail:
      share.state === 'expired'
        ? `This link expired on ${isoTime(share.expiresAtMs).slice(0, 10)}, with the result that it shows.`
        : 'The result of this link is no longer kept: a newer one took its room.',
  });
}

export const getSharedResult = defineOperation({
  id: 'getSharedResult',
  wire: {
    path: '/shared/{token}',
    params: { token: tokenParam },
    output: Type.Object({
      title: Type.String(),
      chart: orNull(Type.String()),
      result: Type.String(),
      sql: Type.String(),
      tier: Type.String(),
      row_count: Type.Integer(),
      truncated: Type.Boolean(),
      created_at: Type.String(),
      expires_at: Type.String(),
    }),
    fails: ['invalid_parameter', 'result_not_found', 'upstream_unavailable'],
    caching: 'no-store',
  },
  words: {
    summary: 'What a link to a kept result shows',
    description:
      'No key is needed. The rows are `GET /v0/results/{result}?token=…` with the same token, in any format. A link that was revoked, or that expired with its result, is `result_not_found`, and `detail` says which.',
    tool: null,
    example: {
      title: SHARE_ANSWER.title,
      chart: '{"kind":"line"}',
      result: RESULT_EXAMPLE,
      sql: 'SELECT facilitator, sum(amount_usd) AS usd FROM settlements GROUP BY facilitator',
      tier: 'standard',
      row_count: 120,
      truncated: false,
      created_at: '2026-11-20T12:00:00.000Z',
      expires_at: SHARE_ANSWER.expires_at,
    },
  },
  money: { price: PRICES.free, load: 'none' },
  run: async ({ token }, deps: SqlDeps) => {
    const { share, kept } = await sharedResult(token, deps);
    return {
      title: share.title,
      chart: share.chart,
      result: kept.id,
      sql: kept.run.sql,
      tier: kept.run.tier,
      row_count: kept.rows,
      truncated: kept.hasMore,
      created_at: isoTime(kept.createdAtMs),
      expires_at: isoTime(kept.expiresAtMs),
    };
  },
});
