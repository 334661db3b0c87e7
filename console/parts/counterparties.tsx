import { useId, useState } from 'preact/hooks';
import { ApiProblem, account, getJson, refreshAccount } from '../api.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Money } from '../components/money.tsx';
import { announce, ProblemState } from '../components/states.tsx';
import { countText, timeText, usdText } from '../format.ts';
import { useStore } from '../store.ts';
import { useAnswer } from '../use-answer.ts';
import type { Account, Graph, GraphEdge } from '../wire.ts';
import { GraphPicture } from './pictures.tsx';
import { WalletLink } from './wallet-link.tsx';

/** The graph around a wallet costs a unit, so it is read only on request, by a button that shows the price. */

const WINDOW_ROWS = 5_000;
const SPANS = [
  { id: 'window', label: `newest ${countText(WINDOW_ROWS)} settlements`, query: { window: WINDOW_ROWS } },
  { id: 'days', label: 'last 30 whole days', query: { days: 30 } },
] as const;
const EDGES_MAX = 200;
type Drawn =
  | { readonly state: 'none' | 'asking' }
  | { readonly state: 'failed'; readonly problem: ApiProblem }
  | { readonly state: 'shown'; readonly graph: Graph };

interface CounterpartiesProps {
  readonly wallet: string;
  /** Null for all chains. */
  readonly chain: string | null;
}

export function Counterparties({ wallet, chain }: CounterpartiesProps) {
  const [drawn, setDrawn] = useState<Drawn>({ state: 'none' });
  const [spanId, setSpanId] = useState<string>(SPANS[0].id);
  const spanField = useId();
  const isCredit = useStore(account)?.lane === 'credit';
  const price = useGraphPrice();
  const draw = async (): Promise<void> => {
    setDrawn({ state: 'asking' });
    const next = await readGraph({ wallet, chain }, spanId);
    setDrawn(next);
    if (next.state === 'shown') announce(`Counterparties: ${next.graph.edges.length} edges`);
    if (isCredit) void refreshAccount();
  };
  return (
    <section class="card" aria-labelledby="graph-title">
      <div class="card-head">
        <h2 id="graph-title">Graph of counterparties</h2>
        <div class="row">
          <label for={spanField} class="muted small">
            of the
          </label>
          <select id={spanField} value={spanId} onChange={(event) => setSpanId(event.currentTarget.value)}>
            {SPANS.map(({ id, label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </select>
          <button
            type="button"
            class="button"
            disabled={drawn.state === 'asking'}
            onClick={() => void draw()}
          >
            {drawn.state === 'asking' ? 'Drawing …' : `Draw the graph${price === null ? '' : ` · ${price}`}`}
          </button>
        </div>
      </div>
      {drawn.state === 'none' ? (
        <p class="note muted">
          The wallets that paid this wallet or were paid by it, with the sums between them.
          {price === null ? null : ` Drawing the graph costs ${price}.`}
        </p>
      ) : null}
      {drawn.state === 'failed' ? <ProblemState problem={drawn.problem} onRetry={() => void draw()} /> : null}
      {drawn.state === 'shown' ? <GraphView wallet={wallet} graph={drawn.graph} /> : null}
    </section>
  );
}

/** The price for this caller: in units of the organization, or in dollars without one. Null until the price list is read. */
function useGraphPrice(): string | null {
  const { answer } = useAnswer<Account>('/account');
  const route = answer?.metered_routes.find(({ operation }) => operation === 'getGraph');
  if (answer === null || route === undefined) return null;
  const units = route.qu === null ? null : `${countText(route.qu)} QU`;
  return answer.lane === 'credit' && units !== null
    ? units
    : `${units ?? ''} or ${usdText(route.x402_usd)} over x402`;
}

async function readGraph(about: CounterpartiesProps, spanId: string): Promise<Drawn> {
  const span = SPANS.find(({ id }) => id === spanId) ?? SPANS[0];
  try {
    const query = { wallet: about.wallet, chain: about.chain, ...span.query, max_edges: EDGES_MAX };
    return { state: 'shown', graph: await getJson<Graph>('/graph', { query }) };
  } catch (error) {
    if (error instanceof ApiProblem) return { state: 'failed', problem: error };
    throw error;
  }
}

/** A graph that was read: what it leaves out, the picture, and the same as a table. */
export function GraphView({ wallet, graph }: { readonly wallet: string; readonly graph: Graph }) {
  const { edges, since, until, complete, meta } = graph;
  if (edges.length === 0)
    return (
      <p class="note">
        No payments to or from other wallets in this period. Payments of the wallet to itself are left out.
      </p>
    );
  return (
    <>
      <p class="note muted">
        {since === null || until === null ? null : `${timeText(since)} to ${timeText(until)}. `}
        {complete ? null : 'The smallest edges, or a part of the period, are left out. '}
        {meta.excluded.self_payments === 0
          ? null
          : `${countText(meta.excluded.self_payments)} payments to itself (${usdText(meta.excluded.self_payment_usd)}) are not drawn.`}
      </p>
      <GraphPicture wallet={wallet} graph={graph} />
      <EdgeTable wallet={wallet} graph={graph} edges={edges} />
    </>
  );
}

interface EdgeTableProps {
  readonly wallet: string;
  readonly graph: Graph;
  readonly edges: readonly GraphEdge[];
}

function EdgeTable({ wallet, graph, edges }: EdgeTableProps) {
  const names = new Map(graph.nodes.map((node) => [node.wallet, node.name]));
  return (
    <details class="as-table">
      <summary>As a table ({countText(edges.length)})</summary>
      <DataTable
        caption="Counterparties, largest sum first"
        columns={edgeColumns(wallet, names)}
        rows={edges}
        keyOf={({ payer, payee }) => `${payer}${payee}`}
      />
    </details>
  );
}

function edgeColumns(
  wallet: string,
  names: ReadonlyMap<string, string | null>,
): readonly Column<GraphEdge>[] {
  return [
    {
      name: 'Counterparty',
      cell: ({ payer, payee }) =>
        payee === wallet ? (
          <WalletLink wallet={payer} party="payer" name={names.get(payer)} />
        ) : (
          <WalletLink wallet={payee} party="payee" name={names.get(payee)} />
        ),
    },
    {
      name: 'Direction',
      cell: ({ payee }) => (payee === wallet ? 'paid this wallet' : 'was paid by it'),
    },
    { name: 'Dollars', isFigure: true, cell: ({ usd }) => <Money usd={usd} /> },
    { name: 'Settlements', isFigure: true, cell: ({ count }) => countText(count) },
  ];
}
