import { type Column, DataTable } from '../components/data-table.tsx';
import { Money } from '../components/money.tsx';
import { Time } from '../components/time.tsx';
import { chainText, countText } from '../format.ts';
import type { WalletRole } from '../routes.ts';
import type { Profile } from '../wire.ts';
import { WalletLink } from './wallet-link.tsx';

type Linked = NonNullable<Profile['linked_wallets']>[number];

interface LinkedWalletsProps {
  readonly profile: Profile;
  readonly party: WalletRole;
}

/** Other wallets that are said to be of the same seller: one that is paid on several chains is whole on one page. */
export function LinkedWallets({ profile, party }: LinkedWalletsProps) {
  const { linked_wallets: linked = [], aggregates } = profile;
  if (linked.length === 0) return null;
  const isPayee = party === 'payee';
  const own = isPayee ? aggregates.inbound_usd : aggregates.outbound_usd;
  const together = linked.reduce((sum, { usd }) => sum + usd, own);
  const chains = [...new Set([...aggregates.chain_split, ...linked].map(({ chain }) => chain))];
  return (
    <section aria-labelledby="linked-title">
      <h2 id="linked-title">
        Same seller, other wallets <span class="muted h2-note">all of time</span>
      </h2>
      <p class="note">
        With this wallet they {isPayee ? 'received' : 'paid'} <Money usd={together} /> on{' '}
        {chains.map(chainText).join(', ')}. Who says that they belong together stands beside each.
      </p>
      <DataTable
        caption="Wallets that are said to be of the same seller"
        columns={COLUMNS[party]}
        rows={linked}
        keyOf={({ chain, wallet }) => `${chain} ${wallet}`}
      />
    </section>
  );
}

const BASIS_TEXTS: Readonly<Record<Linked['basis'], string>> = {
  catalogue: 'this deployment’s catalogue',
  listing: 'a listing with an offer for each',
  agent_card: 'the card of an agent',
};

const columnsFor = (party: WalletRole): readonly Column<Linked>[] => [
  { name: 'Wallet', card: 'head', cell: ({ wallet }) => <WalletLink wallet={wallet} party={party} /> },
  { name: 'Chain', cell: ({ chain }) => chainText(chain) },
  {
    name: party === 'payee' ? 'Received' : 'Paid',
    isFigure: true,
    cell: ({ usd }) => <Money usd={usd} />,
  },
  { name: 'Settlements', isFigure: true, cell: ({ settlement_count: count }) => countText(count) },
  {
    name: 'Last seen',
    cell: ({ last_seen: at }) => (at === null ? <span class="muted">never</span> : <Time at={at} ago />),
  },
  {
    name: 'Said by',
    cell: ({ basis, by }) => (
      <span class="small" title={by}>
        {BASIS_TEXTS[basis]}
      </span>
    ),
  },
];

const COLUMNS: Readonly<Record<WalletRole, readonly Column<Linked>[]>> = {
  payee: columnsFor('payee'),
  payer: columnsFor('payer'),
};
