import { FACILITATOR_NAMES } from '../../core/domain/facilitator-names.ts';

/** Which colour a series has. Pure, so that tests can run it outside a browser. The colours are `--series-1` to `--series-8` of tokens.css. */

/** The number of colours. Charts with more series repeat them with another dash. */
export const COLOURS = 8;

/** The colour of a series by its position, as CSS. */
export function seriesColour(position: number): string {
  return `var(--series-${(position % COLOURS) + 1})`;
}

/** The grey of what has no name. */
export const UNNAMED_COLOUR = 'var(--series-none)';

/** What is drawn as one: told from what has no name by its strength. */
export const OTHER_COLOUR = 'var(--muted)';

/** Chosen so that the eight facilitators with the most relayers in `facilitator-relayers.json` have eight colours. */
const SEED = 886;

/**
 * The position of a facilitator's colour: a function of its id alone, so that it is the same on every page and in every picture. Null for
 * payments without a named facilitator.
 */
export function facilitatorSeries(id: string | null): number | null {
  if (id === null || id === '') return null;
  let hash = SEED;
  // FNV-1a, 32 bits.
  for (const character of id.toLowerCase()) {
    hash ^= character.codePointAt(0) ?? 0;
    hash = Math.imul(hash, 0x01000193);
  }
  return (hash >>> 8) % COLOURS;
}

/** The colour of a facilitator everywhere, as CSS; grey without a name. */
export function facilitatorColour(id: string | null): string {
  const series = facilitatorSeries(id);
  return series === null ? UNNAMED_COLOUR : seriesColour(series);
}

/** The shapes of marks, told apart by form alone. */
export const MARK_SHAPES = ['square', 'round', 'diamond', 'ring', 'frame', 'bar', 'half'] as const;
export type MarkShape = (typeof MARK_SHAPES)[number];

/** The shapes of the built-in facilitators: each is the next one of its colour. */
const SHAPES: ReadonlyMap<string, MarkShape> = (() => {
  const used = new Map<number, number>();
  return new Map(
    Object.keys(FACILITATOR_NAMES).map((id) => {
      const series = facilitatorSeries(id) ?? 0;
      const before = used.get(series) ?? 0;
      used.set(series, before + 1);
      return [id.toLowerCase(), MARK_SHAPES[before % MARK_SHAPES.length] ?? 'square'] as const;
    }),
  );
})();

/** The shape of a facilitator's mark; a square for one that is not built in. */
export function facilitatorShape(id: string | null): MarkShape {
  return SHAPES.get(id?.toLowerCase() ?? '') ?? 'square';
}
