import { Type } from '@sinclair/typebox';
import { defineOperation } from '../define.ts';
import { LIST_META_FIELDS, listMeta, META_EXAMPLE } from '../meta.ts';
import { chainOrAllParam, limitParam } from '../params.ts';
import { PRICES } from '../prices.ts';
import { readLastSettled } from '../settlements/feed.ts';
import { NextOffsetShape, nowText, TimeShape } from '../shapes.ts';
import { includeSpamParam, leaderboardOffsetParam, rankedByParam } from './params.ts';
import { LEADERBOARD_OFFSET_MAX, type RankedAgent, type RankedBy } from './read-leaderboard.ts';
import { readAgents } from './read-list.ts';
import type { AgentRow } from './row.ts';
import { AGENT_EXAMPLE, AgentShape, agentAnswers } from './shape.ts';

const RankShape = Type.Integer({ minimum: 1, description: 'Place on the whole leaderboard; 1 is the best.' });

export const getLeaderboard = defineOperation({
  id: 'getLeaderboard',
  method: 'GET',
  path: '/leaderboard',
  summary: 'ERC-8004 agents by what clients rated them, best first',
  description:
    'Agents by score, highest first, then by chain and agent_id; of the default chain unless `chain` names another or `all`. A score is made of ratings from 0 to 100 alone, drawn to the middle by few clients; measures under other tags (uptime, response times, revenues) rank nothing and are in `tag_scores`. Rating costs only gas: `by=paid` ranks by `paid_score`, of ratings whose file proves that the client paid the agent. Agents without a score count as spam and are left out unless `include_spam` puts them last. Pages are cut from a ranking that is renewed at most every ten seconds, deep ones less often (`meta.ranked_at`): rank, the score that ranks and the figures of its ratings are of then, the rest of the row is of now. Pages of one ranking fit together; from one ranking to the next an agent can move across a page boundary, and an agent whose registration a reorg took back is missing from its page.',
  toolText:
    'ERC-8004 agents ranked by their ratings, best first; ratings of few clients weigh little. Rating costs only gas: by=paid counts only clients that provably paid the agent.',
  price: PRICES.keyed,
  load: 'summary',
  params: {
    limit: limitParam,
    offset: leaderboardOffsetParam,
    chain: chainOrAllParam,
    by: rankedByParam,
    include_spam: includeSpamParam,
  },
  output: Type.Object({
    leaderboard: Type.Array(
      Type.Object({ rank: RankShape, ...AgentShape.properties }, { title: 'RankedAgent' }),
    ),
    next_offset: NextOffsetShape,
    meta: Type.Object(
      {
        ...LIST_META_FIELDS,
        page_scored_agents: Type.Integer({
          minimum: 0,
          description: 'Agents of this page with the score that ranks.',
        }),
        ranked_at: TimeShape,
      },
      { title: 'LeaderboardMeta' },
    ),
  }),
  fails: ['invalid_parameter', 'upstream_unavailable'],
  paging: 'offset',
  caching: 'revalidate',
  acceptsUnknownKey: false,
  example: {
    leaderboard: [{ rank: 1, ...AGENT_EXAMPLE }],
    next_offset: 50,
    meta: {
      chain: META_EXAMPLE.chain,
      as_of: META_EXAMPLE.as_of,
      freshness: META_EXAMPLE.freshness,
      page_scored_agents: 1,
      ranked_at: META_EXAMPLE.as_of,
    },
  },
  run: async ({ limit, offset, chain, by, include_spam: withUnscored }, deps) => {
    const {
      reader,
      clock,
      deployment: { chains },
      index: { dataset, freshness, names },
      catalogues: { leaderboard },
    } = deps;
    const nowMs = clock.nowMs();
    const [page, statuses, directory] = await Promise.all([
      leaderboard.page({ chain, by, withUnscored }, { offset, limit }),
      freshness.statuses(),
      names.of([]),
    ]);
    const current = await readAgents(reader, page.agents, { conditions: [], limit });
    const rows = page.agents.flatMap((ranked) => placed(ranked, by, current));
    const lastSettled = await readLastSettled(
      reader,
      rows.map(({ wallet }) => wallet),
    );
    const scored = rows.filter((row) => (by === 'paid' ? row.paidScore : row.score) !== null).length;
    const meta = await listMeta({ chain, chains, statuses, nowMs }, rows, dataset.agents);
    const warnings = [
      ...(meta.warnings ?? []),
      ...(rows.length > 0 && scored === 0 ? (['no_agent_on_this_page_has_a_score'] as const) : []),
    ];
    const next = offset + limit;
    return {
      leaderboard: agentAnswers(rows, { lastSettled, nowMs, directory }).map((answer, index) => ({
        rank: rows[index]?.rank ?? 0,
        ...answer,
      })),
      next_offset: page.hasMore && next <= LEADERBOARD_OFFSET_MAX ? next : null,
      meta: {
        ...meta,
        ...(warnings.length > 0 ? { warnings } : {}),
        page_scored_agents: scored,
        ranked_at: nowText(page.rankedAtMs),
      },
    };
  },
});

/** The entry of a ranked agent: with the figures by which it was ranked, even if they changed since. Empty when the agent is gone. */
function placed(
  ranked: RankedAgent,
  by: RankedBy,
  current: readonly AgentRow[],
): (AgentRow & { readonly rank: number })[] {
  const row = current.find(({ chain, agentId }) => chain === ranked.chain && agentId === ranked.agentId);
  if (row === undefined) return [];
  const { rank, score, ratingCount, ratingClients } = ranked;
  return by === 'paid'
    ? [{ ...row, rank, paidScore: score, paidCount: ratingCount, paidClients: ratingClients }]
    : [{ ...row, rank, score, ratingCount, ratingClients }];
}
