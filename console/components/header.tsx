import type { ComponentType } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { account, isKeyDialogOpen, session } from '../api.ts';
import { countText } from '../format.ts';
import { PAGES } from '../pages.ts';
import { isPaletteOpen, listenForShortcut, shortcutText } from '../palette/open.ts';
import { Link, place } from '../router.tsx';
import { useStore } from '../store.ts';
import { chooseTheme, THEMES, type Theme, theme } from '../theme.ts';
import { SearchSign } from './search-sign.tsx';
import { announce } from './states.tsx';

const THEME_NAMES: Readonly<Record<Theme, string>> = { system: 'System', light: 'Light', dark: 'Dark' };

/** `section` is the `section` of the current page in `pages.ts`. */
export function Header({ section }: { readonly section: string }) {
  const [isOpen, setOpen] = useState(false);
  const here = useStore(place);
  // `here` is only a trigger: opening a page closes the menu.
  useEffect(() => setOpen(false), [here]);
  return (
    <header class="top">
      <Link to="/" class="brand">
        <Mark />
        <span>Settlement Index</span>
      </Link>
      <SearchButton />
      <button
        type="button"
        class="button menu-button"
        aria-expanded={isOpen}
        aria-controls="navigation"
        onClick={() => setOpen(!isOpen)}
      >
        Menu
      </button>
      <nav id="navigation" class={isOpen ? 'open' : ''} aria-label="Console">
        <ul>
          {PAGES.filter(({ inNavigation }) => inNavigation).map(({ path, title }) => (
            <li key={path}>
              <Link to={path} current={path === section}>
                {title}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div class="top-tools">
        <ThemeChoice />
        <KeyButton />
      </div>
    </header>
  );
}

/** The logo. */
function Mark() {
  return (
    <svg class="mark" viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
      <path d="M3 7h9a5 5 0 0 1 0 10H3" fill="none" stroke="currentColor" stroke-width="2.4" />
      <circle cx="20" cy="12" r="2.6" fill="currentColor" />
    </svg>
  );
}

function ThemeChoice() {
  const chosen = useStore(theme);
  return (
    <label>
      <span class="visually-hidden">Theme</span>
      <select
        value={chosen}
        onChange={({ currentTarget }) => {
          const wanted = THEMES.find((known) => known === currentTarget.value);
          if (wanted !== undefined) chooseTheme(wanted);
        }}
      >
        {THEMES.map((known) => (
          <option key={known} value={known}>
            {THEME_NAMES[known]}
          </option>
        ))}
      </select>
    </label>
  );
}

function KeyButton() {
  return (
    <button type="button" class="button" aria-haspopup="dialog" onClick={() => isKeyDialogOpen.set(true)}>
      <KeyText />
    </button>
  );
}

function KeyText() {
  const { origin, isRefused } = useStore(session);
  const known = useStore(account);
  if (isRefused) return <span class="bad">Unknown key</span>;
  if (origin === 'none') return <>Enter key</>;
  const name = origin === 'visitor' ? 'Demo visitor' : (known?.organisation?.display_name ?? 'Key');
  return (
    <>
      <span class="key-name">{name}</span>
      {known?.balance == null ? null : (
        <span class={known.balance.low_balance ? 'number warn' : 'number muted'}>
          {countText(known.balance.available_qu)} QU
        </span>
      )}
    </>
  );
}

/** The button of the header that opens the search, which is a chunk of its own. */
function SearchButton() {
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
        announce('The search could not be loaded. Check the connection and try again.');
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
        <kbd class="search-button-keys">{shortcutText()}</kbd>
      </button>
      {isOpen && Palette !== null ? <Palette /> : null}
    </>
  );
}
