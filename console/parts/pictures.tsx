import { Identicon } from '../components/identicon.tsx';
import { countText, shortAddress, usdText } from '../format.ts';
import { Link } from '../router.tsx';
import { type WalletRole, walletPath } from '../routes.ts';
import type { Graph } from '../wire.ts';
import { type Neighbour, ribbonPath, type WalletGraph, walletGraphOf } from './picture-layout.ts';

interface GraphPictureProps {
  readonly wallet: string;
  readonly graph: Graph;
}

/** Payers on the left, payees on the right. Labels are links, largest sum first; ribbons are hidden from screen readers. */
export function GraphPicture({ wallet, graph }: GraphPictureProps) {
  const picture = walletGraphOf(wallet, graph);
  return (
    <div>
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
