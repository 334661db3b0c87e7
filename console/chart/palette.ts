/** Which colour a series has. Pure, so that tests can run it outside a browser. The colours are `--series-1` to `--series-8` of tokens.css. */

/** The number of colours. Charts with more series repeat them with another dash. */
export const COLOURS = 8;

/** The colour of a series by its position, as CSS. */
export function seriesColour(position: number): string {
  return `var(--series-${(position % COLOURS) + 1})`;
}

/** The grey of what has no name. */
export const UNNAMED_COLOUR = 'var(--series-none)';

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
