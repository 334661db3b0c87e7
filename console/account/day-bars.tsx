import { useState } from 'preact/hooks';
import { aboutText, countText } from '../format.ts';

interface BarDay {
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly value: number;
  /** More to say about the day under the pointer. */
  readonly note: string;
}

interface DayBarsProps {
  readonly title: string;
  readonly unit: string;
  /** Every day, oldest first; a day with nothing has its place and no bar. */
  readonly days: readonly BarDay[];
}

const HEIGHT = 100;
const BAR_SHARE = 0.72;
const BAR_MIN = 1.2;

/** One figure by day. The figures of every day with a bar are in the name of the picture, for those who cannot see it. */
export function DayBars({ title, unit, days }: DayBarsProps) {
  const [shown, show] = useState<BarDay | null>(null);
  const most = days.reduce((largest, { value }) => Math.max(largest, value), 0);
  const total = days.reduce((sum, { value }) => sum + value, 0);
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return null;
  const busy = days.filter(({ value }) => value > 0).map(({ date, value }) => `${date}: ${countText(value)}`);
  return (
    <figure class="chart day-chart">
      <figcaption>
        <span class="chart-title">{title}</span>
        <span class="chart-readout">
          {shown === null
            ? `${countText(total)} ${unit} in all`
            : `${shown.date}: ${countText(shown.value)} ${unit}, ${shown.note}`}
        </span>
      </figcaption>
      <div class="chart-body">
        <div class="chart-axis" aria-hidden="true">
          {most === 0 ? null : <span class="chart-top">{aboutText(most)}</span>}
        </div>
        <svg
          viewBox={`0 0 ${days.length} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}. ${busy.join(', ')}`}
          onPointerLeave={() => show(null)}
        >
          {days.map((day, at) => {
            const height = day.value === 0 ? 0 : Math.max(BAR_MIN, (day.value / most) * HEIGHT);
            return (
              <g
                key={day.date}
                class={shown === day ? 'chart-day is-shown' : 'chart-day'}
                onPointerEnter={() => show(day)}
              >
                <rect class="chart-hit" x={at} y="0" width="1" height={HEIGHT} />
                <rect
                  class="chart-in"
                  x={at + (1 - BAR_SHARE) / 2}
                  y={HEIGHT - height}
                  width={BAR_SHARE}
                  height={height}
                />
              </g>
            );
          })}
        </svg>
      </div>
      <div class="chart-dates" aria-hidden="true">
        <span>{first.date.slice(5)}</span>
        <span>{last.date.slice(5)}</span>
      </div>
    </figure>
  );
}
