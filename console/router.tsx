import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { CONSOLE_BASE, consolePath, pageQuery } from './routes.ts';
import { createStore, type Store } from './store.ts';

/** The current address: its path below /console and its query. Every page can be reloaded, shared and opened in a new tab. */
export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

/** The home page until `readPlace`. */
export const place: Store<Place> = createStore({ path: '/', query: new URLSearchParams() });

/** Takes the place from the address of the browser. */
export function readPlace(): void {
  place.set({ path: consolePath(location.pathname) ?? '/', query: pageQuery(location.search) });
}

/** Goes to a path below /console, such as `/merchants/0x…?chain=eip155:8453`. */
export function navigate(to: string): void {
  history.pushState(null, '', hrefOf(to));
  readPlace();
}

/** The `href` of a path below /console. */
function hrefOf(to: string): string {
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

/** A link to a page of the console. A plain `<a href>` to `/console/…` works too: `followLinks` handles its clicks. */
export function Link({ to, children, current = false, ...rest }: LinkProps) {
  return (
    <a href={hrefOf(to)} {...rest} {...(current ? { 'aria-current': 'page' as const } : {})}>
      {children}
    </a>
  );
}

/** Handles back, forward and clicks on links of the console without loading the page again. Returns the function that stops it. */
export function followLinks(): () => void {
  const onClick = (event: MouseEvent): void => {
    const anchor = anchorOf(event);
    if (anchor === null || consolePath(anchor.pathname) === null || anchor.origin !== location.origin) return;
    if (isSamePage(anchor)) return;
    event.preventDefault();
    history.pushState(null, '', anchor.href);
    readPlace();
  };
  document.addEventListener('click', onClick);
  addEventListener('popstate', readPlace);
  return () => {
    document.removeEventListener('click', onClick);
    removeEventListener('popstate', readPlace);
  };
}

/** The link of a plain click; null where the browser must handle the click. */
function anchorOf(event: MouseEvent): HTMLAnchorElement | null {
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!isPlain || event.defaultPrevented || !(event.target instanceof Element)) return null;
  const anchor = event.target.closest('a');
  return anchor === null || anchor.target !== '' || anchor.hasAttribute('download') ? null : anchor;
}

/** Whether only the fragment differs, as in a skip link. */
function isSamePage(anchor: HTMLAnchorElement): boolean {
  return anchor.pathname === location.pathname && anchor.search === location.search && anchor.hash !== '';
}

/** Sets the title of the tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Settlement Index`;
  }, [title]);
}
