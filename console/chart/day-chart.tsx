import { useMemo } from 'preact/hooks';
import { datesFrom } from '../format.ts';
import { Chart } from './chart.tsx';
import type { ChartData, ChartSpec } from './spec.ts';

/** One figure of a day. */
interface DayFigure<Day> {
  /** As the legend and the table call it. */
  readonly name: string;
  /** A type of the engine: `Decimal(38, 6)` for dollars, `UInt64` for counts. */
  readonly type: string;
  value(day: Day): number;
  /** In the table alone. */
  readonly isTableOnly?: boolean;
}

interface DayChartProps<Day extends { readonly date: string }> {
  readonly title: string;
  /** Days with something in them, in any order; the others have their place and no bar. Keep the object between renderings. */
  readonly days: readonly Day[];
  /** The days of the chart, YYYY-MM-DD in UTC, both included. */
  readonly since: string;
  readonly until: string;
  readonly figures: readonly DayFigure<Day>[];
}

const HEIGHT_PX = 200;

/** Figures by UTC day as bars. One that is zero on every day is left to the table. */
export function DayChart<Day extends { readonly date: string }>(props: DayChartProps<Day>) {
  const { title, days, since, until, figures } = props;
  // The figures are functions and new in each rendering; their names say which they are.
  const names = figures.map(({ name }) => name).join('\n');
  const data = useMemo(() => dataOf({ days, since, until, figures }), [days, since, until, names]);
  const busy = figures.filter((figure) => !figure.isTableOnly && days.some((day) => figure.value(day) > 0));
  const drawn = busy.length > 0 ? busy : figures.slice(0, 1);
  const spec: Partial<ChartSpec> = { kind: 'bar', x: DAY, y: drawn.map(({ name }) => name), by: null };
  return <Chart name={title} data={data} spec={spec} height={HEIGHT_PX} />;
}

const DAY = 'day';

/** The newest day first, as tables begin with it. */
function dataOf<Day extends { readonly date: string }>({
  days,
  since,
  until,
  figures,
}: Omit<DayChartProps<Day>, 'title'>): ChartData {
  const known = new Map(days.map((day) => [day.date, day]));
  return {
    columns: [{ name: DAY, type: 'Date' }, ...figures.map(({ name, type }) => ({ name, type }))],
    rows: datesFrom(since, until)
      .reverse()
      .map((date) => {
        const day = known.get(date);
        return [date, ...figures.map(({ value }) => (day === undefined ? 0 : value(day)))];
      }),
  };
}
