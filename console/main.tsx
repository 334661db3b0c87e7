import { type ComponentType, render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { openSession } from './api.ts';
import { Header } from './components/header.tsx';
import { KeyDialog } from './components/key-dialog.tsx';
import { copyExactTexts } from './components/money.tsx';
import { announce, EmptyState, LiveRegion, Loading } from './components/states.tsx';
import { findPage, type PageEntry } from './pages.ts';
import { followLinks, Link, place, readPlace } from './router.tsx';
import type { PageProps, RouteParams } from './routes.ts';
import { useStore } from './store.ts';
import { applyStoredTheme } from './theme.ts';

/**
 * The shell of the console. Pages can rely on this:
 *
 * - A page is a component in `pages/` that takes `PageProps` (`{ params, query }`) and is listed in `pages.ts`. Each file of pages is
 *   a chunk that is loaded when a page of it is opened. A page begins with one `<h1>`; the shell gives it `<main>`, the focus and a
 *   title of the tab, which `useTitle` makes more precise.
 * - `useAnswer` of `use-answer.ts` and the lists of `use-list.ts` read the API for components; `getJson` and `post` of `api.ts` do so
 *   elsewhere. They add the key. Failures are `ApiProblem`s (branch on `problem.body.code`). Wire types are in `wire.ts`.
 * - `DataTable` of `components/data-table.tsx` shows lists, with their loading, empty and error states and their paging.
 * - `Link` and `navigate` of `router.tsx` take paths below /console. The fragment of an address is for the page to use.
 * - `components/` has `Stat`, `Chip`, `Money`, `Sparkline`, `Time`, `CopyButton`, `EmptyState`, `Loading`, `ProblemState`; `chart/` has
 *   `Chart` and the colours of facilitators. `test/kit/parts/` shows each of them in its states. `format.ts` writes figures.
 * - `announce(text)` of `components/states.tsx` has screen readers say what changed. `session`, `account` and `isDark` are stores, read
 *   with `useStore`.
 * - Style sheets are in `style/`, imported by `style/console.css`, with the colours of `tokens.css`. The content security policy allows
 *   no inline style in markup and no request to another host: the `style` property of Preact works, `dangerouslySetInnerHTML` with
 *   styles does not.
 */
function App() {
  const { path, query } = useStore(place);
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    const stops = [followLinks(), copyExactTexts()];
    return () => {
      for (const stop of stops) stop();
    };
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

/**
 * A part of the console did not arrive: the connection is lost, or the service was updated and the parts of the older version are gone. A page
 * that is loaded again without a connection would be the browser's error page, so it is loaded only once the service answers.
 */
function NotLoaded() {
  const [isLost, setLost] = useState(!navigator.onLine);
  useEffect(() => {
    addEventListener('online', tryAgain);
    return () => removeEventListener('online', tryAgain);
  }, []);
  const tryAgain = async (): Promise<void> => {
    const isThere = await fetch('/healthz', { cache: 'no-store' }).then(
      () => true,
      () => false,
    );
    setLost(!isThere);
    if (isThere) location.reload();
    else announce('The service does not answer');
  };
  return (
    <EmptyState title={isLost ? 'The connection is lost' : 'This page could not be loaded'}>
      <p>
        {isLost
          ? 'The service does not answer. The page opens when the connection is back.'
          : 'The connection may have been lost, or the service was updated since you opened the console.'}
      </p>
      <button type="button" class="button" onClick={() => void tryAgain()}>
        Try again
      </button>
    </EmptyState>
  );
}

function NoSuchPage() {
  return (
    <>
      <h1>No such page</h1>
      <EmptyState title="There is no page at this address.">
        <p>
          <Link to="/">Home</Link>
        </p>
      </EmptyState>
    </>
  );
}

applyStoredTheme();
readPlace();
const isFrame = location.pathname.startsWith('/embed/');
openSession(document.querySelector<HTMLMetaElement>('meta[name="six-visitor-key"]')?.content ?? null, {
  isFrame,
});
const root = document.getElementById('app');
if (root === null) throw new Error('the page has no #app');
if (isFrame) void import('./dashboard/frame.tsx').then(({ Frame }) => render(<Frame />, root));
else render(<App />, root);
