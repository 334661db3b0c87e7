import type { Entry } from './entries.ts';

/** What was opened from the search lately, kept in this browser only. */

const STORED_AS = 'six.opened';
const RECENT_MAX = 5;

export function recentEntries(): readonly Entry[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED_AS) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isEntry).slice(0, RECENT_MAX) : [];
  } catch {
    return []; // storage may be forbidden, or hold what another version wrote
  }
}

/** Pages are not kept: the list has all of them already. */
export function noteOpened(entry: Entry): void {
  if (entry.kind === 'page' || entry.kind === 'search') return;
  const others = recentEntries().filter(({ href }) => href !== entry.href);
  try {
    localStorage.setItem(STORED_AS, JSON.stringify([entry, ...others].slice(0, RECENT_MAX)));
  } catch {
    // Storage may be forbidden or full: the list then stays as it is.
  }
}

/** Other versions of the console may have written the stored links, so only links of this origin are taken over. */
function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, title, href } = value as Partial<Record<keyof Entry, unknown>>;
  return (
    typeof kind === 'string' &&
    typeof title === 'string' &&
    typeof href === 'string' &&
    /^\/(console|docs)(\/|$)/.test(href)
  );
}
