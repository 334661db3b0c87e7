import { capitalized, columnWords } from './columns.ts';
import { grainOf } from './dates.ts';
import { leastGap, type Prepared } from './series.ts';

/** A title for a chart without one, from its columns: `Volume by facilitator by week`. Pure. */
export function chartTitle({ spec, x }: Pick<Prepared, 'spec' | 'x'>): string {
  const measures = spec.y.map(columnWords);
  const what = capitalized(listed(measures));
  if (spec.kind === 'number') return what;
  const along =
    x.kind === 'time' ? (grainOf(leastGap(x.places)) ?? columnWords(spec.x)) : columnWords(spec.x);
  if (spec.kind === 'scatter') return `${what} against ${along}`;
  const split = spec.by === null ? '' : columnWords(spec.by);
  if (spec.kind === 'heatmap' && split !== '') return `${what} by ${along} and ${split}`;
  return `${what}${split === '' ? '' : ` by ${split}`} by ${along}`;
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
