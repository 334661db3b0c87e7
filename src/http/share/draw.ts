import { fileURLToPath } from 'node:url';
import { LRUCache } from 'lru-cache';
import { fail } from '../../../core/errors.ts';

/** SVG to PNG: one picture at a time, on a thread of its own, and each kept for some minutes. */
export interface Pictures {
  /** `name` says what is on it. Rejects with `overloaded` where too many wait. */
  png(name: string, make: () => Promise<Picture>): Promise<Buffer>;
}

export interface Picture {
  readonly svg: string;
  /** False where something is missing on it: it is drawn again for the next reader. */
  readonly isWhole: boolean;
}

export const PICTURE_KEPT_SECONDS = 600;
/** Some 40 kB each. */
const KEPT_MAX = 100;
const WAITING_MAX = 8;
const RETRY_AFTER_SECONDS = 5;
/** Ours alone: fonts of the machine would make another picture on each. */
const FONTS = ['Inter-Regular.ttf', 'Inter-SemiBold.ttf'].map((file) =>
  fileURLToPath(new URL(`./fonts/${file}`, import.meta.url)),
);

export function createPictures(render: (svg: string) => Promise<Buffer> = renderPng): Pictures {
  const kept = new LRUCache<string, Promise<Buffer>>({ max: KEPT_MAX, ttl: PICTURE_KEPT_SECONDS * 1_000 });
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return {
    png: async (name, make) => {
      const known = kept.get(name);
      if (known !== undefined) return known;
      if (waiting >= WAITING_MAX)
        throw fail('overloaded', {
          detail: 'Too many pictures are being drawn. Ask again in some seconds.',
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        });
      waiting += 1;
      const drawn = last
        .then(make)
        .then(({ svg, isWhole }) => {
          if (!isWhole) kept.delete(name);
          return render(svg);
        })
        .catch((error: unknown) => {
          kept.delete(name);
          throw error;
        })
        .finally(() => {
          waiting -= 1;
        });
      last = drawn.catch(() => undefined);
      kept.set(name, drawn);
      return drawn;
    },
  };
}

/** The library is loaded with the first picture. */
async function renderPng(svg: string): Promise<Buffer> {
  const { renderAsync } = await import('@resvg/resvg-js');
  const image = await renderAsync(svg, {
    font: { fontFiles: FONTS, loadSystemFonts: false, defaultFontFamily: 'Inter' },
  });
  return image.asPng();
}
