import { useAnswer } from '../use-answer.ts';
import type { Capabilities } from '../wire.ts';
import { SelectFilter } from './page-head.tsx';

interface CapabilityFilterProps {
  /** Path of the page below /console. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** What the listed ones must offer, by the catalogue of capabilities. */
export function CapabilityFilter(field: CapabilityFilterProps) {
  const { answer } = useAnswer<Capabilities>('/capabilities', { query: { fields: 'compact' } });
  const options = [
    { value: '', label: 'any capability' },
    ...(answer?.capabilities ?? []).map(({ slug, name }) => ({ value: slug, label: name })),
  ];
  return <SelectFilter {...field} label="Offers" name="capability" options={options} />;
}
