import { changeText } from '../format.ts';
import type { End } from './ends.ts';
import type { Figure } from './figures.ts';
import { shortLabel } from './labels.ts';
import { DASHES, LINE_WIDTH_PX } from './paint.ts';
import type { Series } from './series.ts';
import type { Shape } from './shapes.ts';

/** A chart as an SVG file: the same shapes as on the page, with colours that need no style sheet. Pure. */

/** What a file says besides the picture. */
export interface FileWords {
  readonly title: string;
  /** Where the figures are from. */
  readonly source: string;
  /** When it was drawn. */
  readonly date: string;
}

export interface Tick {
  readonly value: number;
  readonly text: string;
}

/** A label at a pixel of its axis. */
interface PlacedTick {
  readonly at: number;
  readonly text: string;
}

export interface Picture {
  readonly words: FileWords;
  readonly width: number;
  readonly height: number;
  readonly frame: {
    readonly left: number;
    readonly top: number;
    readonly width: number;
    readonly height: number;
  };
  readonly ticks: {
    readonly x: readonly PlacedTick[];
    readonly y: readonly PlacedTick[];
    readonly right: readonly PlacedTick[];
  };
  readonly hasGrid: boolean;
  readonly shapes: readonly Shape[];
  /** Empty where colours say nothing. */
  readonly legend: readonly Pick<Series, 'name' | 'colour'>[];
  /** Labels at the ends of lines; empty with a legend. */
  readonly ends: readonly End[];
  readonly colourOf: (css: string) => string;
}

const TITLE_PX = 30;
const LEGEND_COLUMN_PX = 160;
const LEGEND_ROW_PX = 18;
const MARGIN_PX = 12;
const SOURCE_PX = 28;

export function svgText(picture: Picture): string {
  const columns = Math.max(1, Math.floor((picture.width - 2 * MARGIN_PX) / LEGEND_COLUMN_PX));
  const legendRows = Math.ceil(picture.legend.length / columns);
  const legendPx = legendRows * LEGEND_ROW_PX + (legendRows > 0 ? MARGIN_PX : 0);
  const height = TITLE_PX + picture.height + legendPx + SOURCE_PX;
  const { words } = picture;
  const { left, top, width, height: plotHeight } = picture.frame;
  return [
    ...headTexts(words.title, { width: picture.width, height, colourOf: picture.colourOf }),
    `<g transform="translate(0 ${TITLE_PX})">`,
    `<clipPath id="plot"><rect x="${left - 1}" y="${top - 2}" width="${width + 2}" height="${plotHeight + 3}"/></clipPath>`,
    ...axisTexts(picture),
    '<g clip-path="url(#plot)">',
    ...picture.shapes.map((shape) => shapeText(shape, picture.colourOf(shape.colour))),
    '</g>',
    ...picture.ends.map((end) => legendText(end, picture, { x: left + width + 8, y: end.y - 5 })),
    '</g>',
    ...picture.legend.map((one, at) =>
      legendText(one, picture, {
        x: MARGIN_PX + (at % columns) * LEGEND_COLUMN_PX,
        y: TITLE_PX + picture.height + MARGIN_PX + Math.floor(at / columns) * LEGEND_ROW_PX,
      }),
    ),
    sourceText(picture, height),
    '</svg>',
  ].join('\n');
}

/** Where the figures are from, and when they were drawn. */
function sourceText(
  { words, width, colourOf }: Pick<Picture, 'words' | 'width' | 'colourOf'>,
  height: number,
): string {
  const text = (x: number, anchor: string, words: string): string =>
    `<text x="${x}" y="${height - 10}" text-anchor="${anchor}" font-size="11" fill="${colourOf('var(--muted)')}">${escaped(words)}</text>`;
  return text(MARGIN_PX, 'start', `Source: ${words.source}`) + text(width - MARGIN_PX, 'end', words.date);
}

/** A number card as a file. */
export function cardText({ figures, words, colourOf }: CardPicture): string {
  const width = Math.max(CARD_MIN_PX, figures.length * CARD_COLUMN_PX);
  const height = CARD_HEIGHT_PX + SOURCE_PX;
  const [text, muted] = [colourOf('var(--text)'), colourOf('var(--muted)')];
  return [
    ...headTexts(words.title, { width, height, colourOf }),
    ...figures.flatMap(({ name, text: value, before, change }, at) => {
      const x = MARGIN_PX + at * CARD_COLUMN_PX;
      const changed = change === undefined || change === null ? '' : ` (${changeText(change)})`;
      return [
        `<text x="${x}" y="58" fill="${muted}">${escaped(name)}</text>`,
        `<text x="${x}" y="92" font-size="30" font-weight="600" fill="${text}">${escaped(value)}</text>`,
        before === null
          ? ''
          : `<text x="${x}" y="114" fill="${muted}">${escaped(`${before.text} before${changed}`)}</text>`,
      ];
    }),
    sourceText({ words, width, colourOf }, height),
    '</svg>',
  ].join('\n');
}

