import { useMemo, useState } from 'preact/hooks';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Money } from '../components/money.tsx';
import { countText, datesFrom, microsOf, moneyText, usdTextOfMicros } from '../format.ts';
import type { Day } from '../wire.ts';

/**
 * What was received (up) and paid (down) on each UTC day, on one scale, and a table of the same figures. The API leaves out days without
 * settlements: they have their place and no bar.
 */

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

interface Names {
  /** What goes up: `received`. */
  readonly in: string;
  /** What goes down; absent where nothing can. */
  readonly out?: string;
}

interface DailyChartProps {
  /** Days with settlements, in any order. */
  readonly days: readonly Day[];
  /** The days of the chart, both included. */
  readonly span: { readonly since: string; readonly until: string };
  readonly names: Names;
}

/** Every day of the span. */
function everyDay({ days, span }: Pick<DailyChartProps, 'days' | 'span'>): Day[] {
  const known = new Map(days.map((day) => [day.date, day]));
  return datesFrom(span.since, span.until).map(
    (date) =>
      known.get(date) ?? { date, inbound_usd: 0, inbound_count: 0, outbound_usd: 0, outbound_count: 0 },
  );
}

export function DailyChart({ days: known, span, names }: DailyChartProps) {
  // The same objects in every rendering: the day under the pointer is known by its identity.
  const days = useMemo(() => everyDay({ days: known, span }), [known, span]);
  const [shown, show] = useState<Day | null>(null);
  const scale = scaleOf(days);
  const first = days[0];
  const last = days.at(-1);
  if (first === undefined || last === undefined) return null;
  const total = totalText(days, names);
  return (
    <figure class="chart day-chart">
      <figcaption>
        <span class="chart-title">{days.length === 1 ? first.date : `By day, last ${days.length} days`}</span>
        {names.out === undefined ? null : (
          <span class="legend">
            <span class="legend-in">{names.in}</span>
            <span class="legend-out">{names.out}</span>
          </span>
        )}
        <span class="chart-readout">{shown === null ? total : dayText(shown, names)}</span>
      </figcaption>
      <div class="chart-body">
        <ChartAxis scale={scale} />
        <svg
          viewBox={`0 0 ${days.length} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${total}, ${first.date} to ${last.date}. The table below has every day with payments.`}
          onPointerLeave={() => show(null)}
        >
          {days.map((day, at) => (
            <DayBars key={day.date} day={day} at={at} scale={scale} isShown={shown === day} onShow={show} />
          ))}
          <line class="chart-zero" x1="0" x2={days.length} y1={scale.zero} y2={scale.zero} />
        </svg>
      </div>
      <div class="chart-dates" aria-hidden="true">
        {datesShown(days).map((date) => (
          <span key={date}>{date.slice(5)}</span>
        ))}
      </div>
      <DaysTable days={days} names={names} />
    </figure>
  );
}

/** The first, the middle and the last day, each once. */
function datesShown(days: readonly Day[]): readonly string[] {
  const picked = [days[0], days[Math.floor((days.length - 1) / 2)], days.at(-1)];
  return [...new Set(picked.flatMap((day) => (day === undefined ? [] : [day.date])))];
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
      {scale.mostIn > 0n ? (
        <span class="chart-top">
          <Money usd={scale.mostIn} isShort />
        </span>
      ) : null}
      {scale.mostOut > 0n ? (
        <span class="chart-bottom">
          <Money usd={scale.mostOut} isShort />
        </span>
      ) : null}
    </div>
  );
}

function dayText(day: Day, names: Names): string {
  if (day.inbound_count + day.outbound_count === 0) return `${day.date}: no payments`;
  const received = `${names.in} ${moneyText(day.inbound_usd)} (${countText(day.inbound_count)})`;
  if (names.out === undefined) return `${day.date}: ${received}`;
  return `${day.date}: ${received}, ${names.out} ${moneyText(day.outbound_usd)} (${countText(day.outbound_count)})`;
}

function moneyOf(micros: bigint): string {
  return moneyText(usdTextOfMicros(micros).replace(/[$,]/g, ''));
}

function totalText(days: readonly Day[], names: Names): string {
  const received = days.reduce((sum, day) => sum + microsOf(day.inbound_usd), 0n);
  const paid = days.reduce((sum, day) => sum + microsOf(day.outbound_usd), 0n);
  const text = `${names.in} ${moneyOf(received)}`;
  return names.out === undefined ? text : `${text}, ${names.out} ${moneyOf(paid)}`;
}

interface DaysTableProps {
  readonly days: readonly Day[];
  readonly names: Names;
}

/** Days without a payment are left out. */
function DaysTable({ days, names }: DaysTableProps) {
  const busy = days.filter((day) => day.inbound_count + day.outbound_count > 0).reverse();
  return (
    <details class="as-table">
      <summary>As a table</summary>
      <DataTable
        caption="Days with settlements, UTC, newest first"
        isCaptionShown
        columns={dayColumns(names)}
        rows={busy}
        keyOf={({ date }) => date}
      />
    </details>
  );
}

function dayColumns(names: Names): readonly Column<Day>[] {
  const both = [
    { name: 'Day', isRowHeader: true, cell: ({ date }: Day) => date },
    { name: `Dollars ${names.in}`, isFigure: true, cell: (day: Day) => <Money usd={day.inbound_usd} /> },
    { name: `Settlements ${names.in}`, isFigure: true, cell: (day: Day) => countText(day.inbound_count) },
  ];
  if (names.out === undefined) return both;
  return [
    ...both,
    { name: `Dollars ${names.out}`, isFigure: true, cell: (day: Day) => <Money usd={day.outbound_usd} /> },
    { name: `Settlements ${names.out}`, isFigure: true, cell: (day: Day) => countText(day.outbound_count) },
  ];
}
