import { useMemo, useState } from 'preact/hooks';
import { countText, datesFrom, microsOf, usdText, usdTextOfMicros } from '../format.ts';
import type { Day, Profile } from '../wire.ts';
import { type Column, DataTable } from './data-table.tsx';

/** What a wallet received (up) and paid (down) on each of the last 30 UTC days, on one scale, and a table of the same figures. */

/** Height of the drawing in its own units; the style sheet sets the size on the page. */
const HEIGHT = 100;
const BAR_SHARE = 0.72;
/** The lowest bar of a day with payments. */
const BAR_MIN = 1.2;

interface Scale {
  /** Distance of the zero line from the top. */
  readonly zero: number;
  /** Units of height per millionth of a dollar. */
  readonly perMicro: number;
  readonly mostIn: bigint;
  readonly mostOut: bigint;
}

type Aggregates = Pick<Profile['aggregates'], 'daily' | 'daily_window'>;

/** Every day of the window: the answer leaves out those without settlements. */
function everyDay({ daily, daily_window: { since, until } }: Aggregates): Day[] {
  const known = new Map(daily.map((day) => [day.date, day]));
  return datesFrom(since, until).map(
    (date) =>
      known.get(date) ?? { date, inbound_usd: 0, inbound_count: 0, outbound_usd: 0, outbound_count: 0 },
  );
}

export function DailyChart({ aggregates }: { readonly aggregates: Aggregates }) {
  // The same objects in every rendering: the day under the pointer is known by its identity.
  const days = useMemo(() => everyDay(aggregates), [aggregates]);
  const [shown, show] = useState<Day | null>(null);
  const scale = scaleOf(days);
  const first = days[0];
  const last = days.at(-1);
  if (first === undefined || last === undefined) return null;
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">Last {days.length} days</span>
        <Legend />
        <span class="chart-readout">{shown === null ? totalText(days) : dayText(shown)}</span>
      </figcaption>
      <div class="chart-body">
        <ChartAxis scale={scale} />
        <svg
          viewBox={`0 0 ${days.length} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${totalText(days)}, ${first.date} to ${last.date}. The table below has every day.`}
          onPointerLeave={() => show(null)}
        >
          {days.map((day, at) => (
            <DayBars key={day.date} day={day} at={at} scale={scale} isShown={shown === day} onShow={show} />
          ))}
          <line class="chart-zero" x1="0" x2={days.length} y1={scale.zero} y2={scale.zero} />
        </svg>
      </div>
      <div class="chart-dates" aria-hidden="true">
        {[first, days[Math.floor(days.length / 2)] ?? first, last].map((day) => (
          <span key={day.date}>{day.date.slice(5)}</span>
        ))}
      </div>
      <DaysTable days={days} />
    </figure>
  );
}

function scaleOf(days: readonly Day[]): Scale {
  const mostIn = days.map((day) => microsOf(day.inbound_usd)).reduce(larger, 0n);
  const mostOut = days.map((day) => microsOf(day.outbound_usd)).reduce(larger, 0n);
  const span = Number(mostIn + mostOut);
  if (span === 0) return { zero: HEIGHT, perMicro: 0, mostIn, mostOut };
  return { zero: (Number(mostIn) / span) * HEIGHT, perMicro: HEIGHT / span, mostIn, mostOut };
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

interface DayBarsProps {
  readonly day: Day;
  readonly at: number;
  readonly scale: Scale;
  readonly isShown: boolean;
  readonly onShow: (day: Day) => void;
}

function DayBars({ day, at, scale, isShown, onShow }: DayBarsProps) {
  const up = heightOf(day.inbound_usd, scale);
  const down = heightOf(day.outbound_usd, scale);
  const x = at + (1 - BAR_SHARE) / 2;
  return (
    <g class={isShown ? 'chart-day is-shown' : 'chart-day'} onPointerEnter={() => onShow(day)}>
      <rect class="chart-hit" x={at} y="0" width="1" height={HEIGHT} />
      <rect class="chart-in" x={x} y={Math.max(0, scale.zero - up)} width={BAR_SHARE} height={up} />
      <rect class="chart-out" x={x} y={Math.min(scale.zero, HEIGHT - down)} width={BAR_SHARE} height={down} />
    </g>
  );
}

function heightOf(usd: number, { perMicro }: Scale): number {
  const micros = microsOf(usd);
  return micros === 0n ? 0 : Math.max(BAR_MIN, Number(micros) * perMicro);
}

function ChartAxis({ scale }: { readonly scale: Scale }) {
  return (
    <div class="chart-axis" aria-hidden="true">
      {scale.mostIn > 0n ? <span class="chart-top">{usdTextOfMicros(scale.mostIn)}</span> : null}
      {scale.mostOut > 0n ? <span class="chart-bottom">{usdTextOfMicros(scale.mostOut)}</span> : null}
    </div>
  );
}

function Legend() {
  return (
    <span class="legend">
      <span class="legend-in">received</span>
      <span class="legend-out">paid</span>
    </span>
  );
}

function dayText(day: Day): string {
  return `${day.date}: received ${usdText(day.inbound_usd)} (${countText(day.inbound_count)}), paid ${usdText(day.outbound_usd)} (${countText(day.outbound_count)})`;
}

function totalText(days: readonly Day[]): string {
  const received = days.reduce((sum, day) => sum + microsOf(day.inbound_usd), 0n);
  const paid = days.reduce((sum, day) => sum + microsOf(day.outbound_usd), 0n);
  return `Received ${usdTextOfMicros(received)}, paid ${usdTextOfMicros(paid)}`;
}

/** Days without a payment are left out. */
function DaysTable({ days }: { readonly days: readonly Day[] }) {
  const busy = days.filter((day) => day.inbound_count + day.outbound_count > 0).reverse();
  return (
    <details class="as-table">
      <summary>As a table</summary>
      <DataTable
        caption="Days with settlements, UTC, newest first"
        isCaptionShown
        columns={DAY_COLUMNS}
        rows={busy}
        keyOf={({ date }) => date}
      />
    </details>
  );
}

const DAY_COLUMNS: readonly Column<Day>[] = [
  { name: 'Day', isRowHeader: true, cell: ({ date }) => date },
  { name: 'Received', isFigure: true, cell: (day) => usdText(day.inbound_usd) },
  { name: 'Settlements in', isFigure: true, cell: (day) => countText(day.inbound_count) },
  { name: 'Paid', isFigure: true, cell: (day) => usdText(day.outbound_usd) },
  { name: 'Settlements out', isFigure: true, cell: (day) => countText(day.outbound_count) },
];