interface CardPicture extends Pick<Picture, 'words' | 'colourOf'> {
  readonly figures: readonly Figure[];
}

const CARD_MIN_PX = 420;
const CARD_COLUMN_PX = 210;
const CARD_HEIGHT_PX = 128;

function headTexts(
  title: string,
  { width, height, colourOf }: Pick<Picture, 'width' | 'height' | 'colourOf'>,
): string[] {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="100%" height="100%" fill="${colourOf('var(--surface)')}"/>`,
    `<text x="${MARGIN_PX}" y="20" font-size="14" font-weight="600" fill="${colourOf('var(--text)')}">${escaped(title)}</text>`,
  ];
}

function axisTexts({ frame, ticks, hasGrid, colourOf }: Picture): string[] {
  const [muted, line] = [colourOf('var(--muted)'), colourOf('var(--line)')];
  const [right, bottom] = [frame.left + frame.width, frame.top + frame.height];
  const label = (x: number, y: number, anchor: string, text: string): string =>
    `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" fill="${muted}">${escaped(text)}</text>`;
  return [
    ...ticks.y.flatMap(({ at, text }) => [
      hasGrid ? `<path d="M${frame.left} ${round(at)}H${right}" stroke="${line}"/>` : '',
      label(frame.left - 8, at + 4, 'end', text),
    ]),
    ...ticks.right.map(({ at, text }) => label(right + 8, at + 4, 'start', text)),
    ...ticks.x.map(({ at, text }) => label(at, bottom + 18, 'middle', text)),
    `<path d="M${frame.left} ${bottom}H${right}" stroke="${line}"/>`,
  ].filter((text) => text !== '');
}

function legendText(
  { name, colour }: Pick<Series, 'name' | 'colour'>,
  { colourOf }: Picture,
  { x, y }: { readonly x: number; readonly y: number },
): string {
  const text = `<text x="${x + 14}" y="${y + 9}" fill="${colourOf('var(--text)')}">${escaped(shortLabel(name))}</text>`;
  return `<rect x="${x}" y="${y}" width="9" height="9" rx="2" fill="${colourOf(colour)}"/>${text}`;
}

function shapeText(shape: Shape, colour: string): string {
  switch (shape.kind) {
    case 'line': {
      const dash = DASHES[shape.dash % DASHES.length] ?? [];
      const dashed = dash.length === 0 ? '' : ` stroke-dasharray="${dash.join(' ')}"`;
      return `<path d="${shape.runs.map((run) => pathOf(run)).join('')}" fill="none" stroke="${colour}" stroke-width="${LINE_WIDTH_PX}"${dashed}/>`;
    }
    case 'area':
      return `<path d="${shape.runs.map((run) => `${pathOf(run)}Z`).join('')}" fill="${colour}" fill-opacity="${shape.opacity}"/>`;
    case 'box':
      return `<path d="${boxesPath(shape.boxes)}" fill="${colour}" fill-opacity="${round(shape.opacity)}"/>`;
    case 'dot':
      return `<path d="${dotsPath(shape.dots, shape.radius)}" fill="${colour}"/>`;
  }
}

function pathOf(run: readonly number[]): string {
  const pairs: string[] = [];
  for (let at = 0; at < run.length; at += 2) pairs.push(`${round(run[at] ?? 0)} ${round(run[at + 1] ?? 0)}`);
  return `M${pairs.join('L')}`;
}

function boxesPath(boxes: readonly number[]): string {
  const parts: string[] = [];
  for (let at = 0; at < boxes.length; at += 4) {
    const [x = 0, y = 0, width = 0, height = 0] = boxes.slice(at, at + 4).map(round);
    parts.push(`M${x} ${y}h${width}v${height}h${-width}Z`);
  }
  return parts.join('');
}

function dotsPath(dots: readonly number[], radius: number): string {
  const parts: string[] = [];
  for (let at = 0; at < dots.length; at += 2) {
    const [x, y] = [round((dots[at] ?? 0) - radius), round(dots[at + 1] ?? 0)];
    parts.push(
      `M${x} ${y}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0`,
    );
  }
  return parts.join('');
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
