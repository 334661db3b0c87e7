import { countText, shortAddress, usdText, usdTextOfMicros } from '../format.ts';
import { Link } from '../router.tsx';
import { type WalletRole, walletPath } from '../routes.ts';
import type { Graph, Settlement } from '../wire.ts';
import {
  type FlowLink,
  type FlowNode,
  flowPictureOf,
  type Neighbour,
  ribbonPath,
  type WalletGraph,
  walletGraphOf,
} from './picture-layout.ts';
import { Identicon } from './wallet-link.tsx';

const SERIES = 5;

/** The settlements of the table as a picture of payers, facilitators and payees. Labels are links; ribbons are hidden from screen readers. */
export function FlowPictureView({ rows }: { readonly rows: readonly Settlement[] }) {
  const picture = flowPictureOf(rows);
  return (
    <section class="flow-picture" aria-label={`Flow of the newest ${rows.length} settlements`}>
      <div class="flow-heads" aria-hidden="true">
        <span>Payers</span>
        <span>Facilitators</span>
        <span>Payees</span>
      </div>
      <div class="flow-body" style={{ height: `${Math.ceil(picture.height)}px` }}>
        <NodeColumn name="Payers" nodes={picture.payers} party="payer" />
        <Ribbons links={picture.inflows} height={picture.height} />
        <NodeColumn name="Facilitators" nodes={picture.facilitators} party={null} />
        <Ribbons links={picture.outflows} height={picture.height} />
        <NodeColumn name="Payees" nodes={picture.payees} party="payee" />
      </div>
    </section>
  );
}

function Ribbons({ links, height }: { readonly links: readonly FlowLink[]; readonly height: number }) {
  return (
    <svg
      class="ribbons"
      viewBox={`0 0 100 ${Math.max(1, height)}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      focusable="false"
    >
      {links.map(({ key, from, to, series }) => (
        <path key={key} class={`ribbon series-${(series % SERIES) + 1}`} d={ribbonPath(from, to)} />
      ))}
    </svg>
  );
}

interface NodeColumnProps {
  readonly name: string;
  readonly nodes: readonly FlowNode[];
  /** Null for facilitators, which have no page. */
  readonly party: WalletRole | null;
}

function NodeColumn({ name, nodes, party }: NodeColumnProps) {
  return (
    <ul class={`flow-column is-${party ?? 'facilitator'}`} aria-label={name}>
      {nodes.map((node, at) => (
        <li key={node.id} style={{ top: `${node.slot.top}px`, height: `${node.slot.height}px` }}>
          {party === null ? (
            <span class={`flow-bar series-${(at % SERIES) + 1}`} />
          ) : (
            <span class="flow-bar" />
          )}
          <NodeLabel node={node} party={party} />
          {party === null ? <span class={`flow-bar series-${(at % SERIES) + 1}`} /> : null}
        </li>
      ))}
    </ul>
  );
}

function NodeLabel({ node, party }: { readonly node: FlowNode; readonly party: WalletRole | null }) {
  const figures = (
    <span class="flow-figures">
      {usdTextOfMicros(node.usdMicros)} <span class="muted">· {countText(node.count)}</span>
    </span>
  );
  if (party === null || node.id === '')
    return (
      <span class="flow-label">
        <span class="flow-name">
          <span class="cut">{node.label}</span>
        </span>
        {figures}
      </span>
    );
  return (
    <Link class="flow-label" to={walletPath(node.id, party)} title={node.id}>
      <span class="flow-name">
        <Identicon address={node.id} size={14} />
        <span class={node.label === null ? 'mono cut' : 'cut'}>{node.label ?? shortAddress(node.id)}</span>
      </span>
      {figures}
    </Link>
  );
}

interface GraphPictureProps {
  readonly wallet: string;
  readonly graph: Graph;
}

/** Payers on the left, payees on the right. Labels are links, largest sum first; ribbons are hidden from screen readers. */
export function GraphPicture({ wallet, graph }: GraphPictureProps) {
  const picture = walletGraphOf(wallet, graph);
  return (
    <div class="graph">
      <div class={bodyClass(picture)} style={{ height: `${Math.ceil(picture.height)}px` }}>
        <Side name="Paid this wallet" party="payer" picture={picture} />
        <div
          class="graph-center"
          style={{ top: `${picture.center.top}px`, height: `${picture.center.height}px` }}
        >
          <Identicon address={wallet} size={34} />
        </div>
        <Side name="Paid by this wallet" party="payee" picture={picture} />
      </div>
      <Hidden picture={picture} />
    </div>
  );
}

/** An empty side takes no room. */
function bodyClass({ payers, payees }: WalletGraph): string {
  if (payees.length === 0) return 'graph-body has-payers';
  return payers.length === 0 ? 'graph-body has-payees' : 'graph-body has-payers has-payees';
}

interface SideProps {
  readonly name: string;
  readonly party: WalletRole;
  readonly picture: WalletGraph;
}

function Side({ name, party, picture }: SideProps) {
  const neighbours = party === 'payer' ? picture.payers : picture.payees;
  if (neighbours.length === 0) return null;
  const labels = (
    <ul class={`graph-side is-${party}`} aria-label={name}>
      {neighbours.map((neighbour) => (
        <NeighbourItem key={neighbour.wallet} neighbour={neighbour} party={party} />
      ))}
    </ul>
  );
  const ribbons = <GraphRibbons neighbours={neighbours} party={party} height={picture.height} />;
  return party === 'payer' ? (
    <>
      {labels}
      {ribbons}
    </>
  ) : (
    <>
      {ribbons}
      {labels}
    </>
  );
}

function NeighbourItem({ neighbour, party }: { readonly neighbour: Neighbour; readonly party: WalletRole }) {
  const { wallet, name, usd, count, slot } = neighbour;
  return (
    <li style={{ top: `${slot.top + slot.height / 2}px` }}>
      <Link class="flow-label" to={walletPath(wallet, party)} title={wallet}>
        <span class="flow-name">
          <Identicon address={wallet} size={14} />
          <span class={name === null ? 'mono cut' : 'cut'}>{name ?? shortAddress(wallet)}</span>
        </span>
        <span class="flow-figures">
          {usdText(usd)} <span class="muted">· {countText(count)}</span>
        </span>
      </Link>
    </li>
  );
}

interface GraphRibbonsProps {
  readonly neighbours: readonly Neighbour[];
  readonly party: WalletRole;
  readonly height: number;
}

function GraphRibbons({ neighbours, party, height }: GraphRibbonsProps) {
  return (
    <svg
      class="ribbons"
      viewBox={`0 0 100 ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      focusable="false"
    >
      {neighbours.map(({ wallet, slot, end }) => (
        <path
          key={wallet}
          class={party === 'payer' ? 'ribbon series-1' : 'ribbon series-2'}
          d={party === 'payer' ? ribbonPath(slot, end) : ribbonPath(end, slot)}
        />
      ))}
    </svg>
  );
}

/** How many counterparties the picture leaves out, and which side is empty. */
function Hidden({ picture }: { readonly picture: WalletGraph }) {
  const { payers, payees, hiddenPayers, hiddenPayees } = picture;
  const texts = [
    ...(payers.length === 0 ? ['No wallet paid it in this period.'] : []),
    ...(payees.length === 0 ? ['It paid no wallet in this period.'] : []),
    ...(hiddenPayers > 0 ? [`${countText(hiddenPayers)} more payers are in the table.`] : []),
    ...(hiddenPayees > 0 ? [`${countText(hiddenPayees)} more payees are in the table.`] : []),
  ];
  return texts.length === 0 ? null : <p class="note muted">{texts.join(' ')}</p>;
}
