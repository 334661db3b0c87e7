import type { PageProps } from '../page.ts';
import { EndpointTable } from '../parts/endpoint-table.tsx';
import { FilterForm, pick, SelectFilter, TextFilter } from '../parts/filters.tsx';
import { ListState } from '../parts/list-states.tsx';
import { OffsetNav, offsetOf } from '../parts/offset-nav.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { useChainOptions } from '../parts/use-chains.ts';
import type { EndpointsAnswer } from '../parts/wire.ts';
import { Link } from '../router.tsx';
import { useAnswer } from '../use-answer.ts';

const PATH = '/endpoints';
const LIMIT = 50;
const FILTERS = ['q', 'chain', 'max_price_usd', 'capability', 'pay_to'] as const;
const TEXT_MAX = 200;
const PRICES = [
  { value: '', label: 'any price' },
  { value: '0.001', label: 'up to $0.001' },
  { value: '0.01', label: 'up to $0.01' },
  { value: '0.1', label: 'up to $0.10' },
  { value: '1', label: 'up to $1.00' },
];

/** What can be bought over x402, and what was seen to be paid for it. */
export function EndpointsPage({ query }: PageProps) {
  const filters = pick(query, FILTERS);
  const { answer, problem, reload } = useAnswer<EndpointsAnswer>(PATH, {
    query: { ...filters, offset: offsetOf(query), limit: LIMIT },
  });
  const rows = answer?.endpoints ?? null;
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <PageHead title="Endpoints">
        What is listed, with what was seen to be paid on the terms of each offer.{' '}
        <Link to="/capabilities">By capability</Link>
      </PageHead>
      <FilterForm label="Filter endpoints">
        <TextFilter
          path={PATH}
          query={query}
          label="Words"
          name="q"
          placeholder="service, description, URL"
          maxLength={TEXT_MAX}
        />
        <SelectFilter path={PATH} query={query} label="Price" name="max_price_usd" options={PRICES} />
        <SelectFilter
          path={PATH}
          query={query}
          label="Chain"
          name="chain"
          options={useChainOptions('all chains')}
        />
      </FilterForm>
      <ListState
        what="endpoints"
        rows={rows}
        meta={answer?.meta ?? null}
        problem={problem}
        isFiltered={isFiltered}
        onRetry={reload}
      >
        <EndpointTable caption="Endpoints with prices and observed activity" endpoints={rows ?? []} />
        <OffsetNav
          path={PATH}
          query={query}
          limit={LIMIT}
          shown={rows?.length ?? 0}
          nextOffset={answer?.next_offset ?? null}
          what="endpoints"
        />
      </ListState>
    </>
  );
}
