import {
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  type ChartConfiguration,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  ScatterController,
  Tooltip,
} from 'chart.js';
import { aboutText } from '../format.ts';
import type { ChartChoice, ChartPoint } from './chart-choice.ts';

/** Draws charts. Only this chunk holds the chart library. */

Chart.register(
  BarController,
  BarElement,
  CategoryScale,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  ScatterController,
  Tooltip,
);

interface Drawing {
  readonly choice: ChartChoice;
  readonly points: readonly ChartPoint[];
  /** Names of the columns that are drawn. */
  readonly names: readonly string[];
  readonly xName: string;
}

/** With more points than this, lines are drawn without marks. */
const MARKED_POINTS_MAX = 60;
const LABEL_CHARS_MAX = 20;

/** Draws on the canvas. The returned function removes the chart. */
export function drawChart(canvas: HTMLCanvasElement, drawing: Drawing): () => void {
  const chart = new Chart(canvas, configurationOf(drawing, coloursOf(canvas)));
  return () => chart.destroy();
}

interface Colours {
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  readonly series: readonly string[];
}

/** A canvas cannot resolve custom properties, so they are read from the computed colour of an element. */
function coloursOf(canvas: HTMLCanvasElement): Colours {
  const probe = document.createElement('span');
  canvas.parentElement?.append(probe);
  const resolve = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    text: resolve('text'),
    muted: resolve('muted'),
    line: resolve('line'),
    series: [1, 2, 3, 4, 5].map((number) => resolve(`series-${number}`)),
  };
  probe.remove();
  return colours;
}

function configurationOf(drawing: Drawing, colours: Colours): ChartConfiguration<'bar' | 'line' | 'scatter'> {
  const { choice, points } = drawing;
  const isScatter = choice.kind === 'scatter';
  return {
    type: choice.kind,
    data: {
      ...(isScatter ? {} : { labels: points.map(({ label }) => label) }),
      datasets: drawing.names.map((name, index) => {
        const colour = colours.series[index % colours.series.length] ?? colours.text;
        return {
          label: name,
          data: isScatter ? pairsOf(points, index) : points.map(({ y }) => y[index] ?? null),
          borderColor: colour,
          backgroundColor: colour,
          borderWidth: choice.kind === 'line' ? 2 : 0,
          pointRadius: isScatter || points.length <= MARKED_POINTS_MAX ? 3 : 0,
          tension: 0,
          maxBarThickness: 48,
        };
      }),
    },
    options: optionsOf(drawing, colours),
  };
}

function pairsOf(points: readonly ChartPoint[], index: number): { x: number; y: number }[] {
  return points.flatMap(({ x, y }) => {
    const value = y[index];
    return x === null || value === null || value === undefined ? [] : [{ x, y: value }];
  });
}

function optionsOf(
  { choice, names, xName, points }: Drawing,
  { text, muted, line }: Colours,
): NonNullable<ChartConfiguration<'bar' | 'line' | 'scatter'>['options']> {
  const font = { family: 'system-ui, sans-serif', size: 12 };
  const axis = { grid: { color: line }, border: { color: line } };
  return {
    animation: false,
    maintainAspectRatio: false,
    responsive: true,
    color: text,
    interaction: { mode: choice.kind === 'scatter' ? 'nearest' : 'index', intersect: false },
    plugins: {
      legend: { display: names.length > 1, labels: { color: text, font, boxWidth: 12 } },
      tooltip: { titleFont: font, bodyFont: font },
    },
    scales: {
      x: {
        ...axis,
        grid: { display: choice.kind === 'scatter', color: line },
        title: { display: true, text: xName, color: muted, font },
        ticks: {
          color: muted,
          font,
          maxRotation: 45,
          callback: (value, index) =>
            choice.kind === 'scatter' ? aboutText(Number(value)) : shortLabel(points[index]?.label),
        },
      },
      y: {
        ...axis,
        beginAtZero: choice.kind === 'bar',
        title: { display: names.length === 1, text: names[0] ?? '', color: muted, font },
        ticks: { color: muted, font, callback: (value) => aboutText(Number(value)) },
      },
    },
  };
}

function shortLabel(label = ''): string {
  if (/^0x[0-9a-f]{40}$/.test(label)) return `${label.slice(0, 6)}…${label.slice(-4)}`;
  return label.length > LABEL_CHARS_MAX ? `${label.slice(0, LABEL_CHARS_MAX - 1)}…` : label;
}
