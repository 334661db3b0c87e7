import { Type } from '@sinclair/typebox';
import { chainParam, limitParam, offsetParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import { PRICES } from '../prices.ts';
import { NextOffsetShape, oneOf } from '../shapes.ts';
import { ordersOf } from './orders.ts';
import { checkedRanking, rankingPage } from './page.ts';
import {
  includeFlaggedParam,
  merchantNameParam,
  minCounterpartiesParam,
  rankedByParam,
  rankedCapabilityParam,
  rankedWindowParam,
} from './params.ts';
import type { RankingDeps } from './rankings.ts';
import { RANKED_EXAMPLE, RANKING_META_EXAMPLE, RankedRowShape, RankingMetaShape } from './shape.ts';

export const listMerchants = defineOperation({
  id: 'listMerchants',
  wire: {
    path: '/merchants',
    params: {
      limit: limitParam,
      offset: offsetParam,
      by: {
        ...rankedByParam,
        component: 'MerchantOrder',
        schema: oneOf(ordersOf('merchants')),
        description: `What ranks: ${ordersOf('merchants').join(', ')}. Default: the first. \`growth\` is the gain in organic dollars over the window before.`,
        toolText: 'Default organic_usd.',
      },
      window: { ...rankedWindowParam, toolText: 'Default 30d.' },
      q: merchantNameParam,
      chain: chainParam,
      capability: rankedCapabilityParam,
      min_counterparties: minCounterpartiesParam,
      include_flagged: includeFlaggedParam,
    },
    output: Type.Object({
      merchants: Type.Array(RankedRowShape),
      next_offset: NextOffsetShape,
      meta: RankingMetaShape,
    }),
    paging: 'offset',
  },
  words: {
    summary: 'Merchants ranked by organic payments in a window',
    description:
      'Merchants by `organic_usd` of the last 30 days, or by another order of /leaderboard with `of=merchants`, whose rows and figures these are. Wallets that the data-quality rule calls suspect are left out unless `include_flagged` keeps them. Of every indexed chain unless `chain` names one. /merchants/{address} has everything about one of them.',
    tool: 'Merchants by organic payments, with verdicts.',
    example: { merchants: [RANKED_EXAMPLE], next_offset: 50, meta: RANKING_META_EXAMPLE },
  },
  money: { price: PRICES.keyed, load: 'summary' },
  check: (input) => ({ ...input, chosen: checkedRanking({ ...input, of: 'merchants' }) }),
  read: async (input, deps: RankingDeps) => {
    const { rows, ...page } = await rankingPage(input, deps);
    return { merchants: rows, ...page };
  },
});
