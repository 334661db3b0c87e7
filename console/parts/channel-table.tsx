import type { ComponentChildren } from 'preact';
import { segment } from '../api.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Money } from '../components/money.tsx';
import { Time } from '../components/time.tsx';
import { chainText, countText, shortAddress } from '../format.ts';
import { Link } from '../router.tsx';
import { channelPath, type WalletRole, walletPath, withQuery } from '../routes.ts';
import { useCursorList } from '../use-list.ts';
import type { Channel, EntityChannels, Profile } from '../wire.ts';
import { ChannelAmount } from './channel-amount.tsx';
import { WalletLink } from './wallet-link.tsx';

type Sides = NonNullable<Profile['channels']>;

interface WalletChannelsProps {
  readonly wallet: string;
  readonly party: WalletRole;
  /** Null for all chains. */
  readonly chain: string | null;
  readonly sides: Sides;
  readonly query: URLSearchParams;
}

/** Channels and escrows that a wallet is paid from, or pays from, and how many it has on the other side. */
export function WalletChannels({ wallet, party, chain, sides, query }: WalletChannelsProps) {
  const isPayee = party === 'payee';
  const [own, other] = isPayee ? [sides.as_payee, sides.as_payer] : [sides.as_payer, sides.as_payee];
  const role: WalletRole = isPayee ? 'payer' : 'payee';
  return (
    <section aria-labelledby="channels-title">
      <h2 id="channels-title">
        Channels <span class="muted h2-note">all of time</span>
      </h2>
      <SideLine side={own} is={isPayee ? 'paid from' : 'paying from'} />
      {other.channel_count === 0 ? null : (
        <SideLine side={other} is={isPayee ? 'paying from' : 'paid from'}>
          <Link to={withQuery(walletPath(wallet, role), query, {})}>
            {isPayee ? 'See it as payer' : 'See it as payee'}
          </Link>
        </SideLine>
      )}
      {own.channel_count === 0 ? null : <ChannelTable wallet={wallet} party={party} chain={chain} />}
    </section>
  );
}

interface SideLineProps {
  readonly side: Sides['as_payer'];
  readonly is: 'paid from' | 'paying from';
  readonly children?: ComponentChildren;
}

function SideLine({ side, is, children }: SideLineProps) {
  const { channel_count: count, open_count: open, balance_usd: balance } = side;
  const verb = is === 'paid from' ? 'is paid from' : 'pays from';
  if (count === 0) return <p class="note muted">It {verb} no channel.</p>;
  return (
    <p class="note">
      It {verb} {countText(count)} {count === 1 ? 'channel' : 'channels'}
      {open === 0 ? ', none of which holds money.' : `, ${countText(open)} open`}
      {open === 0 ? null : (
        <>
          {balance === null ? ' in tokens without a dollar value.' : ' with '}
          {balance === null ? null : (
            <>
              <Money usd={balance} /> not yet claimed.
            </>
          )}
        </>
      )}{' '}
      {children}
    </p>
  );
}

const PAGE_ROWS = 20;

function ChannelTable({ wallet, party, chain }: Pick<WalletChannelsProps, 'wallet' | 'party' | 'chain'>) {
  const { rows, ...list } = useCursorList<EntityChannels, Channel>(
    `/entities/${segment(wallet)}/channels`,
    { role: party, chain, limit: PAGE_ROWS },
    ({ channels }) => channels,
  );
  return (
    <DataTable
      caption={`Channels that the wallet ${party === 'payee' ? 'is paid from' : 'pays from'}, opened last first`}
      columns={CHANNEL_COLUMNS[party]}
      rows={rows}
      keyOf={({ chain: on, channel }) => `${on} ${channel}`}
      list={{ what: 'channels', ...list }}
    />
  );
}

const ID: Column<Channel> = {
  name: 'Channel',
  class: 'channel-id',
  card: 'head',
  cell: (row) => (
    <>
      <Link class="mono" to={channelPath(row.channel)} title={row.channel}>
        {shortAddress(row.channel)}
      </Link>
      <span class="muted small">
        {row.scheme === 'auth-capture' ? 'escrow on' : 'on'} {chainText(row.chain)}
      </span>
    </>
  ),
};

const PAYER: Column<Channel> = {
  name: 'Payer',
  card: 'head',
  cell: ({ payer, payer_name: name, payer_name_source: source }) => (
    <WalletLink wallet={payer} party="payer" name={name} source={source} />
  ),
};

const PAYEE: Column<Channel> = {
  name: 'Payee',
  card: 'head',
  cell: ({ payee, payee_name: name, payee_name_source: source }) => (
    <WalletLink wallet={payee} party="payee" name={name} source={source} />
  ),
};

const FIGURES: readonly Column<Channel>[] = [
  {
    name: 'Balance',
    isFigure: true,
    card: 'lead',
    help: 'Committed to the payee and not yet claimed',
    cell: (row) =>
      row.balance === null ? (
        <span class="muted" title="Indexing began after its first deposit">
          not known
        </span>
      ) : (
        <ChannelAmount channel={row} money={row.balance} />
      ),
  },
  {
    name: 'Deposited',
    isFigure: true,
    priority: 2,
    cell: (row) => <ChannelAmount channel={row} money={row.deposited} />,
  },
  {
    name: 'Claimed',
    isFigure: true,
    card: 'meta',
    cell: (row) => <ChannelAmount channel={row} money={row.paid} />,
  },
  {
    name: 'Returned',
    isFigure: true,
    priority: 3,
    cell: (row) => <ChannelAmount channel={row} money={row.returned} />,
  },
  { name: 'Claims', isFigure: true, priority: 2, cell: ({ payment_count: count }) => countText(count) },
  { name: 'Opened', priority: 3, cell: ({ opened_at: at }) => <Time at={at} ago /> },
  { name: 'Last event', priority: 2, card: 'meta', cell: ({ last_event_at: at }) => <Time at={at} ago /> },
];

const CHANNEL_COLUMNS: Readonly<Record<WalletRole, readonly Column<Channel>[]>> = {
  payee: [ID, PAYER, ...FIGURES],
  payer: [ID, PAYEE, ...FIGURES],
};
