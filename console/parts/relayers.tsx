import type { Column } from '../components/data-table.tsx';
import { Money } from '../components/money.tsx';
import { Time } from '../components/time.tsx';
import { chainText, coinText, countText } from '../format.ts';
import { catalogueSourceText } from '../name-source.ts';
import { Link } from '../router.tsx';
import { facilitatorPath } from '../routes.ts';
import type { Relayer } from '../wire.ts';
import { FacilitatorSwatch } from './facilitator-swatch.tsx';
import { WalletLink } from './wallet-link.tsx';

/** Addresses that send settlements, as tables show them. */

export function relayerKey({ chain, address }: Relayer): string {
  return `${chain}/${address}`;
}

const ADDRESS: Column<Relayer> = {
  name: 'Relayer',
  isRowHeader: true,
  cell: ({ address }) => <WalletLink wallet={address} party="payer" />,
};

const FACILITATOR: Column<Relayer> = {
  name: 'Facilitator',
  cell: ({ facilitator: id, facilitator_name: name, facilitator_source: source }) =>
    id === undefined ? (
      <span class="muted">not named</span>
    ) : (
      <span class="facilitator">
        <FacilitatorSwatch id={id} />
        <Link
          to={facilitatorPath(id)}
          {...(source === undefined ? {} : { title: `Source: ${catalogueSourceText(source)}` })}
        >
          {name ?? id}
        </Link>
      </span>
    ),
};

const SOURCE: Column<Relayer> = {
  name: 'Source',
  priority: 2,
  help: 'Where it is known from that the address belongs to the facilitator',
  cell: ({ facilitator_source: source }) =>
    source === undefined ? <span class="muted">–</span> : catalogueSourceText(source),
};

const FIGURES: readonly Column<Relayer>[] = [
  { name: 'Chain', cell: ({ chain }) => chainText(chain) },
  { name: 'Settlements', isFigure: true, cell: ({ settlement_count: count }) => countText(count) },
  { name: 'Settled', isFigure: true, cell: ({ settled_usd: usd }) => <Money usd={usd} /> },
  {
    name: 'Payers',
    isFigure: true,
    priority: 2,
    help: 'An estimate, about one in a hundred off',
    cell: ({ distinct_payers: count }) => countText(count),
  },
  {
    name: 'Payees',
    isFigure: true,
    priority: 2,
    help: 'An estimate, about one in a hundred off',
    cell: ({ distinct_payees: count }) => countText(count),
  },
  {
    name: 'Nonce',
    isFigure: true,
    priority: 3,
    help: 'Transactions that the account has sent',
    cell: ({ nonce }) => (nonce === undefined ? <NotRead /> : countText(nonce)),
  },
  {
    name: 'Gas',
    isFigure: true,
    priority: 3,
    help: 'What the account holds to pay for gas, in the coin of the chain',
    cell: ({ gas_balance: wei }) =>
      wei === undefined ? <NotRead /> : <span title={`${wei} wei`}>{coinText(wei)}</span>,
  },
  { name: 'First seen', priority: 3, cell: ({ first_seen: at }) => <Time at={at} ago /> },
  { name: 'Last seen', cell: ({ last_seen: at }) => <Time at={at} ago /> },
];

export const RELAYER_COLUMNS: readonly Column<Relayer>[] = [ADDRESS, FACILITATOR, ...FIGURES];
/** On the page of a facilitator, whose name stands above. */
export const SIGNER_COLUMNS: readonly Column<Relayer>[] = [ADDRESS, ...FIGURES, SOURCE];

function NotRead() {
  return (
    <span class="muted" title="Not read from the chain yet.">
      –
    </span>
  );
}
