import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Locator, Page } from 'playwright-core';

/** Pictures of parts of a page, compared with the ones that are kept in the repository. KEEP_PICTURES=1 writes them anew. */

/** A channel that differs by less is smoothing of fonts. */
const CHANNEL_MAX = 48;
/** The share of pixels that may differ. */
const SHARE_MAX = 0.004;

interface Difference {
  readonly sizes: readonly string[];
  readonly share: number;
}

/** What differs from the kept picture, in words; null where they look the same. */
export async function differenceFrom(kept: URL, part: Locator): Promise<string | null> {
  const taken = await part.screenshot({ animations: 'disabled', caret: 'hide' });
  if (process.env['KEEP_PICTURES'] === '1') {
    mkdirSync(dirname(kept.pathname), { recursive: true });
    writeFileSync(kept, taken);
    return null;
  }
  if (!existsSync(kept)) return `there is no ${kept.pathname}: KEEP_PICTURES=1 writes it`;
  const { sizes, share } = await compared(part.page(), readFileSync(kept), taken);
  if (sizes[0] !== sizes[1]) return `the size was ${sizes[0]} and is ${sizes[1]}`;
  return share > SHARE_MAX ? `${(share * 100).toFixed(2)} % of the pixels differ` : null;
}

/** In the browser, which can read pictures. */
async function compared(page: Page, kept: Buffer, taken: Buffer): Promise<Difference> {
  const [before, after] = [kept, taken].map((png) =>
    JSON.stringify(`data:image/png;base64,${png.toString('base64')}`),
  );
  const difference: unknown = await page.evaluate(`(async () => {
    const pixels = async (address) => {
      const image = new Image();
      image.src = address;
      await image.decode();
      const canvas = document.createElement('canvas');
      Object.assign(canvas, { width: image.naturalWidth, height: image.naturalHeight });
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      return { size: canvas.width + ' × ' + canvas.height, data: context.getImageData(0, 0, canvas.width, canvas.height).data };
    };
    const [one, other] = [await pixels(${before}), await pixels(${after})];
    let different = 0;
    for (let at = 0; at < one.data.length; at += 4)
      if ([0, 1, 2].some((channel) => Math.abs(one.data[at + channel] - other.data[at + channel]) > ${CHANNEL_MAX})) different += 1;
    return { sizes: [one.size, other.size], share: different / (one.data.length / 4) };
  })()`);
  return difference as Difference; // what the expression above gives
}
