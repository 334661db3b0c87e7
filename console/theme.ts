import { createStore } from './store.ts';

/** The theme that the visitor chose, kept on this device. `system` follows the browser. */
export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const STORED_AS = 'six.theme';

export const theme = createStore<Theme>('system');

/** Whether the page is dark, by choice or by the setting of the browser. */
export const isDark = createStore(false);

function darkScheme(): MediaQueryList {
  return matchMedia('(prefers-color-scheme: dark)');
}

export function applyStoredTheme(): void {
  darkScheme().addEventListener('change', showTheme);
  theme.set(readTheme());
  showTheme();
}

export function chooseTheme(chosen: Theme): void {
  if (chosen === 'system') localStorage.removeItem(STORED_AS);
  else localStorage.setItem(STORED_AS, chosen);
  theme.set(chosen);
  showTheme();
}

function readTheme(): Theme {
  const stored = localStorage.getItem(STORED_AS);
  return THEMES.find((known) => known === stored) ?? 'system';
}

function showTheme(): void {
  const chosen = theme.get();
  if (chosen === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = chosen;
  isDark.set(chosen === 'system' ? darkScheme().matches : chosen === 'dark');
}
