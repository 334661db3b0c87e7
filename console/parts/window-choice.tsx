import { WINDOWS, type Window } from '../../core/domain/window.ts';
import { Link } from '../router.tsx';
import { withQuery } from '../routes.ts';
import { WINDOW_NAMES, windowOf } from './windows.ts';

interface WindowChoiceProps {
  /** Path of the page below /console. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly windows?: readonly Window[];
  readonly fallback?: Window;
}

/** The span of time of every figure on a page, kept in its address; the default has no parameter. */
export function WindowChoice({ path, query, windows = WINDOWS, fallback = '30d' }: WindowChoiceProps) {
  const current = windowOf(query, fallback);
  return (
    <nav class="segmented window-choice" aria-label="Time window">
      {windows.map((window) => (
        <Link
          key={window}
          to={withQuery(path, query, { window: window === fallback ? null : window, offset: null })}
          current={window === current}
        >
          {WINDOW_NAMES[window]}
        </Link>
      ))}
    </nav>
  );
}
