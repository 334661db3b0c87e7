import { type Static, Type } from '@sinclair/typebox';
import type { Address } from '../../../core/domain/address.ts';
import { usdNumber } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chain.ts';
import type { GraphNode, PaymentPair } from '../../../core/domain/payment-graph.ts';
import { LIST_META_FIELDS } from '../meta.ts';
import type { WalletName } from '../names/names.ts';
import { AddressShape, CountShape, NameSourceShape, TimeShape, timeText, UsdShape } from '../shapes.ts';

/** Shapes of the payment graph. Source: api.md 3. */

const NullableCount = Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1 });
const NullableText = Type.Unsafe<string | null>({ type: ['string', 'null'] });

export const AppliedShape = Type.Object(
  {
    form: Type.Unsafe<'window' | 'days'>({ type: 'string', enum: ['window', 'days'] }),
    window: NullableCount,
    days: NullableCount,
    wallet: NullableText,
    chain: Type.Unsafe<Chain | null>({ type: ['string', 'null'], description: 'Null for all chains.' }),
    finality: Type.Unsafe<'finalized' | 'any'>({ type: 'string', enum: ['finalized', 'any'] }),
    max_edges: Type.Integer({ minimum: 1 }),
  },
  {
    title: 'GraphApplied',
    description: 'The question as it was understood: which form, and every value in effect.',
  },
);

export const GraphNodeShape = Type.Object(
  {
    wallet: AddressShape,
    name: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'Null when unknown.' }),
    name_source: NameSourceShape,
    window_usd: Type.Number({
      description: 'in_usd + out_usd. Over all nodes: exactly twice the sum of edge.usd.',
    }),
    window_count: Type.Integer({
      minimum: 1,
      description: 'Settlements in and out. Over all nodes: exactly twice the sum of edge.count.',
    }),
    in_usd: UsdShape,
    out_usd: UsdShape,
  },
  { title: 'GraphNode' },
);

export const GraphEdgeShape = Type.Object(
  {
    payer: AddressShape,
    payee: AddressShape,
    usd: UsdShape,
    count: Type.Integer({ minimum: 1 }),
    first_seen: TimeShape,
    last_seen: TimeShape,
  },
  { title: 'GraphEdge' },
);

export const GraphMetaShape = Type.Object(
  {
    ...LIST_META_FIELDS,
    excluded: Type.Object(
      { self_payments: CountShape, self_payment_usd: UsdShape },
      {
        title: 'GraphExcluded',
        description: 'Payments of wallets to themselves within the window: in no edge and no node.',
      },
    ),
  },
  { title: 'GraphMeta' },
);

export function nodeAnswer(
  node: GraphNode,
  nameOf: (wallet: Address) => WalletName | null,
): Static<typeof GraphNodeShape> {
  const { wallet, inUsdMicros, outUsdMicros, inCount, outCount } = node;
  const named = nameOf(wallet);
  return {
    wallet,
    name: named?.name ?? null,
    name_source: named?.source ?? null,
    window_usd: usdNumber(inUsdMicros + outUsdMicros),
    window_count: inCount + outCount,
    in_usd: usdNumber(inUsdMicros),
    out_usd: usdNumber(outUsdMicros),
  };
}

export function edgeAnswer(edge: PaymentPair): Static<typeof GraphEdgeShape> {
  const { payer, payee, usdMicros, count, firstSeen, lastSeen } = edge;
  return {
    payer,
    payee,
    usd: usdNumber(usdMicros),
    count,
    first_seen: timeText(firstSeen),
    last_seen: timeText(lastSeen),
  };
}
