import type { ComponentChildren } from 'preact';
import { ApiProblem } from '../../../console/api.ts';
import { COLOURS, facilitatorColour, seriesColour, UNNAMED_COLOUR } from '../../../console/chart/palette.ts';
import { Chip, Swatch, type Tone } from '../../../console/components/chip.tsx';
import { type Column, DataTable } from '../../../console/components/data-table.tsx';
import type { List } from '../../../console/components/list-state.tsx';
import { Money } from '../../../console/components/money.tsx';
import { Skeleton } from '../../../console/components/skeleton.tsx';
import { Sparkline, type SparkPoint } from '../../../console/components/sparkline.tsx';
import { Change, Stat, Stats } from '../../../console/components/stat.tsx';
import { EmptyState, Loading, ProblemState } from '../../../console/components/states.tsx';
import { countText, datesFrom, moneyText } from '../../../console/format.ts';
import type { PageProps } from '../../../console/routes.ts';
import { EveryChart, FiftySeries, GuessedChart } from './parts-charts.tsx';

/** Every component of the design system in each of its states. The subject of test/console/parts.browser.test.ts. */
export function PartsPage({ query }: Pick<PageProps, 'query'>) {
  return (
    <>
      <h1>Parts of the console</h1>
      <Part name="Colours">
        <Colours />
      </Part>
      <Part name="Chip">
        <Chips />
      </Part>
      <Part name="Money">
        <Amounts />
      </Part>
      <Part name="Sparkline">
        <Sparklines />
      </Part>
      <Part name="Stat">
        <Figures />
      </Part>
      <Part name="DataTable">
        <Tables query={query} />
      </Part>
      <Part name="Chart">
        <State name="Guessed from the shape of the data, with controls">
          <GuessedChart />
        </State>
        <EveryChart />
        <FiftySeries />
      </Part>
      <Part name="EmptyState">
        <EmptyStates />
      </Part>
      <Part name="Skeleton">
        <Skeletons />
      </Part>
    </>
  );
}

/** A section; visual tests take its picture by its name. */
function Part({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <section aria-label={name} data-part={name}>
      <h2>{name}</h2>
      {children}
    </section>
  );
}

function State({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div data-state={name} style={{ marginBottom: 'var(--space-4)' }}>
      <p class="muted small">{name}</p>
      {children}
    </div>
  );
}

const GAP = 'calc(var(--space-2) + var(--space-4))';
const TEXT_CLASSES = ['text', 'muted', 'good', 'warn', 'bad'] as const;

function Colours() {
  return (
    <>
      <p class="row" style={{ columnGap: GAP }}>
        {TEXT_CLASSES.map((name) => (
          <span key={name} class={name}>
            {name}
          </span>
        ))}
        <a href="#main">to the content</a>
      </p>
      <p class="row" style={{ columnGap: GAP }}>
        {Array.from({ length: COLOURS }, (_, at) => (
          <span key={at}>
            <Swatch colour={seriesColour(at)} />
            series {at + 1}
          </span>
        ))}
        <span>
          <Swatch colour={UNNAMED_COLOUR} />
          no name
        </span>
      </p>
    </>
  );
}

const TONES: readonly Tone[] = ['good', 'info', 'warn', 'bad', 'neutral'];

function Chips() {
  return (
    <>
      <p class="row" style={{ columnGap: GAP }}>
        {TONES.map((tone) => (
          <Chip key={tone} tone={tone} title={`The tone ${tone}`}>
            {tone}
          </Chip>
        ))}
        <Chip to="/capabilities/weather">a link</Chip>
      </p>
      <p class="row" style={{ columnGap: GAP }}>
        {['coinbase', 'payAI', 'thirdweb', 'x402rs'].map((id) => (
          <Chip key={id} swatch={facilitatorColour(id)}>
            {id}
          </Chip>
        ))}
        <Chip swatch={facilitatorColour(null)}>no named facilitator</Chip>
      </p>
    </>
  );
}

const AMOUNTS = ['1284.029999', '34127483.27', '0.5', '0.0125', '0.123456', '0.000001', '0', '-3.5'];

function Amounts() {
  return (
    <p class="row" style={{ columnGap: GAP }}>
      {AMOUNTS.map((usd) => (
        <Money key={usd} usd={usd} />
      ))}
      <Money usd="34127483.27" isShort />
      <Money usd={0.000125} note="125 atomic units of USDC" />
    </p>
  );
}

const DAYS = datesFrom('2026-10-28', '2026-11-26');

/** Figures that look like a month of payments and are the same on every visit. */
function wave(scale: number, shift = 0): SparkPoint[] {
  return DAYS.map((label, day) => ({
    label,
    value: Math.round(scale * (2 + Math.sin((day + shift) / 3) + ((day * 7 + shift) % 5) / 4)),
  }));
}

function Sparklines() {
  const gaps = wave(100).map((point, day) => (day > 8 && day < 13 ? { ...point, value: null } : point));
  const zeros = DAYS.map((label) => ({ label, value: 0 }));
  return (
    <p class="row" style={{ columnGap: GAP }}>
      <Sparkline name="Settled per day" points={wave(1_000)} format={moneyText} />
      <Sparkline name="With gaps" points={gaps} format={moneyText} colour={seriesColour(1)} />
      <Sparkline name="Nothing" points={zeros} format={moneyText} colour={seriesColour(2)} />
      <Sparkline name="Large" points={wave(30, 4)} format={countText} width={200} height={48} />
      <Sparkline name="One day" points={wave(1).slice(0, 1)} format={countText} />
    </p>
  );
}

