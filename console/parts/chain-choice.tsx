import type { ComponentChildren } from 'preact';
import { Money } from '../components/money.tsx';
import { chainText, countText } from '../format.ts';
import { Link } from '../router.tsx';
import { withQuery } from '../routes.ts';
import type { Profile } from '../wire.ts';
import { FilterForm, SelectFilter, useChainOptions } from './page-head.tsx';

interface ChainChoiceProps {
  /** Path of the page below /console. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Narrows the figures to one chain. Hidden where there is only one. */
export function ChainChoice({ path, query }: ChainChoiceProps) {
  const chains = useChainOptions();
  if (chains.length <= 2) return null;
  return (
    <FilterForm label="Chain of the figures" query={query}>
      <SelectFilter path={path} query={query} label="Chain" name="chain" options={chains} />
    </FilterForm>
  );
}

interface NarrowedProps extends ChainChoiceProps {
  /** Of the answer: what the same role has on the other chains; absent where none was left out. */
  readonly elsewhere: Profile['elsewhere'];
}

/** Says which chain the figures of a page are about alone, and what they leave out. Nothing on a page about all chains. */
export function Narrowed({ path, query, elsewhere = [] }: NarrowedProps) {
  const chain = query.get('chain');
  if (chain === null) return null;
  return (
    <p class="banner">
      <span>
        Only {chainText(chain)} is shown. <ElsewhereText elsewhere={elsewhere} />
      </span>
      <Link to={withQuery(path, query, { chain: null })}>Show all chains</Link>
    </p>
  );
}

/** `Not in these figures: 12 settlements of $0.24 on Polygon.` */
function ElsewhereText({ elsewhere }: { readonly elsewhere: NonNullable<Profile['elsewhere']> }) {
  if (elsewhere.length === 0) return <>There are no such payments on the other chains.</>;
  const others = elsewhere.map(
    ({ chain, settlement_count: count, usd }, at): ComponentChildren => (
      <span key={chain}>
        {at === 0 ? '' : ', '}
        {countText(count)} {count === 1 ? 'settlement' : 'settlements'} of <Money usd={usd} /> on{' '}
        {chainText(chain)}
      </span>
    ),
  );
  return <>Not in these figures: {others}.</>;
}
