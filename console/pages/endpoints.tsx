import { EndpointTable } from '../parts/endpoint-table.tsx';
import { FilterForm, SelectFilter, TextFilter, useChainOptions } from '../parts/filters.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Link } from '../router.tsx';
import type { PageProps } from '../routes.ts';
import { useOffsetList } from '../use-list.ts';
import type { Endpoints } from '../wire.ts';

const PATH = '/endpoints';
const FILTERS = ['q', 'chain', 'max_price_usd', 'capability', 'pay_to'] as const;
const TEXT_MAX = 200;
const PRICES = [
  { value: '', label: 'any price' },
  { value: '0.001', label: 'up to $0.001' },
  { value: '0.01', label: 'up to $0.01' },
  { value: '0.1', label: 'up to $0.10' },
  { value: '1', label: 'up to $1.00' },
];

/** The listed x402 endpoints, with the payments that were observed for each offer. */
export function EndpointsPage({ query }: PageProps) {
  const field = { path: PATH, query };
  const { answer, list } = useOffsetList<Endpoints>({ ...field, filters: FILTERS });
  return (
    <>
      <PageHead title="Endpoints">
        Listed offers, with the payments that were observed on the terms of each offer.{' '}
        <Link to="/capabilities">By capability</Link>
      </PageHead>
      <FilterForm label="Filter endpoints">
        <TextFilter
          {...field}
          label="Words"
          name="q"
          placeholder="service, description, URL"
          maxLength={TEXT_MAX}
        />
        <SelectFilter {...field} label="Price" name="max_price_usd" options={PRICES} />
        <SelectFilter {...field} label="Chain" name="chain" options={useChainOptions('all chains')} />
      </FilterForm>
      <EndpointTable
        caption="Endpoints with prices and observed activity"
        rows={answer?.endpoints ?? null}
        list={{ what: 'endpoints', ...list }}
      />
    </>
  );
}
