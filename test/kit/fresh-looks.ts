/** However unlikely, something may have changed that no count tells of. */
const LOOK_ANYWAY_MS = 500;
/** A process at work changes something every few milliseconds: looking each time would take as much of the machine as its work. */
const LOOK_EVERY_MS = 150;

/**
 * A look at the database, for a loop that waits until it is true: while `changes` stays the same a look that was in vain is not
 * taken again, and counts as false. Looking a hundred times a second would take the machine from the work that is waited for.
 */
export function freshLooks(changes: () => number, look: () => Promise<boolean>): () => Promise<boolean> {
  let inVain: { readonly at: number; readonly sinceMs: number } | null = null;
  return async () => {
    const at = changes();
    if (inVain !== null) {
      const restMs = inVain.at === at ? LOOK_ANYWAY_MS : LOOK_EVERY_MS;
      if (performance.now() - inVain.sinceMs < restMs) return false;
    }
    const found = await look();
    inVain = found ? null : { at, sinceMs: performance.now() };
    return found;
  };
}
