import { useRef } from 'preact/hooks';
import { Stat, Stats } from '../components/stat.tsx';
import type { Figure } from './figures.ts';
import { colourResolver, saveChart } from './files.ts';
import { PictureHead } from './picture.tsx';
import { cardText } from './svg.ts';

interface NumberCardProps {
  readonly title: string;
  readonly figures: readonly Figure[];
}

/** One row of figures, large, each with the value of the period before and the change. */
export function NumberCard({ title, figures }: NumberCardProps) {
  const place = useRef<HTMLDivElement>(null);
  const save = (ending: 'png' | 'svg'): void => {
    const element = place.current;
    if (element === null) return;
    const colourOf = colourResolver(element);
    void saveChart(title, ending, (words) => cardText({ figures, words, colourOf }));
  };
  return (
    <>
      <PictureHead title={title} onSave={save} />
      <div ref={place} class="chart-numbers">
        <Stats isPlain>
          {figures.map(({ name, text, exact, before, change }) => (
            <Stat
              key={name}
              name={name}
              {...(before === null ? {} : { note: `${before.text} before` })}
              {...(change === undefined || before === null
                ? {}
                : { change, changeSince: `the period before: ${before.exact}` })}
            >
              <span title={exact} data-exact={exact}>
                {text}
              </span>
            </Stat>
          ))}
        </Stats>
      </div>
    </>
  );
}
