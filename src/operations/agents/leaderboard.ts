import { Type } from '@sinclair/typebox';
import type { Chain } from '../../../core/domain/chains.ts';
import { chainParam, limitParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import { LIST_META_FIELDS, listMeta, META_EXAMPLE } from '../meta.ts';
import { invalid } from '../params.ts';
import { PRICES } from '../prices.ts';
import { isRating } from '../rankings/orders.ts';
import { checkedRanking, checkRankingOffset, rankingPage } from '../rankings/page.ts';
import {
  includeFlaggedParam,
  minCounterpartiesParam,
  rankedByParam,
  rankedCapabilityParam,
  rankedOfParam,
  rankedWindowParam,
} from '../rankings/params.ts';
import type { RankingDeps } from '../rankings/rankings.ts';
import { RANKED_EXAMPLE, RANKING_META_EXAMPLE, RankedRowShape, RankingMetaShape } from '../rankings/shape.ts';
import { readLastSettled } from '../settlements/feed.ts';
import { NextOffsetShape, nowText, TimeShape } from '../shapes.ts';
import { includeSpamParam, leaderboardOffsetParam } from './params.ts';
import {
  LEADERBOARD_OFFSET_MAX,
  type LeaderboardDeps,
  type RankedAgent,
  type RankedBy,
} from './read-leaderboard.ts';
import { readAgents } from './read-list.ts';
import type { AgentRow } from './row.ts';
import { AGENT_EXAMPLE, AgentShape, agentAnswers } from './shape.ts';

const RankShape = Type.Integer({ minimum: 1, description: 'Place on the whole leaderboard; 1 is the best.' });

export const getLeaderboard = defineOperation({
  id: 'getLeaderboard',
  wire: {
    path: '/leaderboard',
    params: {
      limit: limitParam,
      offset: leaderboardOffsetParam,
      of: rankedOfParam,
      by: rankedByParam,
      window: rankedWindowParam,
      chain: chainParam,
      capability: rankedCapabilityParam,
      min_counterparties: minCounterpartiesParam,
      include_flagged: includeFlaggedParam,
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
    alsoAnswers: [
      Type.Object(
        { leaderboard: Type.Array(RankedRowShape), next_offset: NextOffsetShape, meta: RankingMetaShape },
        { title: 'PaymentRanking' },
      ),
    ],
    paging: 'offset',
  },
  words: {
    summary:
      'Rankings: agents by ratings; agents, merchants, payers, facilitators, endpoints and capabilities by payments',
    description:
      'By default ERC-8004 agents by score, highest first, then by chain and agent_id; of every indexed chain unless `chain` names one. A score is made of ratings from 0 to 100 alone, drawn to the middle by few clients; measures under other tags (uptime, response times, revenues) rank nothing and are in `tag_scores`. Rating costs only gas: `by=paid_score` ranks by `paid_score`, of ratings whose file proves that the client paid the agent. Agents without a score count as spam and are left out unless `include_spam` puts them last.\n\n`of`, `by` and `window` ask for other rankings; a combination that has no meaning is refused with those that have. Wash trading does not improve a rank: ranks count only organic payments, without self-payments, payments within a ring and payments between wallets that paid each other. Wallets that the data-quality rule calls suspect are left out unless `include_flagged` keeps them (docs/methodology.md, "Rankings"). Rows of rankings by payments are `RankedRow`.\n\nPages are cut from a ranking that is renewed at most every ten seconds, deep and expensive ones less often (`meta.ranked_at`): rank and the figures that rank are of then; of an agent ranked by ratings the rest of the row is of now. Wallets are ranked by passes of the worker, the more often the shorter the window. Pages of one ranking fit together; from one ranking to the next a row can move across a page boundary, and an agent whose registration a reorg took back is missing from its page.',
    tool: 'Rankings: ERC-8004 agents by ratings (paid_score: of clients that provably paid), or with `of` by organic payments.',
    example: {
      leaderboard: [{ rank: 1, ...AGENT_EXAMPLE }],
      next_offset: 50,
      meta: {
        chain: META_EXAMPLE.chain,
        as_of: META_EXAMPLE.as_of,
        snapshot: null,
        freshness: META_EXAMPLE.freshness,
        page_scored_agents: 1,
        ranked_at: META_EXAMPLE.as_of,
      },
    },
    moreExamples: {
      merchants: {
        summary: 'Merchants by the organic dollars of seven days',
        value: { leaderboard: [RANKED_EXAMPLE], next_offset: 50, meta: RANKING_META_EXAMPLE },
      },
    },
  },
  money: { price: PRICES.keyed, load: 'summary' },
  check: (input) => {
    const chosen = checkedRanking({ ...input, of: input.of ?? 'agents' });
    if (isRating(chosen.by)) return { ...input, chosen };
    if (input.include_spam)
      throw invalid(
        'include_spam',
        'include_spam is of rankings by ratings; possible: by=score, paid_score.',
      );
    checkRankingOffset(input.offset);
    return { ...input, chosen };
  },
  read: async ({ chosen, ...input }, deps: LeaderboardDeps & RankingDeps) => {
    const { of, by } = chosen;
    if (of === 'agents' && isRating(by)) return rateAgents({ ...input, by }, deps);
    const { rows, ...page } = await rankingPage({ ...input, chosen }, deps);
    return { leaderboard: rows, ...page };
  },
});

interface RatingInput {
  readonly limit: number;
  readonly offset: number;
  readonly chain: Chain | undefined;
  readonly by: RankedBy;
  readonly capability: string | undefined;
  readonly min_counterparties: number;
  readonly include_flagged: boolean;
  readonly include_spam: boolean;
}

async function rateAgents({ limit, offset, chain, by, ...filters }: RatingInput, deps: LeaderboardDeps) {
  const {
    reader,
    clock,
    deployment: { chains },
    index: { dataset, freshness, names },
    leaderboard,
  } = deps;
  const nowMs = clock.nowMs();
  const scope = {
    chain,
    by,
    withUnscored: filters.include_spam,
    capability: filters.capability,
    minClients: filters.min_counterparties,
    includeFlagged: filters.include_flagged,
  };
  const [page, statuses, directory] = await Promise.all([
    leaderboard.page(scope, { offset, limit }),
    freshness.statuses(),
    names.of([]),
  ]);
  const current = await readAgents(reader, page.agents, { conditions: [], limit });
  const rows = page.agents.flatMap((ranked) => placed(ranked, by, current));
  const lastSettled = await readLastSettled(
    reader,
    rows.map(({ wallet }) => wallet),
  );
  const scored = rows.filter((row) => (by === 'paid_score' ? row.paidScore : row.score) !== null).length;
  const meta = await listMeta({ chain, chains, statuses, nowMs }, rows, dataset.agents);
  const warnings = [
    ...(meta.warnings ?? []),
    ...(page.isPending ? (['rankings_not_computed'] as const) : []),
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
}

/** The entry of a ranked agent: with the figures by which it was ranked, even if they changed since. Empty when the agent is gone. */
function placed(
  ranked: RankedAgent,
  by: RankedBy,
  current: readonly AgentRow[],
): (AgentRow & { readonly rank: number })[] {
  const row = current.find(({ chain, agentId }) => chain === ranked.chain && agentId === ranked.agentId);
  if (row === undefined) return [];
  const { rank, score, ratingCount, ratingClients } = ranked;
  return by === 'paid_score'
    ? [{ ...row, rank, paidScore: score, paidCount: ratingCount, paidClients: ratingClients }]
    : [{ ...row, rank, score, ratingCount, ratingClients }];
}
