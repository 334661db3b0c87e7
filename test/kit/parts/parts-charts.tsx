import { useState } from 'preact/hooks';
import { Chart } from '../../../console/chart/chart.tsx';
import type { ChartData, ChartSpec } from '../../../console/chart/spec.ts';
import { datesFrom } from '../../../console/format.ts';

/** The charts of the page of the parts, of figures that are the same on every visit. */

const DAYS = datesFrom('2026-10-28', '2026-11-26');
const FACILITATORS = ['coinbase', 'payAI', 'thirdweb', 'x402rs', null] as const;
const SELLERS = ['Weather desk', 'Maps', 'Pixel forge', 'Translate', 'Search by proof'];
const HOURS = Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')} h`);

function wave(day: number, of: number): number {
  return (
    Math.round(1_000 * (1.4 + Math.sin((day + 3 * of) / (4 + of))) * (1 + ((day * 7 + of) % 5) / 10)) /
    (of + 1)
  );
}

const BY_FACILITATOR: ChartData = {
  columns: [
    { name: 'day', type: 'Date' },
    { name: 'facilitator', type: 'LowCardinality(Nullable(String))' },
    { name: 'usd', type: 'Decimal(38, 6)' },
  ],
  rows: DAYS.flatMap((day, at) =>
    FACILITATORS.map((facilitator, of) => [day, facilitator, wave(at, of).toFixed(6)]),
  ),
};

const PER_DAY: ChartData = {
  columns: [
    { name: 'day', type: 'Date' },
    { name: 'payments', type: 'UInt64' },
    { name: 'usd', type: 'Decimal(38, 6)' },
  ],
  rows: DAYS.map((day, at) => [day, Math.round(wave(at, 0) * 40), (wave(at, 2) / 100).toFixed(6)]),
};

const BY_SELLER: ChartData = {
  columns: [
    { name: 'payee', type: 'String' },
    { name: 'usd', type: 'Decimal(38, 6)' },
  ],
  rows: Array.from({ length: 24 }, (_, at) => [
    `0x${(at * 7_919 + 0x1f2e3d).toString(16).padStart(40, '4')}`,
    (90_000 / (at + 1) ** 2).toFixed(6),
  ]),
};

const BY_HOUR: ChartData = {
  columns: [
    { name: 'hour', type: 'String' },
    { name: 'chain', type: 'String' },
    { name: 'payments', type: 'UInt64' },
  ],
  rows: HOURS.flatMap((hour, at) =>
    ['Base', 'Polygon', 'Avalanche', 'Arbitrum'].map((chain, of) => [
      hour,
      chain,
      Math.round(wave(at * 2, of)),
    ]),
  ),
};

const POINTS: ChartData = {
  columns: [
    { name: 'payments', type: 'UInt64' },
    { name: 'usd', type: 'Float64' },
  ],
  rows: Array.from({ length: 120 }, (_, at) => [(at * 37) % 400, ((at * 37) % 400) * 0.3 + ((at * 13) % 60)]),
};

const FIFTY_POINTS = 1_000;

/** 50 series of 1,000 points: the bench of the drawing time. */
const FIFTY: ChartData = {
  columns: [
    { name: 'hour', type: 'DateTime' },
    { name: 'seller', type: 'String' },
    { name: 'usd', type: 'Float64' },
  ],
  rows: Array.from({ length: FIFTY_POINTS }, (_, at) => {
    const hour = new Date(Date.parse('2026-10-01T00:00:00Z') + at * 3_600_000)
      .toISOString()
      .slice(0, 19)
      .replace('T', ' ');
    return Array.from({ length: 50 }, (_seller, of) => [
      hour,
      `seller ${of + 1}`,
      wave(at / 20, of % 7) + of * 60,
    ]);
  }).flat(),
};

/** More sellers than a reader can tell apart. */
const BY_MANY: ChartData = {
  columns: [
    { name: 'day', type: 'Date' },
    { name: 'payee', type: 'String' },
    { name: 'payee_name', type: 'Nullable(String)' },
    { name: 'usd', type: 'Decimal(38, 6)' },
  ],
  rows: DAYS.flatMap((day, at) =>
    Array.from({ length: 18 }, (_, of) => [
      day,
      `0x${(of * 7_919 + 0x1f2e3d).toString(16).padStart(40, '4')}`,
      SELLERS[of] ?? null,
      (wave(at, of) * 3).toFixed(6),
    ]),
  ),
};

/** Days of the week against hours. */
const BY_WEEKDAY: ChartData = {
  columns: [
    { name: 'weekday', type: 'UInt8' },
    { name: 'hour', type: 'UInt8' },
    { name: 'payments', type: 'UInt64' },
  ],
  rows: [1, 2, 3, 4, 5, 6, 7].flatMap((weekday) =>
    HOURS.map((_name, hour) => [
      weekday,
      hour,
      Math.round(wave(hour, weekday % 3) * (weekday > 5 ? 0.4 : 1)),
    ]),
  ),
};

/** One row: a card with the period before. */
const TOTALS: ChartData = {
  columns: [
    { name: 'organic_usd', type: 'Decimal(38, 6)' },
    { name: 'organic_usd_before', type: 'Decimal(38, 6)' },
    { name: 'payments', type: 'UInt64' },
    { name: 'payments_before', type: 'UInt64' },
  ],
  rows: [['1284031.270000', '1146400.000000', '90412', '96040']],
};

const EMPTY: ChartData = { columns: PER_DAY.columns, rows: [] };

/** The guessed chart, with the controls. */
export function GuessedChart() {
  const [spec, setSpec] = useState<Partial<ChartSpec>>({});
  return <Chart name="Dollars a day by facilitator" data={BY_FACILITATOR} spec={spec} onSpec={setSpec} />;
}

const KINDS: readonly (readonly [name: string, data: ChartData, spec: Partial<ChartSpec>])[] = [
  ['Stacked areas', BY_FACILITATOR, { kind: 'stacked' }],
  ['Stacked bars', BY_FACILITATOR, { kind: 'bar' }],
  ['Areas', PER_DAY, { kind: 'area', y: ['usd'] }],
  ['Two axes', PER_DAY, { kind: 'line', y: ['payments', 'usd'], right: ['usd'] }],
  ['Logarithmic bars', BY_SELLER, { kind: 'bar', isLog: true }],
  ['Heatmap', BY_HOUR, {}],
  ['Points', POINTS, {}],
  ['Seven and other', BY_MANY, {}],
  ['Day and hour', BY_WEEKDAY, {}],
  ['Numbers', TOTALS, {}],
  ['Nothing to draw', EMPTY, {}],
];
const HEIGHT_PX = 240;

export function EveryChart() {
  return (
    <div class="columns">
      {KINDS.map(([name, data, spec]) => (
        <div key={name} class="card" data-chart={name}>
          <h3 class="small muted">{name}</h3>
          <Chart data={data} spec={spec} height={HEIGHT_PX} />
        </div>
      ))}
    </div>
  );
}

/** Drawn on request: it is there to be measured. */
export function FiftySeries() {
  const [isShown, show] = useState(false);
  return isShown ? (
    <div data-chart="50 series">
      <Chart name="50 series of 1,000 points" data={FIFTY} spec={{ isGrouped: false }} />
    </div>
  ) : (
    <button type="button" class="button" onClick={() => show(true)}>
      Draw 50 series of 1,000 points
    </button>
  );
}
