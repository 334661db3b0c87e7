import { useMemo } from 'preact/hooks';
import { Chart } from '../chart/chart.tsx';
import type { ChartData, ChartSpec } from '../chart/spec.ts';
import { datesFrom, microsOf, usdText, usdTextOfMicros } from '../format.ts';
import type { Day, Profile } from '../wire.ts';

/** What a wallet received and paid on each of the last 30 UTC days. */

type Aggregates = Pick<Profile['aggregates'], 'daily' | 'daily_window'>;

const COLUMNS = [
  { name: 'day', type: 'Date' },
  { name: 'received', type: 'Decimal(18, 6)' },
  { name: 'paid', type: 'Decimal(18, 6)' },
  { name: 'settlements in', type: 'UInt64' },
  { name: 'settlements out', type: 'UInt64' },
];
const BOTH: Partial<ChartSpec> = { kind: 'bar', x: 'day', y: ['received', 'paid'], by: null };
const HEIGHT_PX = 220;

/** Every day of the window: the answer leaves out those without settlements. */
function everyDay({ daily, daily_window: { since, until } }: Aggregates): Day[] {
  const known = new Map(daily.map((day) => [day.date, day]));
  return datesFrom(since, until).map(
    (date) =>
      known.get(date) ?? { date, inbound_usd: 0, inbound_count: 0, outbound_usd: 0, outbound_count: 0 },
  );
}

export function DailyChart({ aggregates }: { readonly aggregates: Aggregates }) {
  // The same object in every rendering: another one would be drawn again.
  const days = useMemo(() => everyDay(aggregates), [aggregates]);
  const data = useMemo((): ChartData => ({ columns: COLUMNS, rows: days.map(rowOf) }), [days]);
  return (
    <Chart name={`Last ${days.length} days: ${totalText(days)}`} data={data} spec={BOTH} height={HEIGHT_PX} />
  );
}

function rowOf(day: Day): readonly unknown[] {
  const dollars = (usd: number): string => usdText(usd).replace(/[$,]/g, '');
  return [
    day.date,
    dollars(day.inbound_usd),
    dollars(day.outbound_usd),
    day.inbound_count,
    day.outbound_count,
  ];
}

function totalText(days: readonly Day[]): string {
  const received = days.reduce((sum, day) => sum + microsOf(day.inbound_usd), 0n);
  const paid = days.reduce((sum, day) => sum + microsOf(day.outbound_usd), 0n);
  return `received ${usdTextOfMicros(received)}, paid ${usdTextOfMicros(paid)}`;
}
