import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { cellText, kindOf } from '../cells.ts';
import { Swatch } from '../components/chip.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/states.tsx';
import { countText } from '../format.ts';
import { saveFile } from '../save-file.ts';
import { useStore } from '../store.ts';
import { isDark } from '../theme.ts';
import { ChartControls } from './controls.tsx';
import type { ChartHeight, Drawing, Hover } from './draw.ts';
import { type Figure, figuresOf } from './figures.ts';
import { completeSpec } from './guess.ts';
import { chartSentence, leftText, placeText } from './labels.ts';
import { NumberCard } from './number-card.tsx';
import { type Prepared, prepare, type Series } from './series.ts';
import type { ChartData, ChartSpec } from './spec.ts';

export interface ChartProps {
  /** The name of the chart: its title, its accessible name, and the name of the files that are downloaded. */
  readonly name: string;
  /** Keep the object between renderings: another one draws the chart again. */
  readonly data: ChartData;
  /** The chart to draw. Fields that are missing, and columns that the data does not have, are guessed from the shape of the data. */
  readonly spec?: Partial<ChartSpec>;
  /** With it, the chart has controls; it is called with each choice of the visitor. The page keeps the choice, and gives it as `spec`. */
  onSpec?(spec: ChartSpec): void;
  /** Pixels, 320 by default; `fill`: what its place has left, at least 220. */
  readonly height?: ChartHeight;
}

const HEIGHT = 320;
const GUESSED: Partial<ChartSpec> = {};

/** Rows as a picture, with the figures under the pointer, downloads as PNG and SVG, and the same figures as a table. */
export function Chart({ name, data, spec: chosen = GUESSED, onSpec, height = HEIGHT }: ChartProps) {
  // By its text: pages may write the choice anew in each rendering.
  const chosenText = JSON.stringify(chosen);
  const spec = useMemo(
    () => completeSpec(data, JSON.parse(chosenText) as Partial<ChartSpec>),
    [data, chosenText],
  ); // written two lines above
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const whole = useMemo(() => (spec === null ? null : prepare(data, spec)), [data, spec]);
  const shown = useMemo(
    () => (whole === null ? null : { ...whole, series: whole.series.filter((one) => !hidden.has(one.name)) }),
    [whole, hidden],
  );
  if (spec === null || whole === null || shown === null)
    return (
      <EmptyState title="Nothing to draw">
        <p>A chart needs rows and a column of numbers.</p>
      </EmptyState>
    );
  const toggle = (series: string): void => {
    const next = new Set(hidden);
    if (!next.delete(series)) next.add(series);
    if (next.size < whole.series.length) setHidden(next);
  };
  return (
    <figure class={height === 'fill' ? 'chart is-filling' : 'chart'}>
      {onSpec === undefined ? null : <ChartControls data={data} spec={spec} onSpec={onSpec} />}
      {spec.kind === 'number' ? (
        <NumberPicture name={name} figures={figuresOf(data, spec)} />
      ) : (
        <Picture name={name} prepared={shown} height={height} />
      )}
      {whole.series.length < 2 || spec.kind === 'heatmap' || spec.kind === 'number' ? null : (
        <Legend series={whole.series} hidden={hidden} onToggle={toggle} />
      )}
      {spec.kind === 'number' || leftText(whole) === '' ? null : <p class="muted small">{leftText(whole)}</p>}
      <FiguresTable name={name} data={data} />
    </figure>
  );
}

function NumberPicture({ name, figures }: { readonly name: string; readonly figures: readonly Figure[] }) {
  return (
    <>
      <figcaption class="chart-head">
        <span class="chart-title">{name}</span>
      </figcaption>
      <NumberCard figures={figures} />
    </>
  );
}

interface PictureProps {
  readonly name: string;
  readonly prepared: Prepared;
  readonly height: ChartHeight;
}

function Picture({ name, prepared, height }: PictureProps) {
  const place = useRef<HTMLDivElement>(null);
  const drawing = useRef<Drawing | null>(null);
  const [hover, setHover] = useState<Hover | null>(null);
  const dark = useStore(isDark);
  // `dark` is only a trigger: the chart reads its colours from the page.
  useEffect(() => {
    let isHere = true;
    setHover(null);
    void import('./draw.ts').then(({ drawChart }) => {
      if (!isHere || place.current === null) return;
      drawing.current = drawChart(place.current, { prepared, height, onHover: setHover });
    });
    return () => {
      isHere = false;
      drawing.current?.remove();
      drawing.current = null;
    };
  }, [prepared, height, dark]);
  const savePng = async (): Promise<void> => {
    if (drawing.current !== null) saveFile(await pngOf(drawing.current.svg(name)), fileName(name, 'png'));
  };
  const saveSvg = (): void => {
    if (drawing.current === null) return;
    saveFile(new Blob([drawing.current.svg(name)], { type: 'image/svg+xml' }), fileName(name, 'svg'));
  };
  return (
    <>
      <figcaption class="chart-head">
        <span class="chart-title">{name}</span>
        <span>
          <button type="button" class="copy" onClick={() => void savePng()}>
            PNG
          </button>
          <button type="button" class="copy" onClick={saveSvg}>
            SVG
          </button>
        </span>
      </figcaption>
      <div class="chart-picture" style={height === 'fill' ? {} : { minHeight: `${height}px` }}>
        <div ref={place} class="chart-canvas" role="img" aria-label={chartSentence(prepared)} />
        {hover === null ? null : <HoverTable prepared={prepared} hover={hover} />}
      </div>
    </>
  );
}