function Figures() {
  const trend = { points: wave(1_000), format: moneyText };
  return (
    <Stats>
      <Stat name="Settled" change={0.124} changeSince="the 30 days before" trend={trend}>
        <Money usd="34127483.27" isShort />
      </Stat>
      <Stat name="Settlements" change={-0.034} note="in the last 30 days">
        {countText(1_204_331)}
      </Stat>
      <Stat name="Payers" change={null} to="/agents">
        {countText(18_204)}
      </Stat>
      <Stat name="Payees" change={0}>
        {countText(312)}
      </Stat>
      <Stat name="Being read" isLoading note="in the last 30 days" />
    </Stats>
  );
}

interface Seller {
  readonly name: string;
  readonly wallet: string;
  readonly chain: string;
  readonly settled: number;
  readonly payments: number;
  readonly change: number | null;
  readonly shift: number;
}

const SELLERS: readonly Seller[] = [
  {
    name: 'Weather desk',
    wallet: '0x40…0001',
    chain: 'Base',
    settled: 34_127.483,
    payments: 120_433,
    change: 0.12,
    shift: 0,
  },
  {
    name: 'Search for agents that pay by the call',
    wallet: '0x8b…19c2',
    chain: 'Base',
    settled: 9_120.5,
    payments: 30_211,
    change: -0.08,
    shift: 3,
  },
  {
    name: 'Maps',
    wallet: '0x11…77aa',
    chain: 'Polygon',
    settled: 0.0125,
    payments: 3,
    change: null,
    shift: 9,
  },
];

const SELLER_COLUMNS: readonly Column<Seller>[] = [
  {
    name: 'Seller',
    isRowHeader: true,
    cell: ({ name }) => name,
    compare: (a, b) => Number(a.name > b.name) - Number(a.name < b.name),
  },
  { name: 'Wallet', priority: 2, cell: ({ wallet }) => <span class="mono">{wallet}</span> },
  { name: 'Chain', priority: 3, cell: ({ chain }) => chain },
  {
    name: 'Settled',
    isFigure: true,
    cell: ({ settled }) => <Money usd={settled} />,
    compare: (a, b) => a.settled - b.settled,
    sortKey: 'settled',
    help: 'In the last 30 days',
  },
  {
    name: 'Payments',
    isFigure: true,
    cell: ({ payments }) => countText(payments),
    compare: (a, b) => a.payments - b.payments,
    sortKey: 'payments',
  },
  { name: 'Change', isFigure: true, priority: 3, cell: ({ change }) => <Change share={change} /> },
  {
    name: 'Last 30 days',
    priority: 2,
    cell: ({ shift }) => <Sparkline name="Settled per day" points={wave(100, shift)} format={moneyText} />,
  },
  { name: 'Verdict', cell: ({ change }) => <Chip tone={change === null ? 'neutral' : 'good'}>clean</Chip> },
];

const LIST: List = { what: 'sellers', meta: null, problem: null, reload: () => undefined };

const PROBLEM = new ApiProblem(
  {
    type: 'about:blank',
    title: 'The service is busy',
    status: 503,
    code: 'overloaded',
    detail: 'Too many queries are running.',
    request_id: 'req_1',
  },
  null,
);

function Tables({ query }: { readonly query: URLSearchParams }) {
  const table = { columns: SELLER_COLUMNS, keyOf: ({ wallet }: Seller) => wallet };
  const sort = {
    by: query.get('by') ?? 'settled',
    isDescending: query.get('order') !== 'asc',
    to: (by: string, isDescending: boolean) => `/parts?by=${by}&order=${isDescending ? 'desc' : 'asc'}`,
  };
  return (
    <>
      <State name="Rows; headers sort them">
        <DataTable {...table} caption="Sellers" rows={SELLERS} />
      </State>
      <State name="In a column, where cells are stacked">
        <div style={{ maxWidth: '640px' }}>
          <DataTable {...table} caption="Sellers in a column" rows={SELLERS} />
        </div>
      </State>
      <State name="In a narrow column, where rows are cards">
        <div style={{ maxWidth: '420px' }}>
          <DataTable {...table} caption="Sellers as cards" rows={SELLERS} />
        </div>
      </State>
      <State name="Sorted by the API: headers are links">
        <DataTable {...table} caption="Sellers sorted by the API" rows={SELLERS} sort={sort} />
      </State>
      <State name="Compact">
        <DataTable {...table} class="compact" caption="A compact table" isCaptionShown rows={SELLERS} />
      </State>
      <State name="Loading">
        <DataTable {...table} caption="Sellers that are read" rows={null} list={LIST} skeletonRows={3} />
      </State>
      <State name="Empty">
        <DataTable {...table} caption="No sellers" rows={[]} list={{ ...LIST, isFiltered: true }} />
      </State>
      <State name="Failed">
        <DataTable
          {...table}
          caption="Sellers that failed"
          rows={null}
          list={{ ...LIST, problem: PROBLEM }}
        />
      </State>
    </>
  );
}

function EmptyStates() {
  const button = (
    <button type="button" class="button">
      Show all sellers
    </button>
  );
  return (
    <div class="columns">
      <div class="panel">
        <EmptyState title="No sellers match these filters" actions={button}>
          <p>Change or remove a filter to see more.</p>
        </EmptyState>
      </div>
      <div class="panel">
        <EmptyState title="Nothing has been indexed yet" />
      </div>
      <ProblemState problem={PROBLEM} onRetry={() => undefined} />
    </div>
  );
}

function Skeletons() {
  return (
    <div class="columns">
      <div class="panel">
        <Loading what="a paragraph" />
      </div>
      <div class="panel">
        <Skeleton shape="block" width="whole" />
      </div>
    </div>
  );
}
