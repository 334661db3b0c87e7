import { useMemo } from 'preact/hooks';
import { Time } from '../components/figures.tsx';
import { countText } from '../format.ts';
import type { PageProps } from '../page.ts';
import { FilterForm, pick, SelectFilter } from '../parts/filters.tsx';
import { ListState, MoreButton } from '../parts/list-states.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Cell } from '../parts/settlement-table.tsx';
import { useChainOptions } from '../parts/use-chains.ts';
import { usePages } from '../parts/use-pages.ts';
import { WalletLink } from '../parts/wallet-link.tsx';
import type { ListedWallet, WalletsAnswer } from '../parts/wire.ts';

const PATH = '/merchants';
const PAGE_ROWS = 50;
const ROLES = [
  { value: '', label: 'were paid' },
  { value: 'payer', label: 'paid' },
  { value: 'any', label: 'either' },
];

const rowsOf = ({ wallets }: WalletsAnswer): readonly ListedWallet[] => wallets;

/** Wallets by address, those that were paid unless another role is chosen. */
export function MerchantsPage({ query }: PageProps) {
  const { role = 'payee', chain } = pick(query, ['role', 'chain']);
  const asked = useMemo(() => ({ role, chain, limit: PAGE_ROWS }), [role, chain]);
  const list = usePages<WalletsAnswer, ListedWallet>('/wallets', asked, rowsOf);
  const chains = useChainOptions('default chain');
  return (
    <>
      <PageHead title="Merchants">Wallets that were paid over x402, by address.</PageHead>
      <FilterForm label="Filter wallets">
        <SelectFilter path={PATH} query={query} label="Wallets that" name="role" options={ROLES} />
        <SelectFilter path={PATH} query={query} label="Chain" name="chain" options={chains} />
      </FilterForm>
      <ListState what="wallets" {...list} onRetry={list.reload}>
        <WalletTable wallets={list.rows ?? []} />
        <MoreButton {...list} shown={list.rows?.length ?? 0} what="wallets" />
      </ListState>
    </>
  );
}

function WalletTable({ wallets }: { readonly wallets: readonly ListedWallet[] }) {
  return (
    <div class="table-wrap">
      <table class="data">
        <caption class="visually-hidden">Wallets, by address</caption>
        <thead>
          <tr>
            <th scope="col">Wallet</th>
            <th scope="col">Roles</th>
            <th scope="col" class="number">
              Settlements
            </th>
            <th scope="col">First seen</th>
            <th scope="col">Last seen</th>
          </tr>
        </thead>
        <tbody>
          {wallets.map((row) => (
            <tr key={row.wallet}>
              <Cell name="Wallet">
                <WalletLink
                  wallet={row.wallet}
                  party={row.roles.includes('payee') ? 'payee' : 'payer'}
                  name={row.name}
                />
              </Cell>
              <Cell name="Roles" class="tags">
                {row.roles.map((role) => (
                  <span key={role} class="badge quiet">
                    {role}
                  </span>
                ))}
              </Cell>
              <Cell name="Settlements" class="number">
                {countText(row.settlement_count)}
              </Cell>
              <Cell name="First seen">
                <Time at={row.first_seen} />
              </Cell>
              <Cell name="Last seen">
                <Time at={row.last_seen} ago />
              </Cell>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
