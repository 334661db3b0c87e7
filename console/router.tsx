import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { CONSOLE_BASE, consolePath } from './routes.ts';
import { createStore, type Store } from './store.ts';

/**
 * Where the visitor is: `path` below /console, `query` of the address. The fragment belongs to the page. Addresses are real
 * ones (History API): every page can be reloaded, shared and opened in a new tab.
 */
export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

export const place: Store<Place> = createStore(placeNow());

function placeNow(): Place {
  return { path: consolePath(location.pathname) ?? '/', query: new URLSearchParams(location.search) };
}

/** Goes to a path below /console, such as `/merchants/0x…?chain=eip155:8453`. `replace` leaves no step in the history. */
export function navigate(to: string, { replace = false } = {}): void {
  const url = hrefOf(to);
  if (replace) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  place.set(placeNow());
}

/** The address of a path below /console, for `href`. */
export function hrefOf(to: string): string {
  return to === '/' ? CONSOLE_BASE : `${CONSOLE_BASE}${to}`;
}

interface LinkProps {
  /** Path below /console. */
  readonly to: string;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly title?: string;
  readonly current?: boolean;
}

/** A link inside of the console. A plain `<a href>` to `/console/…` works too: clicks are taken over by the shell. */
export function Link({ to, children, current = false, ...rest }: LinkProps) {
  return (
    <a href={hrefOf(to)} {...rest} {...(current ? { 'aria-current': 'page' as const } : {})}>
      {children}
    </a>
  );
}

/** Follows back and forward, and clicks on links of the console, without loading the page again. */
export function followLinks(): () => void {
  const onClick = (event: MouseEvent): void => {
    const anchor = anchorOf(event);
    if (anchor === null || consolePath(anchor.pathname) === null || anchor.origin !== location.origin) return;
    if (isSamePage(anchor)) return;
    event.preventDefault();
    history.pushState(null, '', anchor.href);
    place.set(placeNow());
  };
  const onPop = (): void => place.set(placeNow());
  document.addEventListener('click', onClick);
  addEventListener('popstate', onPop);
  return () => {
    document.removeEventListener('click', onClick);
    removeEventListener('popstate', onPop);
  };
}

/** The link of a plain click; null when the browser shall do what it always does. */
function anchorOf(event: MouseEvent): HTMLAnchorElement | null {
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!isPlain || event.defaultPrevented || !(event.target instanceof Element)) return null;
  const anchor = event.target.closest('a');
  return anchor === null || anchor.target !== '' || anchor.hasAttribute('download') ? null : anchor;
}

/** Only the fragment differs: a skip link, or a place on the page. */
function isSamePage(anchor: HTMLAnchorElement): boolean {
  return anchor.pathname === location.pathname && anchor.search === location.search && anchor.hash !== '';
}

/** The title of the tab: what the page shows, and the console. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Settlement Index`;
  }, [title]);
}
