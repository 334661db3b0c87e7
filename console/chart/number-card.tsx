import { Stat, Stats } from '../components/stat.tsx';
import type { Figure } from './figures.ts';

interface NumberCardProps {
  readonly figures: readonly Figure[];
}

/** One row of figures, large, each with the value of the period before and the change. */
export function NumberCard({ figures }: NumberCardProps) {
  return (
    <div class="chart-numbers">
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
  );
}
