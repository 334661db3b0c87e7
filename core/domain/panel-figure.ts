/** Columns of a panel’s rows as people read them, in the console and on pictures. */

const UNITS: readonly string[] = ['usd', 'percent'];

/** `organic_volume_usd` is `Organic volume`. */
export function columnTitle(name: string): string {
  if (name === 'block_time') return 'Time';
  const words = name
    .split('_')
    .filter((word) => !UNITS.includes(word))
    .join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const BEFORE = '_before';

/** The column of the period before; null where the data has none. */
export function columnBefore(names: readonly string[], name: string): number | null {
  const at = names.indexOf(`${name}${BEFORE}`);
  return at === -1 ? null : at;
}

export function isBefore(name: string): boolean {
  return name.endsWith(BEFORE);
}

/** How much a figure changed, as a share; null where the period before had nothing. */
export function shareOfChange(now: unknown, before: unknown): number | null {
  const [value, former] = [Number(now ?? 0), Number(before ?? 0)];
  if (former === 0) return null;
  return (value - former) / former;
}

export type FigureKind = 'money' | 'percent' | 'count';

export function figureKind(name: string): FigureKind {
  const words = name.split('_');
  if (words.includes('usd')) return 'money';
  return words.includes('percent') ? 'percent' : 'count';
}
