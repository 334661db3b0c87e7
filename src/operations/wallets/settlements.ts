import { Type } from '@sinclair/typebox';
import type { Address } from '../../../core/domain/address.ts';
import { defineOperation } from '../define.ts';
import { finalOnly } from '../index-state/finality.ts';
import { finalityOf } from '../index-state/freshness.ts';
import { META_EXAMPLE, SettlementMetaShape, settlementMeta } from '../meta.ts';
import {
  beforeParam,
  chainParam,
  counterpartyParam,
  finalityParam,
  limitParam,
  roleParam,
  walletParam,
} from '../params.ts';
import { PRICES } from '../prices.ts';
import {
  NAMED_SETTLEMENT_EXAMPLE,
  NamedSettlementShape,
  namedSettlementAnswer,
  partiesOf,
} from '../settlements/shape.ts';
import { AddressShape, NextBeforeShape } from '../shapes.ts';
import { nextBefore, readBefore, SETTLEMENT_CURSOR } from '../walk.ts';
import { readWalletPage } from './read-settlements.ts';

const ID = 'listEntitySettlements';

export const listEntitySettlements = defineOperation({
  id: ID,
  method: 'GET',
  path: '/entities/{wallet}/settlements',
  summary: 'Settlements where a wallet is a party, newest first',
  description:
    'Settlements that the wallet paid or was paid. A payment of the wallet to itself appears once. A wallet that the index never saw has an empty list: never paid, not yet indexed, or not on a covered chain.',
  toolText:
    'Settlements that one wallet paid or received, newest first. For its totals use get_merchant or get_agent.',
  price: PRICES.keyed,
  params: {
    wallet: walletParam,
    limit: limitParam,
    before: beforeParam,
    chain: chainParam,
    role: roleParam,
    counterparty: counterpartyParam,
    finality: finalityParam,
  },
  output: Type.Object({
    wallet: AddressShape,
    settlements: Type.Array(NamedSettlementShape),
    next_before: NextBeforeShape,
    meta: SettlementMetaShape,
  }),
  fails: ['invalid_parameter', 'upstream_unavailable'],
  paging: 'before',
  caching: 'revalidate',
  acceptsUnknownKey: false,
  example: {
    wallet: NAMED_SETTLEMENT_EXAMPLE.payer,
    settlements: [NAMED_SETTLEMENT_EXAMPLE],
    next_before: null,
    meta: META_EXAMPLE,
  },
  check: (input, { cursorKeys }) => ({
    ...input,
    before: readBefore(SETTLEMENT_CURSOR, { keys: cursorKeys, scope: scopeOf(input.wallet) }, input.before),
  }),
  run: async ({ wallet, limit, before, chain, role, counterparty, finality }, deps) => {
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
    const page = await readWalletPage(
      { reader },
      { wallet, limit, before, role, counterparty, chain, final },
    );
    const directory = await names.of(partiesOf(page.rows));
    return {
      wallet,
      settlements: page.rows.map((row) =>
        namedSettlementAnswer(row, finalityOf(row.blockNumber, statuses.get(row.chain)), directory),
      ),
      next_before: nextBefore(
        SETTLEMENT_CURSOR,
        { keys: cursorKeys, scope: scopeOf(wallet) },
        page.nextBefore,
      ),
      meta: await settlementMeta({ chain, chains, statuses, nowMs, finality }, page.rows, dataset),
    };
  },
});

/** A cursor of one wallet is none of another's. */
function scopeOf(wallet: Address): string {
  return `${ID} ${wallet}`;
}
