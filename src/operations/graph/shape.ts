import { type Static, Type } from '@sinclair/typebox';
import type { Address } from '../../../core/domain/account.ts';
import { usdNumber } from '../../../core/domain/amount.ts';
import {
  GRAPH_DAYS_MAX,
  GRAPH_EDGES_MAX,
  type GraphNode,
  type PaymentPair,
} from '../../../core/domain/payment-graph.ts';
import { counterpartyParam } from '../common-params.ts';
import { LIST_META_FIELDS } from '../meta.ts';
import type { WalletName } from '../names.ts';
import { type Param, readWhole, wholeOf } from '../params.ts';
import {
  AddressShape,
  CountShape,
  NameSourceShape,
  oneOf,
  orNull,
  TimeShape,
  timeText,
  UsdShape,
} from '../shapes.ts';

/** Parameters that only the payment graph has. */

export const GRAPH_WINDOW_MAX = 50_000;
export const GRAPH_EDGES_DEFAULT = 1_000;

export const graphWindowParam: Param<number | undefined> = {
  in: 'query',
  description: `The newest so many settlements, up to the tip: 1 to ${GRAPH_WINDOW_MAX}. Exactly one of \`window\` and \`days\` must be sent.`,
  toolText: 'The newest so many settlements.',
  required: false,
  schema: Type.Integer({ minimum: 1, maximum: GRAPH_WINDOW_MAX }),
  example: 1_000,
  read: (raw, name) => (raw === undefined ? undefined : readWhole(raw, name, GRAPH_WINDOW_MAX)),
};

export const graphDaysParam: Param<number | undefined> = {
  in: 'query',
  description: `So many whole UTC days before today: 1 to ${GRAPH_DAYS_MAX}. Exactly one of \`window\` and \`days\` must be sent.`,
  toolText: 'So many whole UTC days before today.',
  required: false,
  schema: Type.Integer({ minimum: 1, maximum: GRAPH_DAYS_MAX }),
  read: (raw, name) => (raw === undefined ? undefined : readWhole(raw, name, GRAPH_DAYS_MAX)),
};

export const maxEdgesParam: Param<number> = {
  in: 'query',
  description: `Edges shown, largest first, 1 to ${GRAPH_EDGES_MAX}. Values out of range are clamped, not refused.`,
  toolText: `Largest edges shown, 1 to ${GRAPH_EDGES_MAX}. Default ${GRAPH_EDGES_DEFAULT}.`,
  required: false,
  schema: Type.Integer({ default: GRAPH_EDGES_DEFAULT }),
  read: (raw, name) => {
    if (raw === undefined) return GRAPH_EDGES_DEFAULT;
    return Math.min(Math.max(wholeOf(raw, name), 1), GRAPH_EDGES_MAX);
  },
};

export const graphWalletParam: Param<Address | undefined> = {
  ...counterpartyParam,
  description: 'Only settlements that this wallet is a party of: the graph around it.',
  toolText: 'Only settlements of this wallet.',
};

/** Shapes of the payment graph. */

const NullableCount = orNull(Type.Integer({ minimum: 1 }));
const NullableText = orNull(Type.String());

export const AppliedShape = Type.Object(
  {
    form: oneOf(['window', 'days']),
    window: NullableCount,
    days: NullableCount,
    wallet: NullableText,
    chain: orNull(Type.String({ description: 'Null for all chains.' })),
    finality: oneOf(['finalized', 'any']),
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
    name: orNull(Type.String({ description: 'Null when unknown.' })),
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
