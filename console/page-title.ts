import { useEffect } from 'preact/hooks';

/** The title of the tab: what the page shows, and the console. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Settlement Index`;
  }, [title]);
}
