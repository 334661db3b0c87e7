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
