/**
 * The parts of a drawing in docs/images. Colours come from classes: a page of the documentation gives them the colours of its theme, and on its
 * own the file follows the reader's system.
 */

const STYLE = `<style>
  svg { color: #1a1d21; font-family: system-ui, sans-serif; --surface: #ffffff; --raised: #f2f3f1; --line: #c3c7cc; --muted: #565c64; --accent: #0b6b53; --bad: #b3261e; --ground: #ffffff; }
  @media (prefers-color-scheme: dark) { svg { color: #e8eaed; --surface: #1b1e24; --raised: #242830; --line: #464d59; --muted: #a3aab5; --accent: #4cc9a0; --bad: #ff8a80; --ground: #14161a; } }
  .ground { fill: var(--ground); }
  text { fill: currentColor; }
  .note { fill: var(--muted); }
  .box { fill: var(--surface); stroke: var(--line); }
  .strong { fill: var(--raised); stroke: var(--accent); }
  .zone { fill: none; stroke: var(--line); stroke-dasharray: 5 4; }
  .arrow { fill: none; stroke: var(--muted); }
  .tip { fill: var(--muted); }
  .stop { fill: none; stroke: var(--bad); }
</style>`;

export interface Place {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

const TITLE_PX = 13;
const NOTE_PX = 11.5;
const LINE_PX = 16;
/** Width of a letter as a part of the size of the font, above the mean of common sans-serif fonts. */
const LETTER_EM = 0.52;
const PADDING_PX = 10;

/** Every drawing is as wide as the text of a page. */
export const WIDTH = 800;

/** `id` keeps the arrow heads of several drawings on one page apart. */
export function drawing(id: string, title: string, height: number, parts: readonly string[]): string {
  const tip = `<defs><marker id="${id}-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 0.8 L7.5 4 L0 7.2 Z" class="tip"/></marker></defs>`;
  const lines = [tip, `<rect class="ground" width="${WIDTH}" height="${height}"/>`, ...parts]
    .map((part) => `  ${part.replaceAll('#tip', `#${id}-tip`)}\n`)
    .join('');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}">\n<title>${escaped(title)}</title>\n${STYLE}\n${lines}</svg>\n`;
}

type BoxKind = 'box' | 'strong';

/** A box with a title and lines below it, all centred. Throws where a line would not fit. */
export function box(
  place: Place,
  title: string,
  notes: readonly string[] = [],
  kind: BoxKind = 'box',
): string {
  const { x, y, w, h } = place;
  for (const [line, px] of [[title, TITLE_PX] as const, ...notes.map((note) => [note, NOTE_PX] as const)])
    if (widthOf(line, px) > w - PADDING_PX)
      throw new Error(`"${line}" does not fit into a box of ${w} pixels`);
  const first = y + h / 2 - (notes.length * LINE_PX) / 2 + TITLE_PX / 3;
  const texts = [
    label(x + w / 2, first, title, { bold: true, anchor: 'middle' }),
    ...notes.map((note, at) =>
      label(x + w / 2, first + (at + 1) * LINE_PX, note, { note: true, anchor: 'middle' }),
    ),
  ];
  return `<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="6" class="${kind}"/>${texts.join('')}`;
}

/** A dashed frame around boxes, with its name at the top. */
export function zone({ x, y, w, h }: Place, name: string): string {
  return `<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="8" class="zone"/>${label(x + 10, y + 18, name, { note: true })}`;
}

/** Through the points, with a head at the end; `stop` is drawn as an error. */
export function arrow(
  points: readonly (readonly [number, number])[],
  kind: 'arrow' | 'stop' = 'arrow',
): string {
  const path = points.map(([x, y], at) => `${at === 0 ? 'M' : 'L'}${x} ${y}`).join(' ');
  return `<path d="${path}" class="${kind}" marker-end="url(#tip)"/>`;
}

export interface LabelOptions {
  readonly note?: boolean;
  readonly bold?: boolean;
  readonly anchor?: 'start' | 'middle' | 'end';
}

export function label(
  x: number,
  y: number,
  text: string,
  { note = false, bold = false, anchor = 'start' }: LabelOptions = {},
): string {
  const attributes = [
    `x="${round(x)}" y="${round(y)}" font-size="${note ? NOTE_PX : TITLE_PX}"`,
    anchor === 'start' ? '' : ` text-anchor="${anchor}"`,
    bold ? ' font-weight="600"' : '',
    note ? ' class="note"' : '',
  ];
  return `<text ${attributes.join('')}>${escaped(text)}</text>`;
}

export function widthOf(text: string, px = NOTE_PX): number {
  return text.length * px * LETTER_EM;
}

/** Words of a sentence in lines that fit into so many pixels. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`.trim();
    if (lines.length > 0 && widthOf(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
