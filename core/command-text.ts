/** How our commands are called here: by npm where the program runs from its sources, by its own name where it is installed. */

/** Commands of the program that package.json has a script for. */
const OWN_SCRIPTS: ReadonlySet<string> = new Set(['admin', 'doctor', 'import']);

const IS_SOURCE = import.meta.url.endsWith('.ts');

/** `commandText('admin key list')`: what a person types for it. */
export function commandText(words: string, isSource = IS_SOURCE): string {
  if (!isSource) return `settlement-index ${words}`;
  const [command = '', ...rest] = words.split(' ');
  if (!OWN_SCRIPTS.has(command)) return `npm start -- ${words}`;
  return `npm run ${command}${rest.length === 0 ? '' : ` -- ${rest.join(' ')}`}`;
}

/** A name further away than this from every known one is not a typing error. */
const SUGGESTION_DISTANCE_MAX = 3;

/** The known name with the fewest edits, when it is near enough to be what was meant. Letters' case does not count. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  const wanted = name.toLowerCase();
  for (const candidate of known) {
    if (Math.abs(candidate.length - wanted.length) > SUGGESTION_DISTANCE_MAX) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (best === undefined || distance < best.distance) best = { candidate, distance };
  }
  if (best === undefined) return undefined;
  const allowed = Math.min(SUGGESTION_DISTANCE_MAX, Math.ceil(best.candidate.length / 2));
  return best.distance <= allowed ? best.candidate : undefined;
}

/** Edits of one letter each, two neighbours that changed places among them; one row at a time. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 0; row < a.length; row++) {
    const current = [row + 1];
    for (let column = 0; column < b.length; column++) {
      const isSame = a[row] === b[column];
      const isSwapped =
        row > 0 && column > 0 && !isSame && a[row] === b[column - 1] && a[row - 1] === b[column];
      current.push(
        Math.min(
          (current[column] ?? 0) + 1,
          (previous[column + 1] ?? 0) + 1,
          (previous[column] ?? 0) + (isSame ? 0 : 1),
          isSwapped ? (before[column - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    before = previous;
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