function fileName(name: string, ending: string): string {
  const words = name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
  return `${words === '' ? 'chart' : words}.${ending}`;
}

interface LegendProps {
  readonly series: readonly Series[];
  readonly hidden: ReadonlySet<string>;
  onToggle(name: string): void;
}

/** The names of the series; a click hides one and shows it again. */
function Legend({ series, hidden, onToggle }: LegendProps) {
  return (
    <ul class="chart-legend" aria-label="Series">
      {series.map(({ name, colour }) => (
        <li key={name}>
          <button type="button" aria-pressed={!hidden.has(name)} title={name} onClick={() => onToggle(name)}>
            <Swatch colour={colour} />
            <span class="cut">{name}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

const TABLE_ROWS_MAX = 200;

/** The figures of a chart for people who cannot see it, or who need a digit. Its rows are made when it is opened. */
function FiguresTable({ name, data }: Pick<ChartProps, 'name' | 'data'>) {
  const [isOpen, setOpen] = useState(false);
  const rows = data.rows.slice(0, TABLE_ROWS_MAX);
  return (
    <details class="as-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen ? (
        <DataTable
          caption={
            rows.length < data.rows.length ? `${name}: the first ${countText(rows.length)} rows` : name
          }
          isCaptionShown={rows.length < data.rows.length}
          columns={columnsOf(data)}
          rows={rows}
          keyOf={(row) => String(rows.indexOf(row))}
        />
      ) : null}
    </details>
  );
}

function columnsOf(data: ChartData): Column<readonly unknown[]>[] {
  return data.columns.map(({ name, type }, at) => ({
    name,
    isFigure: kindOf(type) === 'number',
    cell: (row) => cellText(row[at], kindOf(type)),
  }));
}

/** More rows would cover the chart. */
const ROWS_MAX = 12;
/** Where the pointer is in the right half, the table is at its left. */
const SIDE_PX = 14;

interface HoverTableProps {
  readonly prepared: Prepared;
  readonly hover: Hover;
}

/** The figures under the pointer, largest first. For the eye only: the table below the chart has them for everybody. */
function HoverTable({ prepared: { x, series, spec }, hover }: HoverTableProps) {
  const values = rowsAt(series, hover);
  const rows = values.slice(0, ROWS_MAX);
  if (rows.length === 0) return null;
  return (
    <div
      class={hover.isRight ? 'chart-hover is-left' : 'chart-hover'}
      style={{ left: `${hover.left + (hover.isRight ? -SIDE_PX : SIDE_PX)}px`, top: `${hover.top}px` }}
      aria-hidden="true"
    >
      <p class="chart-hover-title">
        {placeText(x, hover.at)} <span class="muted">{spec.x}</span>
      </p>
      <table>
        <tbody>
          {rows.map(({ name, colour, texts, isMoney }) => (
            <tr key={name}>
              <th scope="row">
                {spec.kind === 'heatmap' ? null : <Swatch colour={colour} />}
                {name}
              </th>
              <td class="number">
                {isMoney ? '$' : ''}
                {texts[hover.at]}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {values.length > rows.length ? <p class="muted">{values.length - rows.length} more</p> : null}
    </div>
  );
}

function rowsAt(series: readonly Series[], { at, series: only }: Hover): readonly Series[] {
  const chosen = only === null ? series : series.slice(only, only + 1);
  return chosen
    .filter(({ values }) => values[at] !== null && values[at] !== undefined)
    .toSorted((a, b) => (b.values[at] ?? 0) - (a.values[at] ?? 0));
}

/** Pixels of the file for each pixel of the page: sharp on dense screens and in documents. */
const SCALE = 2;

/** Draws an SVG file as a PNG. As a `data:` address, because the policy of the page allows no image of another kind. */
async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = image.naturalWidth * SCALE;
  canvas.height = image.naturalHeight * SCALE;
  const context = canvas.getContext('2d');
  context?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob === null) reject(new Error('the chart could not be written as PNG'));
      else resolve(blob);
    }, 'image/png');
  });
}
