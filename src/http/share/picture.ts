import { escapeHtml } from '../../docs-site/markdown.ts';
import type { Glance } from '../../operations/dashboards/glance.ts';

/** The picture of a link as SVG: a title, up to four figures, and a line. Pure. Its size is that of the Open Graph protocol. */
export const PICTURE_SIZE = { width: 1_200, height: 630 } as const;

const INK = '#14201c';
const MUTED = '#5b6963';
const GREEN = '#0b8a6a';
const RED = '#b3261e';
const LEFT = 72;
const INNER = PICTURE_SIZE.width - 2 * LEFT;
const LINE_TOP = 430;
const LINE_BOTTOM = 580;
const TITLE_MAX_CHARS = 34;
const SUBTITLE_MAX_CHARS = 78;
const FIGURE_NAME_MAX_CHARS = 20;

export function pictureSvg({ title, subtitle, figures, line }: Glance): string {
  const step = INNER / Math.max(1, figures.length);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${PICTURE_SIZE.width}" height="${PICTURE_SIZE.height}" font-family="Inter">
<rect width="100%" height="100%" fill="#fbfcfb"/>
<rect width="100%" height="10" fill="${GREEN}"/>
<g transform="translate(${LEFT} 52) scale(1.7)"><path d="M3 7h9a5 5 0 0 1 0 10H3" fill="none" stroke="${GREEN}" stroke-width="2.6"/><circle cx="20" cy="12" r="2.8" fill="${GREEN}"/></g>
${text(LEFT + 52, 84, 28, 'Settlement Index', { weight: 600, fill: GREEN })}
${text(LEFT, 190, 60, cut(title, TITLE_MAX_CHARS), { weight: 600 })}
${text(LEFT, 240, 27, cut(subtitle, SUBTITLE_MAX_CHARS), { fill: MUTED })}
${figures.map((figure, at) => figureSvg(figure, LEFT + at * step)).join('\n')}
${lineSvg(line)}
</svg>`;
}

function figureSvg({ name, text: value, change }: Glance['figures'][number], x: number): string {
  const share = change === null ? '' : `${change < 0 ? '−' : '+'}${Math.round(Math.abs(change) * 100)}%`;
  return [
    text(x, 306, 22, cut(name, FIGURE_NAME_MAX_CHARS), { fill: MUTED }),
    text(x, 362, 50, value, { weight: 600 }),
    text(x, 396, 22, share, { weight: 600, fill: (change ?? 0) < 0 ? RED : GREEN }),
  ].join('\n');
}

function lineSvg(line: readonly number[]): string {
  if (line.length < 2) return '';
  const most = Math.max(...line) || 1;
  const points = line.map((value, at) => {
    const x = LEFT + (at / (line.length - 1)) * INNER;
    const y = LINE_BOTTOM - (Math.max(0, value) / most) * (LINE_BOTTOM - LINE_TOP);
    return `${x.toFixed(1)} ${y.toFixed(1)}`;
  });
  const top = points.join(' L');
  return `<path d="M${LEFT} ${LINE_BOTTOM} L${top} L${LEFT + INNER} ${LINE_BOTTOM} Z" fill="${GREEN}" opacity="0.14"/>
<path d="M${top}" fill="none" stroke="${GREEN}" stroke-width="4" stroke-linejoin="round"/>`;
}

interface Style {
  readonly weight?: 400 | 600;
  readonly fill?: string;
}

function text(x: number, y: number, size: number, words: string, { weight = 400, fill = INK }: Style = {}) {
  return `<text x="${x}" y="${y}" font-size="${size}" font-weight="${weight}" fill="${fill}">${escapeHtml(words)}</text>`;
}

function cut(words: string, maxChars: number): string {
  const chars = [...words];
  return chars.length <= maxChars ? words : `${chars.slice(0, maxChars - 1).join('')}…`;
}
