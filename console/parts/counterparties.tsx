import { useId, useState } from 'preact/hooks';
import { account, refreshAccount } from '../account.ts';
import { announce } from '../announce.tsx';
import { getJson } from '../api.ts';
import { ProblemState } from '../components/states.tsx';
import { countText, timeText, usdText } from '../format.ts';
import { ApiProblem } from '../problem.ts';
import { useStore } from '../store.ts';
import { useAnswer } from '../use-answer.ts';
import { GraphPicture } from './graph-picture.tsx';
import { WalletLink } from './wallet-link.tsx';
import type { GraphAnswer, GraphEdge } from './wire.ts';
import type { AccountAnswer } from './wire-service.ts';

/** The graph around a wallet costs a unit, so it is drawn when somebody asks for it, and the button says the price. */

const WINDOW_ROWS = 5_000;
const SPANS = [
  { id: 'window', label: `newest ${countText(WINDOW_ROWS)} settlements`, query: { window: WINDOW_ROWS } },
  { id: 'days', label: 'last 30 whole days', query: { days: 30 } },
] as const;
const EDGES_MAX = 200;
type Drawn =
  | { readonly state: 'none' | 'asking' }
  | { readonly state: 'failed'; readonly problem: ApiProblem }
  | { readonly state: 'shown'; readonly graph: GraphAnswer };

interface CounterpartiesProps {
  readonly wallet: string;
  /** Null for all. */
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
        <h2 id="graph-title">Counterparties</h2>
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
          Who paid this wallet and whom it paid, with the sums between them.
          {price === null ? null : ` One picture costs ${price}.`}
        </p>
      ) : null}
      {drawn.state === 'failed' ? <ProblemState problem={drawn.problem} onRetry={() => void draw()} /> : null}
      {drawn.state === 'shown' ? <Graph wallet={wallet} graph={drawn.graph} /> : null}
    </section>
  );
}

/** As the price list says it: units of an organization, or dollars for a call without one. Null until it is known. */
function useGraphPrice(): string | null {
  const { answer } = useAnswer<AccountAnswer>('/account');
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
    const query = { wallet: about.wallet, chain: about.chain ?? 'all', ...span.query, max_edges: EDGES_MAX };
    return { state: 'shown', graph: await getJson<GraphAnswer>('/graph', { query }) };
  } catch (error) {
    if (error instanceof ApiProblem) return { state: 'failed', problem: error };
    throw error;
  }
}

function Graph({ wallet, graph }: { readonly wallet: string; readonly graph: GraphAnswer }) {
  const { edges, since, until, complete, meta } = graph;
  if (edges.length === 0)
    return (
      <p class="note">No payments with others in this span. Payments of the wallet to itself are left out.</p>
    );
  return (
    <>
      <p class="note muted">
        {since === null || until === null ? null : `${timeText(since)} to ${timeText(until)}. `}
        {complete ? null : 'The smallest edges, or part of the span, are left out. '}
        {meta.excluded.self_payments === 0
          ? null
          : `${countText(meta.excluded.self_payments)} payments to itself (${usdText(meta.excluded.self_payment_usd)}) are no edges.`}
      </p>
      <GraphPicture wallet={wallet} graph={graph} />
      <EdgeTable wallet={wallet} graph={graph} edges={edges} />
    </>
  );
}

interface EdgeTableProps {
  readonly wallet: string;
  readonly graph: GraphAnswer;
  readonly edges: readonly GraphEdge[];
}

function EdgeTable({ wallet, graph, edges }: EdgeTableProps) {
  const names = new Map(graph.nodes.map((node) => [node.wallet, node.name]));
  return (
    <details class="as-table">
      <summary>As a table ({countText(edges.length)})</summary>
      <div class="table-wrap">
        <table class="data">
          <caption class="visually-hidden">Counterparties, largest sum first</caption>
          <thead>
            <tr>
              <th scope="col">Counterparty</th>
              <th scope="col">Direction</th>
              <th scope="col" class="number">
                Dollars
              </th>
              <th scope="col" class="number">
                Settlements
              </th>
            </tr>
          </thead>
          <tbody>
            {edges.map((edge) => {
              const isIn = edge.payee === wallet;
              const other = isIn ? edge.payer : edge.payee;
              return (
                <tr key={`${edge.payer}${edge.payee}`}>
                  <td>
                    <WalletLink wallet={other} party={isIn ? 'payer' : 'payee'} name={names.get(other)} />
                  </td>
                  <td>{isIn ? 'paid this wallet' : 'was paid by it'}</td>
                  <td class="number">{usdText(edge.usd)}</td>
                  <td class="number">{countText(edge.count)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </details>
  );
}
