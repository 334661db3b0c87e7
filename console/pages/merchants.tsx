import { Time } from '../components/figures.tsx';
import { countText } from '../format.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { FilterForm, PageHead, SelectFilter, useChainOptions } from '../parts/page-head.tsx';
import { WalletLink } from '../parts/wallet-link.tsx';
import { type PageProps, pick } from '../routes.ts';
import { useCursorList } from '../use-list.ts';
import type { Wallet, Wallets } from '../wire.ts';

const PATH = '/merchants';
const PAGE_ROWS = 50;
const ROLES = [
  { value: '', label: 'were paid' },
  { value: 'payer', label: 'paid' },
  { value: 'any', label: 'either' },
];

/** Wallets by address; without a chosen role, those that were paid. */
export function MerchantsPage({ query }: PageProps) {
  const { role = 'payee', chain } = pick(query, ['role', 'chain']);
  const { rows, ...list } = useCursorList<Wallets, Wallet>(
    '/wallets',
    { role, chain, limit: PAGE_ROWS },
    ({ wallets }) => wallets,
  );
  const field = { path: PATH, query };
  return (
    <>
      <PageHead title="Merchants">Wallets that were paid over x402, by address.</PageHead>
      <FilterForm label="Filter wallets">
        <SelectFilter {...field} label="Wallets that" name="role" options={ROLES} />
        <SelectFilter {...field} label="Chain" name="chain" options={useChainOptions('default chain')} />
      </FilterForm>
      <DataTable
        caption="Wallets, by address"
        columns={COLUMNS}
        rows={rows}
        keyOf={({ wallet }) => wallet}
        list={{ what: 'wallets', ...list }}
      />
    </>
  );
}

const COLUMNS: readonly Column<Wallet>[] = [
  {
    name: 'Wallet',
    cell: ({ wallet, name, roles }) => (
      <WalletLink wallet={wallet} party={roles.includes('payee') ? 'payee' : 'payer'} name={name} />
    ),
  },
  {
    name: 'Roles',
    class: 'tags',
    cell: ({ roles }) =>
      roles.map((role) => (
        <span key={role} class="badge quiet">
          {role}
        </span>
      )),
  },
  { name: 'Settlements', isFigure: true, cell: ({ settlement_count: count }) => countText(count) },
  { name: 'First seen', isWideOnly: true, cell: ({ first_seen: at }) => <Time at={at} /> },
  { name: 'Last seen', cell: ({ last_seen: at }) => <Time at={at} ago /> },
];
