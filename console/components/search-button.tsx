import type { ComponentType } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { isPaletteOpen, listenForShortcut, SHORTCUT } from '../palette/open.ts';
import { useStore } from '../store.ts';
import { SearchSign } from './search-sign.tsx';
import { announce } from './states.tsx';

/** The button of the header that opens the search, which is a chunk of its own. */
export function SearchButton() {
  const isOpen = useStore(isPaletteOpen);
  const [Palette, setPalette] = useState<ComponentType | null>(null);
  // Before the button can be seen: it names the keys.
  useLayoutEffect(listenForShortcut, []);
  useEffect(() => {
    if (!isOpen || Palette !== null) return;
    import('./command-palette.tsx').then(
      ({ CommandPalette }) => setPalette(() => CommandPalette),
      () => {
        isPaletteOpen.set(false);
        announce('The search could not be loaded. Reload the page.');
      },
    );
  }, [isOpen, Palette]);
  return (
    <>
      <button
        type="button"
        class="search-button"
        aria-haspopup="dialog"
        aria-keyshortcuts="Meta+K Control+K /"
        onClick={() => isPaletteOpen.set(true)}
      >
        <SearchSign />
        <span class="search-button-text">Search wallets or agents</span>
        <kbd class="search-button-keys">{SHORTCUT}</kbd>
      </button>
      {isOpen && Palette !== null ? <Palette /> : null}
    </>
  );
}
