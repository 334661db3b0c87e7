import { facilitatorColour, UNNAMED_COLOUR } from '../chart/palette.ts';
import { Identicon } from '../components/identicon.tsx';
import { Money } from '../components/money.tsx';
import { countText, shortAddress } from '../format.ts';
import { Link } from '../router.tsx';
import { facilitatorPath, type WalletRole, walletPath } from '../routes.ts';
import type { Settlement } from '../wire.ts';
import { type FlowLink, type FlowNode, flowPictureOf, UNNAMED } from './flow-layout.ts';
import { ribbonPath } from './picture-layout.ts';

/** The settlements of the table as a picture of payers, facilitators and payees. Labels are links; ribbons are hidden from screen readers. */
export function FlowPictureView({ rows }: { readonly rows: readonly Settlement[] }) {
  const picture = flowPictureOf(rows);
  const { height } = picture;
  return (
    <section class="flow-picture" aria-label={`Flow of the newest ${rows.length} settlements, to scale`}>
      <div class="flow-heads" aria-hidden="true">
        <span>Payers</span>
        <span>Facilitators</span>
        <span>Payees</span>
      </div>
      <div class="flow-body" style={{ height: `${Math.ceil(height)}px` }}>
        <Labels name="Payers" nodes={picture.payers} party="payer" />
        <Bars nodes={picture.payers} party="payer" />
        <Ribbons links={picture.inflows} height={height} />
        <Facilitators nodes={picture.facilitators} />
        <Ribbons links={picture.outflows} height={height} />
        <Bars nodes={picture.payees} party="payee" />
        <Labels name="Payees" nodes={picture.payees} party="payee" />
      </div>
    </section>
  );
}

/** The colour of a facilitator is the same everywhere; unnamed ones, and the sum of several, are grey. */
function colourOf(facilitator: string): string {
  return facilitator === UNNAMED || facilitator === '' ? UNNAMED_COLOUR : facilitatorColour(facilitator);
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
      {links.map(({ key, from, to, facilitator }) => (
        <path
          key={key}
          class="ribbon"
          style={{ fill: colourOf(facilitator), stroke: colourOf(facilitator) }}
          d={ribbonPath(from, to)}
        />
      ))}
    </svg>
  );
}

/** The parties of a column, to scale. A bar thinner than a pixel is drawn as one. */
function Bars({ nodes, party }: { readonly nodes: readonly FlowNode[]; readonly party: WalletRole }) {
  return (
    <div class={`flow-bars is-${party}`} aria-hidden="true">
      {nodes.map(({ id, slot }) => (
        <span key={id} class="flow-bar" style={{ top: `${slot.top}px`, height: `${slot.height}px` }} />
      ))}
    </div>
  );
}

interface LabelsProps {
  readonly name: string;
  readonly nodes: readonly FlowNode[];
  readonly party: WalletRole;
}

function Labels({ name, nodes, party }: LabelsProps) {
  return (
    <ul class={`flow-column is-${party}`} aria-label={name}>
      {nodes.map((node) => (
        <li key={node.id} style={{ top: `${node.slot.top + node.slot.height / 2}px` }}>
          <PartyLabel node={node} party={party} />
        </li>
      ))}
    </ul>
  );
}

function PartyLabel({ node, party }: { readonly node: FlowNode; readonly party: WalletRole }) {
  if (node.id === '')
    return (
      <span class="flow-label">
        <span class="flow-name">
          <span class="cut">{node.label}</span>
        </span>
        <Figures node={node} />
      </span>
    );
  return (
    <span class="flow-label">
      <Link class="flow-name" to={walletPath(node.id, party)} title={node.id}>
        <Identicon address={node.id} size={14} />
        <span class={node.label === null ? 'mono cut' : 'cut'}>{node.label ?? shortAddress(node.id)}</span>
      </Link>
      <Figures node={node} />
    </span>
  );
}

function Figures({ node: { usdMicros, count } }: { readonly node: FlowNode }) {
  return (
    <span class="flow-figures">
      <Money usd={usdMicros} /> <span class="muted">· {countText(count)}</span>
    </span>
  );
}

/** The column of facilitators: bars as wide as the column, with their labels on them. */
function Facilitators({ nodes }: { readonly nodes: readonly FlowNode[] }) {
  return (
    <div class="flow-middle">
      <div aria-hidden="true">
        {nodes.map(({ id, slot }) => (
          <span
            key={id}
            class="flow-block"
            style={{ top: `${slot.top}px`, height: `${slot.height}px`, '--colour': colourOf(id) }}
          />
        ))}
      </div>
      <ul class="flow-column is-facilitator" aria-label="Facilitators">
        {nodes.map((node) => (
          <li key={node.id} style={{ top: `${node.slot.top + node.slot.height / 2}px` }}>
            <span class="flow-label">
              <FacilitatorName node={node} />
              <Figures node={node} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function FacilitatorName({ node: { id, label } }: { readonly node: FlowNode }) {
  if (id === UNNAMED || id === '')
    return (
      <span class="flow-name">
        <span class="cut">{label}</span>
      </span>
    );
  return (
    <Link class="flow-name" to={facilitatorPath(id)}>
      <span class="cut">{label}</span>
    </Link>
  );
}
