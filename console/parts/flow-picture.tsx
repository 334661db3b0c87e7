import { countText, shortAddress } from '../format.ts';
import { Link } from '../router.tsx';
import { type FlowLink, type FlowNode, flowPictureOf } from './flow-layout.ts';
import { Identicon } from './identicon.tsx';
import { usdTextOfMicros } from './money.ts';
import { ribbonPath } from './ribbons.ts';
import { type WalletRole, walletPath } from './wallet-link.tsx';
import type { NamedSettlement } from './wire.ts';

const SERIES = 5;

/** Who pays, through which facilitator, whom: the rows of the table below as one picture. Labels are links; ribbons are decoration. */
export function FlowPictureView({ rows }: { readonly rows: readonly NamedSettlement[] }) {
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
  /** Null for facilitators, which have no page of their own. */
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
