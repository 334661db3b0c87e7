import { IS_CHECKOUT } from './checkout.ts';

/** How the user invokes our commands: through npm in a source checkout, by the program's name in an installation. */

/** Commands of the program that package.json has a script for. */
const OWN_SCRIPTS: ReadonlySet<string> = new Set(['admin', 'doctor', 'facilitators', 'import']);

/** `commandText('admin key list')`: the command line to type. */
export function commandText(words: string, isSource = IS_CHECKOUT): string {
  if (!isSource) return `settlement-index ${words}`;
  const [command = '', ...rest] = words.split(' ');
  if (!OWN_SCRIPTS.has(command)) return `npm start -- ${words}`;
  return `npm run ${command}${rest.length === 0 ? '' : ` -- ${rest.join(' ')}`}`;
}

/** At a larger edit distance a name is not taken for a typo. */
const SUGGESTION_DISTANCE_MAX = 3;
/** The longest name of an option, parameter, column or function has some 40. A longer name is no typo of one. */
const SUGGESTED_NAME_MAX_CHARS = 100;

/** The known name that `name` is most likely a typo of, if any is close enough. Ignores case. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  if (name.length > SUGGESTED_NAME_MAX_CHARS) return undefined;
  const wanted = name.toLowerCase();
  for (const candidate of known) {
    if (Math.abs(candidate.length - wanted.length) > SUGGESTION_DISTANCE_MAX) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (best === undefined || distance < best.distance) best = { candidate, distance };
  }
  if (best === undefined) return undefined;
  const allowed = Math.min(SUGGESTION_DISTANCE_MAX, Math.ceil(best.candidate.length / 3));
  return best.distance <= allowed ? best.candidate : undefined;
}

/** Edit distance with adjacent swaps as one edit (optimal string alignment), computed row by row. */
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
