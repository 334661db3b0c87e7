import { WINDOWS, type Window } from '../../core/domain/window.ts';
import { Link } from '../router.tsx';
import { withQuery } from '../routes.ts';
import { WINDOW_NAMES, windowOf } from './ranking-window.ts';

/** Choices that are links, so that each can be shared and opened in a new tab. */

interface PageTabsProps {
  /** What the tabs choose between, for screen readers. */
  readonly label: string;
  readonly tabs: readonly { readonly to: string; readonly title: string; readonly isCurrent: boolean }[];
}

/** The pages of a section. */
export function PageTabs({ label, tabs }: PageTabsProps) {
  return (
    <nav class="page-tabs" aria-label={label}>
      {tabs.map(({ to, title, isCurrent }) => (
        <Link key={to} to={to} current={isCurrent}>
          {title}
        </Link>
      ))}
    </nav>
  );
}

interface WindowChoiceProps {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly windows?: readonly Window[];
  readonly fallback?: Window;
}

/** The window of a ranking, kept in the address; the default has no parameter. */
export function WindowChoice({ path, query, windows = WINDOWS, fallback = '30d' }: WindowChoiceProps) {
  const current = windowOf(query, fallback);
  return (
    <nav class="segmented window-choice" aria-label="Window">
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
