import { TIER_NAMES } from '../parts/evidence.tsx';
import { CheckFilter, FilterForm, SelectFilter, TextFilter, useChainOptions } from '../parts/filters.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { SettlementTable } from '../parts/settlement-table.tsx';
import { type PageProps, pick } from '../routes.ts';
import { useCursorList } from '../use-list.ts';
import type { Settlement, Transactions } from '../wire.ts';

const PATH = '/transactions';
const FILTERS = ['chain', 'facilitator', 'tier', 'min_probability', 'exclude_self_payments'] as const;
const PAGE_ROWS = 50;
const FACILITATOR_MAX = 64;

const TIERS = [
  { value: '', label: 'all tiers' },
  ...Object.entries(TIER_NAMES).map(([value, label]) => ({ value, label })),
];
const PROBABILITIES = [
  { value: '', label: 'any' },
  { value: '1', label: '1: proven' },
  { value: '0.9', label: '0.9 and more' },
  { value: '0.7', label: '0.7 and more' },
  { value: '0.3', label: '0.3 and more' },
];

/** Every indexed settlement, newest first. */
export function TransactionsPage({ query }: PageProps) {
  const chosen = pick(query, FILTERS);
  const { rows, ...list } = useCursorList<Transactions, Settlement>(
    PATH,
    { ...chosen, limit: PAGE_ROWS },
    ({ transactions }) => transactions,
  );
  const field = { path: PATH, query };
  return (
    <>
      <PageHead title="Settlements">
        Every indexed settlement, newest first, with how sure it is that it was an x402 payment.
      </PageHead>
      <FilterForm label="Filter settlements">
        <SelectFilter {...field} label="Chain" name="chain" options={useChainOptions('all chains')} />
        <SelectFilter {...field} label="Tier" name="tier" options={TIERS} />
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
      <SettlementTable
        caption="Settlements, newest first"
        rows={rows}
        list={{ what: 'settlements', isFiltered: Object.keys(chosen).length > 0, ...list }}
      />
    </>
  );
}
