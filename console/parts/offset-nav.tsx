import { Link } from '../router.tsx';

interface OffsetNavProps {
  /** Path of the page below /console. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly limit: number;
  readonly shown: number;
  readonly nextOffset: number | null;
  readonly what: string;
}

/** Steps through a list that is paged by position. Plain links: a page can be shared and opened beside. */
export function OffsetNav({ path, query, limit, shown, nextOffset, what }: OffsetNavProps) {
  const offset = offsetOf(query);
  if (offset === 0 && nextOffset === null) return null;
  const to = (position: number): string =>
    withQuery(path, query, { offset: position === 0 ? null : String(position) });
  return (
    <nav class="list-foot" aria-label={`Pages of ${what}`}>
      <span class="muted small">
        {offset + 1} to {offset + shown}
      </span>
      {offset > 0 ? (
        <Link class="button" to={to(Math.max(0, offset - limit))}>
          ← Previous
        </Link>
      ) : null}
      {nextOffset === null ? null : (
        <Link class="button" to={to(nextOffset)}>
          Next →
        </Link>
      )}
    </nav>
  );
}

/** The position that the address names; a mistyped one is the start. */
export function offsetOf(query: URLSearchParams): number {
  const text = query.get('offset') ?? '0';
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

/** A path with the query of now, some values changed; null and '' take one out. */
export function withQuery(
  path: string,
  query: URLSearchParams,
  changes: Readonly<Record<string, string | null>>,
): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  return text === '' ? path : `${path}?${text}`;
}
