import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { refreshAccount } from './account.ts';
import { Header } from './components/header.tsx';
import { KeyDialog } from './components/key-dialog.tsx';
import { announce, EmptyState, LiveRegion, Loading } from './components/states.tsx';
import { findPage, type PageEntry } from './pages.ts';
import { followLinks, Link, place } from './router.tsx';
import type { PageProps, RouteParams } from './routes.ts';
import { useStore } from './store.ts';

/**
 * The shell of the console, and what a page can count on:
 *
 * - A page is `pages/<name>.tsx` with a named component that takes `PageProps` (`{ params, query }`), listed in `pages.ts`. Each is
 *   a chunk of its own, loaded when it is opened, and begins with one `<h1>`; the shell gives it `<main>`, the focus on arrival and
 *   the title of the tab (`useTitle` of `page-title.ts` says it better).
 * - `useAnswer<Answer>(path, { query, refreshMs })` of `use-answer.ts` reads the API; `getJson`, `post` and `segment` of `api.ts` do
 *   so outside of rendering. The key travels by itself. Failures are `ApiProblem` (branch on `problem.body.code`).
 * - `Link` and `navigate` of `router.tsx`; paths are below /console, and the fragment belongs to the page.
 * - `format.ts` writes figures; `components/` has `CopyButton`, `Time`, `EmptyState`, `Loading`, `ProblemState`.
 * - `announce(text)` of `announce.tsx` tells screen readers what changed. `session`, `account`, `isDark` are stores: `useStore`.
 * - Style is in `style/*.css`, imported by `style/console.css` (pages other than SQL: `style/pages.css`), with the colours of
 *   `tokens.css`. The policy of the page allows no inline style in markup and no request to anybody else; the `style` property of
 *   Preact is fine, `style="…"` as text and `dangerouslySetInnerHTML` are not.
 */
export function App() {
  const { path, query } = useStore(place);
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    void refreshAccount();
    return followLinks();
  }, []);
  const isFirst = useRef(true);
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false;
      return;
    }
    scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [path]);
  const found = findPage(path);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Header section={found?.entry.section ?? ''} />
      <main id="main" tabIndex={-1} ref={main}>
        {found === null ? <NoSuchPage /> : <Page key={path} {...found} query={query} />}
      </main>
      <KeyDialog />
      <LiveRegion />
    </>
  );
}

interface OpenPage {
  readonly entry: PageEntry;
  readonly params: RouteParams;
  readonly query: URLSearchParams;
}

type LoadState = 'failed' | ComponentType<PageProps> | null;

function Page({ entry, params, query }: OpenPage) {
  const [loaded, setLoaded] = useState<LoadState>(null);
  useEffect(() => {
    let isHere = true;
    document.title = `${entry.title} · Settlement Index`;
    entry.load().then(
      (component) => {
        if (!isHere) return;
        setLoaded(() => component);
        announce(entry.title);
      },
      () => {
        if (isHere) setLoaded('failed');
      },
    );
    return () => {
      isHere = false;
    };
  }, [entry]);
  if (loaded === null) return <Loading what={entry.title.toLowerCase()} />;
  if (loaded === 'failed') return <NotLoaded />;
  const Component = loaded;
  return <Component params={params} query={query} />;
}

/** After an update of the service the chunks of the old page are gone. */
function NotLoaded() {
  return (
    <EmptyState title="This part of the console could not be loaded">
      <p>The service may have been updated since the page was opened.</p>
      <button type="button" class="button" onClick={() => location.reload()}>
        Load the page again
      </button>
    </EmptyState>
  );
}

function NoSuchPage() {
  return (
    <>
      <h1>No such page</h1>
      <EmptyState title="The console has no page at this address.">
        <p>
          <Link to="/">To the live flow</Link>
        </p>
      </EmptyState>
    </>
  );
}
