import { createStore } from '../store.ts';

/** Whether the search of the header is open. Any page may open it. */
export const isPaletteOpen = createStore(false);

const isApple = (): boolean => /mac|iphone|ipad/i.test(navigator.platform);

/** The shortcut, as the keyboard of the visitor writes it. */
export function shortcutText(): string {
  return isApple() ? '⌘K' : 'Ctrl K';
}

/**
 * Opens the search on ⌘K or Ctrl-K everywhere, and on `/` outside of fields. Ctrl-K edits text on Apple keyboards and is left alone there.
 * Returns the function that stops it.
 */
export function listenForShortcut(): () => void {
  const onKey = (event: KeyboardEvent): void => {
    const isShortcut =
      event.key.toLowerCase() === 'k' &&
      !event.shiftKey &&
      !event.altKey &&
      (isApple() ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey);
    const isSlash = event.key === '/' && !event.ctrlKey && !event.metaKey && !isField(event);
    if (!isShortcut && !isSlash) return;
    // A dialog that is open already keeps the keyboard.
    if (document.querySelector('dialog[open]') !== null && !isPaletteOpen.get()) return;
    event.preventDefault();
    event.stopPropagation();
    isPaletteOpen.set(isShortcut ? !isPaletteOpen.get() : true);
  };
  // Before the editor of the SQL page, which has a use for the same keys.
  addEventListener('keydown', onKey, { capture: true });
  return () => removeEventListener('keydown', onKey, { capture: true });
}

/** The editor of the SQL page is in a shadow root, whose host is the target that listeners outside of it see. */
function isField(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest('input, textarea, select') !== null)
  );
}
