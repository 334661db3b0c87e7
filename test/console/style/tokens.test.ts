import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COLOURS } from '../../../console/chart/palette.ts';
import {
  type Colour,
  contrastOf,
  distanceOf,
  mixed,
  readColour,
  seenWith,
  VISIONS,
} from '../../kit/colours.ts';

/** The colours of the console, computed from the style sheets as they are served. */

const STYLE = new URL('../../../console/style/', import.meta.url);
const TOKENS = readFileSync(new URL('tokens.css', STYLE), 'utf8');
const THEMES = ['light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const TEXTS = [
  ...['text', 'muted', 'accent', 'good', 'info', 'warn', 'bad'],
  ...['code-name', 'code-type', 'code-string', 'code-number'],
];
const GROUNDS = ['ground', 'surface', 'raised', 'head'];
/** Fills that hold no text. `accent` holds `on-accent`. */
const FILLS = ['accent', 'good', 'info', 'warn', 'bad', 'muted', 'line'];
/** WCAG 2.2, 1.4.3 for text and 1.4.11 for marks. */
const TEXT_CONTRAST = 4.5;
const MARK_CONTRAST = 3;
/** In OKLab, where 0.02 is a difference that is just seen. */
const SERIES_DISTANCE = 0.07;
const SERIES = [...Array.from({ length: COLOURS }, (_, at) => `series-${at + 1}`), 'series-none'];

function colourOf(name: string, theme: Theme): Colour {
  const pair = new RegExp(`--${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\);`).exec(TOKENS);
  const text = pair?.[theme === 'light' ? 1 : 2];
  if (text === undefined) throw new Error(`tokens.css has no --${name} with two colours`);
  return readColour(text);
}

function pairsBelow(least: number, marks: readonly string[], grounds: readonly string[]): string[] {
  return THEMES.flatMap((theme) =>
    marks.flatMap((mark) =>
      grounds.flatMap((ground) => {
        const contrast = contrastOf(colourOf(mark, theme), colourOf(ground, theme));
        return contrast < least ? [`${mark} on ${ground}, ${theme}: ${contrast.toFixed(2)}`] : [];
      }),
    ),
  );
}

/** Declarations of the style sheets whose property matches, with the token they use. */
function tokensUsedBy(property: RegExp): string[] {
  const sheets = readdirSync(STYLE).filter((name) => name !== 'tokens.css');
  const found = sheets.flatMap((name) =>
    [...readFileSync(new URL(name, STYLE), 'utf8').matchAll(/(?:^|[;{\s])([a-z-]+):\s*([^;{}]+);/g)].flatMap(
      ([, declared = '', value = '']) =>
        property.test(declared)
          ? [...value.matchAll(/^var\(--([a-z0-9-]+)\)$/g)].map(([, used]) => used ?? '')
          : [],
    ),
  );
  return [...new Set(found)];
}

describe('the colours of the console', () => {
  it('every colour of text can be read on every ground, in both themes', () => {
    expect(pairsBelow(TEXT_CONTRAST, TEXTS, GROUNDS)).toEqual([]);
    expect(pairsBelow(TEXT_CONTRAST, ['on-accent'], ['accent'])).toEqual([]);
  });

  it('the word of a chip can be read on the tint of its own colour, on every ground', () => {
    const low = THEMES.flatMap((theme) =>
      TEXTS.flatMap((text) =>
        GROUNDS.flatMap((ground) => {
          const colour = colourOf(text, theme);
          const contrast = contrastOf(colour, mixed(colour, colourOf(ground, theme), 0.08));
          return contrast < TEXT_CONTRAST
            ? [`${text} on its tint over ${ground}, ${theme}: ${contrast}`]
            : [];
        }),
      ),
    );
    expect(low).toEqual([]);
  });

  it('the style sheets use no other pair', () => {
    const texts = tokensUsedBy(/^color$/);
    expect(texts.filter((name) => ![...TEXTS, 'on-accent'].includes(name))).toEqual([]);
    const grounds = tokensUsedBy(/^background(-color)?$/).filter((name) => !name.startsWith('series-'));
    expect(grounds.filter((name) => ![...GROUNDS, ...FILLS].includes(name))).toEqual([]);
    // The editor has its colours in a script, and the documentation has a sheet of its own.
    const code = ['console/sql/editor.ts', 'src/docs-site/assets/docs.css'].flatMap((path) =>
      [
        ...readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8').matchAll(
          /[^-]color: '?var\(--([a-z0-9-]+)\)/g,
        ),
      ].map(([, used]) => used ?? ''),
    );
    expect(code.filter((name) => ![...TEXTS, 'on-accent'].includes(name))).toEqual([]);
    expect([texts.length, grounds.length, code.length].every((count) => count > 4)).toBe(true);
  });

  it('every series stands out from every ground', () => {
    expect(pairsBelow(MARK_CONTRAST, SERIES, GROUNDS)).toEqual([]);
  });

  it.each(VISIONS)('two series never look alike: %s', (vision) => {
    const alike = THEMES.flatMap((theme) => {
      const seen = SERIES.map((name) => ({ name, colour: seenWith(vision, colourOf(name, theme)) }));
      return seen.flatMap((one, at) =>
        seen.slice(at + 1).flatMap((other) => {
          const distance = distanceOf(one.colour, other.colour);
          return distance < SERIES_DISTANCE
            ? [`${one.name} and ${other.name}, ${theme}: ${distance.toFixed(3)}`]
            : [];
        }),
      );
    });
    expect(alike).toEqual([]);
  });
});
