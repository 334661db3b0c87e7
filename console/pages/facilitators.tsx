import { Time } from '../components/figures.tsx';
import { chainText, coinText, countText, usdText } from '../format.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { CheckFilter, FilterForm, PageHead, SelectFilter, useChainOptions } from '../parts/page-head.tsx';
import { WalletLink } from '../parts/wallet-link.tsx';
import type { PageProps } from '../routes.ts';
import { useOffsetList } from '../use-list.ts';
import type { Facilitators, Relayer } from '../wire.ts';

const PATH = '/facilitators';
const FILTERS = ['chain', 'named_only', 'enriched_only'] as const;

/** The accounts that send the transactions, busiest first, with their nonce and gas on the chain. */
export function FacilitatorsPage({ query }: PageProps) {
  const field = { path: PATH, query };
  const { answer, list } = useOffsetList<Facilitators>({ ...field, filters: FILTERS });
  return (
    <>
      <PageHead title="Facilitators">
        Relayers by chain, busiest first. Nonce and gas are read from the chain; the numbers of payers and
        payees are estimates.
      </PageHead>
      <FilterForm label="Filter facilitators">
        <SelectFilter {...field} label="Chain" name="chain" options={useChainOptions('default chain')} />
        <CheckFilter {...field} label="Named only" name="named_only" />
        <CheckFilter {...field} label="Read from the chain only" name="enriched_only" />
      </FilterForm>
      <DataTable
        caption="Relayers, busiest first"
        columns={COLUMNS}
        rows={answer?.facilitators ?? null}
        keyOf={({ chain, address }) => `${chain}/${address}`}
        list={{ what: 'facilitators', ...list }}
      />
    </>
  );
}

const COLUMNS: readonly Column<Relayer>[] = [
  {
    name: 'Facilitator',
    cell: ({ facilitator, facilitator_name: name }) => (
      <strong>{name ?? facilitator ?? <span class="muted">not named</span>}</strong>
    ),
  },
  { name: 'Relayer', cell: ({ address }) => <WalletLink wallet={address} party="payer" /> },
  { name: 'Chain', cell: ({ chain }) => chainText(chain) },
  { name: 'Settlements', isFigure: true, cell: ({ settlement_count: count }) => countText(count) },
  { name: 'Settled', isFigure: true, cell: ({ settled_usd: usd }) => usdText(usd) },
  { name: 'Payers', isFigure: true, cell: ({ distinct_payers: count }) => countText(count) },
  { name: 'Payees', isFigure: true, cell: ({ distinct_payees: count }) => countText(count) },
  {
    name: 'Nonce',
    isFigure: true,
    cell: ({ nonce }) => (nonce === undefined ? <NotRead /> : countText(nonce)),
  },
  {
    name: 'Gas',
    isFigure: true,
    cell: ({ gas_balance: wei }) =>
      wei === undefined ? <NotRead /> : <span title={`${wei} wei`}>{coinText(wei)}</span>,
  },
  { name: 'Last seen', cell: ({ last_seen: at }) => <Time at={at} ago /> },
];

function NotRead() {
  return (
    <span class="muted" title="Not read from the chain yet.">
      –
    </span>
  );
}
