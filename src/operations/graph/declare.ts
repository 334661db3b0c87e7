import { Type } from '@sinclair/typebox';
import type { Address } from '../../../core/domain/account.ts';
import { usdNumber } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { fail } from '../../../core/errors.ts';
import { chainParam, finalityParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import { finalOnly } from '../index-state/finality.ts';
import type { Warning } from '../index-state/freshness.ts';
import { listMeta, META_EXAMPLE } from '../meta.ts';
import type { WalletName } from '../names.ts';
import { PRICES } from '../prices.ts';
import { orNull, timeTextOrNull } from '../shapes.ts';
import type { GraphAnswer, GraphDeps, GraphQuery } from './read.ts';
import {
  AppliedShape,
  edgeAnswer,
  GRAPH_EDGES_DEFAULT,
  GraphEdgeShape,
  GraphMetaShape,
  GraphNodeShape,
  graphDaysParam,
  graphWalletParam,
  graphWindowParam,
  maxEdgesParam,
  nodeAnswer,
} from './shape.ts';

const { chain, as_of, freshness } = META_EXAMPLE;
const snapshot = null;

export const getGraph = defineOperation({
  id: 'getGraph',
  wire: {
    path: '/graph',
    params: {
      window: graphWindowParam,
      days: graphDaysParam,
      wallet: graphWalletParam,
      chain: chainParam,
      max_edges: maxEdgesParam,
      finality: finalityParam,
    },
    output: Type.Object({
      applied: AppliedShape,
      complete: Type.Boolean({ description: 'False when edges or part of the window were left out.' }),
      days: orNull(Type.Integer({ description: 'Whole days covered; null for the window form.' })),
      since: orNull(Type.String({ format: 'date-time' }), {
        description:
          'Start of the first day; in the window form the oldest settlement counted, null without one.',
      }),
      until: orNull(Type.String({ format: 'date-time' }), {
        description: 'End of the last day, excluded; in the window form the newest settlement counted.',
      }),
      nodes: Type.Array(GraphNodeShape, { description: 'Largest window_usd first.' }),
      edges: Type.Array(GraphEdgeShape, { description: 'Largest usd first.' }),
      meta: GraphMetaShape,
    }),
    caching: 'revalidate',
  },
  words: {
    summary: 'Who pays whom: wallets and the sums between them',
    description:
      'Settlements added up by payer and payee, over the newest `window` settlements or the last `days` whole UTC days (exactly one of the two), over all wallets or around one `wallet`, on every indexed chain unless `chain` names one. Payments of a wallet to itself are in no edge and no node; `meta.excluded` counts them. Node figures are those of the edges shown, so the sum of `window_usd` over all nodes is exactly twice the sum of `usd` over all edges, also when `complete` is false; `meta.warnings` then says what was left out.',
    tool: 'Who paid whom: wallets and the sums between them, over the newest `window` settlements or the last `days` days. Send exactly one of the two.',
    example: {
      applied: {
        form: 'days',
        window: null,
        days: 7,
        wallet: null,
        chain: 'eip155:8453',
        finality: 'any',
        max_edges: GRAPH_EDGES_DEFAULT,
      },
      complete: true,
      days: 7,
      since: '2026-11-13T00:00:00Z',
      until: '2026-11-20T00:00:00Z',
      nodes: [
        {
          wallet: '0x4020615294c913f045dc10f0a5cdebd86c280001',
          name: 'Weather by the call',
          name_source: 'agent_card',
          window_usd: 1.25,
          window_count: 125,
          in_usd: 1.25,
          out_usd: 0,
        },
        {
          wallet: '0x8ba1f109551bd432803012645ac136ddd64dba72',
          name: null,
          name_source: null,
          window_usd: 1.25,
          window_count: 125,
          in_usd: 0,
          out_usd: 1.25,
        },
      ],
      edges: [
        {
          payer: '0x8ba1f109551bd432803012645ac136ddd64dba72',
          payee: '0x4020615294c913f045dc10f0a5cdebd86c280001',
          usd: 1.25,
          count: 125,
          first_seen: '2026-11-13T08:00:01Z',
          last_seen: '2026-11-19T21:12:47Z',
        },
      ],
      meta: { chain, as_of, snapshot, freshness, excluded: { self_payments: 0, self_payment_usd: 0 } },
    },
  },
  money: { price: PRICES.metered, load: 'summary' },
  check: (input) => ({ ...input, span: spanOf(input) }),
  run: async (input, deps: GraphDeps) => {
    const {
      reader,
      clock,
      deployment: { chains },
      index: { dataset, names, freshness: fresh },
      graphs,
    } = deps;
    const nowMs = clock.nowMs();
    const statuses = await fresh.statuses();
    const final = finalOnly(input.finality, statuses);
    const { span, wallet, chain: only, finality, max_edges: edgesMax } = input;
    const answer = await graphs.read(reader, { span, wallet, chain: only, final, edgesMax });
    const { graph, days, since, until } = answer;
    const directory = await names.of(graph.nodes.map((node) => node.wallet));
    const named = only === undefined ? chains : [only];
    const nameOf = (node: Address): WalletName | null => directory.walletName(node, named);
    const warnings = graphWarnings(answer);
    const meta = await listMeta(
      { chain: only, chains, statuses, nowMs, finality },
      graph.edges,
      dataset.settlements,
    );
    const allWarnings = [...(meta.warnings ?? []), ...warnings];
    return {
      applied: applied(input),
      complete: warnings.length === 0,
      days,
      since: timeTextOrNull(since),
      until: timeTextOrNull(until),
      nodes: graph.nodes.map((node) => nodeAnswer(node, nameOf)),
      edges: graph.edges.map(edgeAnswer),
      meta: {
        ...meta,
        excluded: {
          self_payments: graph.selfPayments.count,
          self_payment_usd: usdNumber(graph.selfPayments.usdMicros),
        },
        ...(allWarnings.length > 0 ? { warnings: allWarnings } : {}),
      },
    };
  },
});

interface GraphInput {
  readonly window: number | undefined;
  readonly days: number | undefined;
  readonly wallet: Address | undefined;
  readonly chain: Chain | undefined;
  readonly max_edges: number;
  readonly finality: 'finalized' | 'any';
}

function spanOf({ window, days }: GraphInput): GraphQuery['span'] {
  if (window !== undefined && days === undefined) return { kind: 'window', rows: window };
  if (days !== undefined && window === undefined) return { kind: 'days', days };
  throw fail('invalid_parameter', {
    parameter: window === undefined ? 'window' : 'days',
    detail:
      window === undefined
        ? 'Send exactly one of window (newest settlements) and days (whole days before today).'
        : 'Send either window or days, not both.',
  });
}

function applied(input: GraphInput) {
  return {
    form: input.window === undefined ? ('days' as const) : ('window' as const),
    window: input.window ?? null,
    days: input.days ?? null,
    wallet: input.wallet ?? null,
    chain: input.chain ?? null,
    finality: input.finality,
    max_edges: input.max_edges,
  };
}

function graphWarnings({ graph, isScanCapped }: GraphAnswer): Warning[] {
  return [
    ...(graph.isCut ? (['graph_edges_cut'] as const) : []),
    ...(isScanCapped ? (['graph_scan_capped'] as const) : []),
  ];
}
