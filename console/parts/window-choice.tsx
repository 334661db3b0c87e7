import { WINDOWS, type Window } from '../../core/domain/window.ts';
import { Link } from '../router.tsx';
import { withQuery } from '../routes.ts';

const WINDOW_LABELS: Readonly<Record<Window, string>> = {
  '24h': '24 h',
  '7d': '7 d',
  '30d': '30 d',
  '90d': '90 d',
  all: 'All',
};

/** In a sentence: `in the last 30 days`. */
const WINDOW_TEXTS: Readonly<Record<Window, string>> = {
  '24h': 'in the last 24 hours',
  '7d': 'in the last 7 days',
  '30d': 'in the last 30 days',
  '90d': 'in the last 90 days',
  all: 'since the index begins',
};

export function windowText(window: Window): string {
  return WINDOW_TEXTS[window];
}

/** The `window` of an address; `byDefault` where it is missing or unknown. */
export function windowOf(query: URLSearchParams, byDefault: Window): Window {
  return WINDOWS.find((window) => window === query.get('window')) ?? byDefault;
}

interface WindowChoiceProps {
  /** Path of the page below /console. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly byDefault: Window;
}

/** The span of time of every figure on a page, kept in its address. */
export function WindowChoice({ path, query, byDefault }: WindowChoiceProps) {
  const chosen = windowOf(query, byDefault);
  return (
    <nav class="segmented" aria-label="Time window">
      {WINDOWS.map((window) => (
        <Link
          key={window}
          to={withQuery(path, query, { window: window === byDefault ? null : window })}
          current={window === chosen}
        >
          {WINDOW_LABELS[window]}
        </Link>
      ))}
    </nav>
  );
}
