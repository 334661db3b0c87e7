import { useMemo } from 'preact/hooks';
import type { PageProps } from '../page.ts';
import { TIER_NAMES, TIERS } from '../parts/evidence-badge.tsx';
import { CheckFilter, FilterForm, pick, SelectFilter, TextFilter } from '../parts/filters.tsx';
import { ListState, MoreButton } from '../parts/list-states.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { SettlementTable } from '../parts/settlement-table.tsx';
import { useChainOptions } from '../parts/use-chains.ts';
import { usePages } from '../parts/use-pages.ts';
import type { NamedSettlement, TransactionsAnswer } from '../parts/wire.ts';

const PATH = '/transactions';
const FILTERS = ['chain', 'facilitator', 'tier', 'min_probability', 'exclude_self_payments'] as const;
const PAGE_ROWS = 50;
const FACILITATOR_MAX = 64;

const PROBABILITIES = [
  { value: '', label: 'any' },
  { value: '1', label: '1: proven' },
  { value: '0.9', label: '0.9 and more' },
  { value: '0.7', label: '0.7 and more' },
  { value: '0.3', label: '0.3 and more' },
];

const rowsOf = ({ transactions }: TransactionsAnswer): readonly NamedSettlement[] => transactions;

/** Every indexed settlement, newest first. */
export function TransactionsPage({ query }: PageProps) {
  const filters = pick(query, FILTERS);
  const chosen = JSON.stringify(filters);
  const asked = useMemo(() => ({ ...JSON.parse(chosen), limit: PAGE_ROWS }), [chosen]);
  const list = usePages<TransactionsAnswer, NamedSettlement>(PATH, asked, rowsOf);
  const isFiltered = chosen !== '{}';
  return (
    <>
      <PageHead title="Settlements">
        Every indexed settlement, newest first, by how sure it is that it was x402.
      </PageHead>
      <Filters query={query} />
      <ListState what="settlements" {...list} isFiltered={isFiltered} onRetry={list.reload}>
        <SettlementTable caption="Settlements, newest first" rows={list.rows ?? []} />
      </ListState>
      {list.rows === null ? null : <MoreButton {...list} shown={list.rows.length} what="settlements" />}
    </>
  );
}

function Filters({ query }: { readonly query: URLSearchParams }) {
  const field = { path: PATH, query };
  const chains = useChainOptions('all chains');
  const tiers = [
    { value: '', label: 'all tiers' },
    ...TIERS.map((tier) => ({ value: tier, label: TIER_NAMES[tier] ?? tier })),
  ];
  return (
    <FilterForm label="Filter settlements">
      <SelectFilter {...field} label="Chain" name="chain" options={chains} />
      <SelectFilter {...field} label="Tier" name="tier" options={tiers} />
      <SelectFilter {...field} label="Probability" name="min_probability" options={PROBABILITIES} />
      <TextFilter
        {...field}
        label="Facilitator"
        name="facilitator"
        placeholder="id, such as coinbase"
        maxLength={FACILITATOR_MAX}
      />
      <CheckFilter {...field} label="Without payments to oneself" name="exclude_self_payments" />
    </FilterForm>
  );
}
