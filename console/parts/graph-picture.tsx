import { countText, shortAddress, usdText } from '../format.ts';
import { Link } from '../router.tsx';
import { type Neighbour, type WalletGraph, walletGraphOf } from './graph-layout.ts';
import { Identicon } from './identicon.tsx';
import { ribbonPath } from './ribbons.ts';
import { type WalletRole, walletPath } from './wallet-link.tsx';
import type { GraphAnswer } from './wire.ts';

interface GraphPictureProps {
  readonly wallet: string;
  readonly graph: GraphAnswer;
}

/** Money comes in from the left and goes out to the right. Labels are links, in the order of the sums; ribbons are decoration. */
export function GraphPicture({ wallet, graph }: GraphPictureProps) {
  const picture = walletGraphOf(wallet, graph);
  return (
    <div class="graph">
      <div class="graph-body" style={{ height: `${Math.ceil(picture.height)}px` }}>
        <Side name="Paid this wallet" party="payer" neighbours={picture.payers} />
        <GraphRibbons neighbours={picture.payers} party="payer" height={picture.height} />
        <div
          class="graph-center"
          style={{ top: `${picture.center.top}px`, height: `${picture.center.height}px` }}
        >
          <Identicon address={wallet} size={34} />
        </div>
        <GraphRibbons neighbours={picture.payees} party="payee" height={picture.height} />
        <Side name="Paid by this wallet" party="payee" neighbours={picture.payees} />
      </div>
      <Hidden picture={picture} />
    </div>
  );
}

interface SideProps {
  readonly name: string;
  readonly party: WalletRole;
  readonly neighbours: readonly Neighbour[];
}

function Side({ name, party, neighbours }: SideProps) {
  if (neighbours.length === 0)
    return <p class="graph-none muted">{party === 'payer' ? 'Nobody paid it' : 'It paid nobody'}</p>;
  return (
    <ul class={`graph-side is-${party}`} aria-label={name}>
      {neighbours.map(({ wallet, name: called, usd, count, slot }) => (
        <li key={wallet} style={{ top: `${slot.top + slot.height / 2}px` }}>
          <Link class="flow-label" to={walletPath(wallet, party)} title={wallet}>
            <span class="flow-name">
              <Identicon address={wallet} size={14} />
              {called ?? <span class="mono">{shortAddress(wallet)}</span>}
            </span>
            <span class="flow-figures">
              {usdText(usd)} <span class="muted">· {countText(count)}</span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
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

function Hidden({ picture: { hiddenPayers, hiddenPayees } }: { readonly picture: WalletGraph }) {
  if (hiddenPayers + hiddenPayees === 0) return null;
  return (
    <p class="note muted">
      The largest of each side are drawn; the table has {countText(hiddenPayers)} more payers and{' '}
      {countText(hiddenPayees)} more payees.
    </p>
  );
}
