import { Type } from '@sinclair/typebox';
import { defineOperation } from '../define.ts';
import { finalOnly } from '../index-state/finality.ts';
import { finalityOf } from '../index-state/freshness.ts';
import { META_EXAMPLE, SettlementMetaShape, settlementMeta } from '../meta.ts';
import { beforeParam, chainParam, finalityParam, limitParam } from '../params.ts';
import { PRICES } from '../prices.ts';
import { NextBeforeShape } from '../shapes.ts';
import { nextBefore, readBefore, SETTLEMENT_CURSOR } from '../walk.ts';
import { readFeed } from './feed.ts';
import { NAMED_SETTLEMENT_EXAMPLE, NamedSettlementShape, namedSettlementAnswer, partiesOf } from './shape.ts';

const SCOPE = 'listFlows';

export const listFlows = defineOperation({
  id: SCOPE,
  method: 'GET',
  path: '/flows',
  summary: 'Newest settlements across every indexed chain, payer to payee',
  description:
    'Settlements, newest first, with the display names of payer, payee and facilitator where they are known. Walk older pages by sending `next_before` back as `before`.',
  toolText:
    'The newest settlements (x402 payments): payer, payee, amount_usd, facilitator, evidence. For more filters use list_transactions, for sums run_sql.',
  price: PRICES.keyed,
  params: { limit: limitParam, before: beforeParam, chain: chainParam, finality: finalityParam },
  output: Type.Object({
    flows: Type.Array(NamedSettlementShape),
    next_before: NextBeforeShape,
    meta: SettlementMetaShape,
  }),
  fails: ['invalid_parameter', 'upstream_unavailable'],
  paging: 'before',
  caching: 'revalidate',
  acceptsUnknownKey: false,
  example: { flows: [NAMED_SETTLEMENT_EXAMPLE], next_before: null, meta: META_EXAMPLE },
  check: (input, { cursorKeys }) => ({
    ...input,
    before: readBefore(SETTLEMENT_CURSOR, { keys: cursorKeys, scope: SCOPE }, input.before),
  }),
  run: async ({ limit, before, chain, finality }, deps) => {
    const {
      reader,
      clock,
      cursorKeys,
      deployment: { chains },
      index: { dataset, names, freshness },
    } = deps;
    const nowMs = clock.nowMs();
    const statuses = await freshness.statuses();
    const final = finalOnly(finality, statuses);
    const page = await readFeed(
      { reader, clock, newestTime: dataset.newestTime },
      { limit, before, chain, facilitator: undefined, tier: undefined, final },
    );
    const directory = await names.of(partiesOf(page.rows));
    return {
      flows: page.rows.map((row) =>
        namedSettlementAnswer(row, finalityOf(row.blockNumber, statuses.get(row.chain)), directory),
      ),
      next_before: nextBefore(SETTLEMENT_CURSOR, { keys: cursorKeys, scope: SCOPE }, page.nextBefore),
      meta: await settlementMeta({ chain, chains, statuses, nowMs, finality }, page.rows, dataset),
    };
  },
});
