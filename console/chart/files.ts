import { saveFile } from '../save-file.ts';
import { dateText } from './dates.ts';
import type { FileWords } from './svg.ts';

/** A chart as a file that names its source and its day. */

/** Downloads what `svg` writes, as it is or drawn as PNG. */
export async function saveChart(
  title: string,
  ending: 'svg' | 'png',
  svg: (words: FileWords) => string,
): Promise<void> {
  const text = svg({
    title,
    source: `Settlement Index, ${location.host}`,
    date: dateText(new Date().toISOString().slice(0, 10)),
  });
  const file = ending === 'svg' ? new Blob([text], { type: 'image/svg+xml' }) : await pngOf(text);
  saveFile(file, fileName(title, ending));
}

function fileName(title: string, ending: string): string {
  const words = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
  return `${words === '' ? 'chart' : words}.${ending}`;
}

/** A canvas and a file cannot resolve custom properties, so they are read from the computed colour of an element. */
export function colourResolver(element: HTMLElement): (css: string) => string {
  const known = new Map<string, string>();
  return (css) => {
    const before = known.get(css);
    if (before !== undefined) return before;
    const probe = document.createElement('span');
    probe.style.color = css;
    element.append(probe);
    const colour = getComputedStyle(probe).color;
    probe.remove();
    known.set(css, colour);
    return colour;
  };
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
