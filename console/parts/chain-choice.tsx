import { FilterForm, SelectFilter, useChainOptions } from './page-head.tsx';

interface ChainChoiceProps {
  /** Path of the page below /console. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** The chain of the figures, or the sum over all chains. Hidden where there is only one chain. */
export function ChainChoice({ path, query }: ChainChoiceProps) {
  const chains = useChainOptions('default chain');
  if (chains.length <= 2) return null;
  return (
    <FilterForm label="Chain of the figures">
      <SelectFilter
        path={path}
        query={query}
        label="Chain"
        name="chain"
        options={[...chains, { value: 'all', label: 'all, added up' }]}
      />
    </FilterForm>
  );
}
